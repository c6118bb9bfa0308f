"""The filters and tests of templates, each charged before it runs and for what it makes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from builder.adapters.templates.sandbox import filters, grammar
from builder.adapters.templates.sandbox.filters import ROWS, inline, sentence, tag
from builder.adapters.templates.sandbox.meter import charge, charge_for, step
from builder.adapters.templates.sandbox.missing import is_none
from builder.adapters.templates.sandbox.size_bounds import FREE, FREE_TESTS, Bound, of_filter, of_test
from builder.assemble.items.list_items import below, block


@pass_context
def readable(context: Context, value: Any) -> str:
    """See `filters.readable`; in the words of the page."""
    return filters.readable(value, _words(context).get("rows", ROWS))


@pass_context
def arguments(context: Context, value: Any) -> str:
    """See `filters.arguments`; in the words of the page."""
    return filters.arguments(value, _words(context).get("rows", ROWS))


@pass_context
def output(context: Context, value: Any) -> str:
    """See `filters.output`; in the words of the page."""
    return filters.output(value, _words(context).get("rows", ROWS))


@pass_context
def day(context: Context, text: Any) -> str:
    """See `filters.day`; in the words of the page."""
    return filters.day(text, _words(context))


@pass_context
def label(context: Context, name: Any) -> str:
    """See `filters.label`; beside the labels of the page."""
    return filters.label(name, _words(context))


@pass_context
def speakers(context: Context, text: Any, sources: Any = 1) -> str:
    """See `filters.speakers`; in the words of the page."""
    return filters.speakers(text, sources, _words(context))


def _words(context: Context) -> Mapping[str, str]:
    words: Mapping[str, str] = context.get("words", {})
    return words


FILTERS: dict[str, Callable[..., Any]] = {
    "arguments": arguments,
    "below": below,
    "block": block,
    "day": day,
    "inline": inline,
    "label": label,
    "output": output,
    "readable": readable,
    "sentence": sentence,
    "speakers": speakers,
    "tag": tag,
}
"""Beside Jinja's own."""


def counted_filters(of_jinja: Mapping[str, Any]) -> dict[str, Any]:
    """Ours, and those of Jinja's that are for templates."""
    allowed = {name: function for name, function in of_jinja.items() if name not in grammar.FILTERS}
    return {name: _counted(function, of_filter(name), name in FREE) for name, function in (allowed | FILTERS).items()}


def counted_tests(of_jinja: Mapping[str, Any]) -> dict[str, Any]:
    """Those of Jinja's that are for templates."""
    allowed = {name: function for name, function in of_jinja.items() if name not in grammar.TESTS} | {"none": is_none}
    return {name: _counted(function, of_test(name), name in FREE_TESTS) for name, function in allowed.items()}


def _counted(function: Callable[..., Any], bound: Bound, free: bool) -> Callable[..., Any]:
    """Charged by `bound` before it runs. An iterator becomes a list, so that its size is known; markup becomes plain text."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        charge(bound(*args[first:], **kwargs))
        result = function(*args, **kwargs)
        if isinstance(result, Markup):
            result = str.__str__(result)
        elif isinstance(result, Iterator):
            result = list(_stepping(result))
        if not free:
            charge_for(result)
        return result

    return call


def _stepping(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        step()
        yield item
