"""Operators, filters, tests and text methods of templates, each with a bound of its result, charged before it runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import wraps
from string import Formatter
from typing import Any

from jinja2 import TemplateRuntimeError
from jinja2.exceptions import SecurityError
from markupsafe import Markup

from builder.adapters.templates.sandbox.filters import OWN_FILTERS
from builder.adapters.templates.sandbox.runtime import charge, charge_for, is_none, size, step
from builder.domain.json_values import depth

Bound = Callable[..., int]
"""Arguments → characters."""

MAX_NUMBER_BITS = 2_000
MAX_WIDTH = 1_000
ESCAPED_CHARS = 6
"""An escaped character is so long: `\\u2026`."""
UNICODE_CHARS = 12
"""One beyond the first plane is so long: `\\ud83d\\ude00`."""
SEARCHED_CHARS = 16
"""So many characters of a pattern cost one."""
FIELD_FORM = re.compile(r",?(\.\d)?[df%]?")
"""`{name:,}`, `{name:.2f}`."""


def _size_of_values(*values: Any, **kwargs: Any) -> int:
    return ESCAPED_CHARS * size((values, kwargs))


def _one(*_: Any, **__: Any) -> int:
    return 1


def _size_of_format(text: Any, *args: Any, **kwargs: Any) -> int:
    fields = [field for field in Formatter().parse(str(text)) if field[1] is not None]
    for _, name, form, conversion in fields:
        if (
            conversion
            or not FIELD_FORM.fullmatch(form or "")
            or not (name == "" or str(name).isidentifier() or str(name).isdecimal())
        ):
            raise TemplateRuntimeError("a format has a field that is more than a name; write {name}, or {name:,.2f} for a number")
    return len(text) + _size_of_values(*args, **kwargs) * len(fields)


def _size_of_replace(text: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> int:
    plain = str(text)
    return len(plain) + (plain.count(str(old)) if str(old) else len(plain) + 1) * len(str(new))


def _size_of_join(items: Any, glue: Any = "", *_: Any, **kwargs: Any) -> int:
    return ESCAPED_CHARS * size(items) + len(str(kwargs.get("d", glue))) * (len(items) if isinstance(items, Sized) else 0)


def _size_of_glue(glue: str, items: Any) -> int:
    return _size_of_join(items, glue)


def _size_of_search(text: Any, part: Any = "", *_: Any, **__: Any) -> int:
    return ESCAPED_CHARS * size((text, part)) + len(str(text)) * (len(str(part)) // SEARCHED_CHARS)


def _size_of_json(value: Any, indent: Any = None) -> int:
    width = len(indent) if isinstance(indent, str) else abs(indent) if isinstance(indent, int) else 0
    return size(value) * (UNICODE_CHARS + width * (depth(value) + 1))


def _size_of_layout(value: Any) -> int:
    return size(value) * (depth(value) + 1)


def _size_of_sort(value: Any, *_: Any, **__: Any) -> int:
    characters = size(value)
    return characters * max(characters.bit_length(), 1)


def _size_by_width(*values: Any, **kwargs: Any) -> int:
    numbers = [value for value in (*values[1:], *kwargs.values()) if isinstance(value, int)]
    if any(abs(number) > MAX_WIDTH for number in numbers):
        raise TemplateRuntimeError(f"a width or a number of places is above {MAX_WIDTH:,}; use a smaller one")
    return size((values, kwargs)) + sum(map(abs, numbers))


FREE = frozenset({"default", "first", "items", "last", "length", "map", "reject", "rejectattr", "select", "selectattr"})
"""They only pass values on."""
FILTERS: Mapping[str, Bound] = (
    dict.fromkeys(FREE, _one)
    | dict.fromkeys(OWN_FILTERS, _size_of_values)
    | dict.fromkeys(("float", "int", "list", "lower", "reverse", "string", "title", "upper"), _size_of_values)
    | dict.fromkeys(("sort", "unique"), _size_of_sort)
    | dict.fromkeys(("round", "truncate"), _size_by_width)
    | dict.fromkeys(("output", "readable"), _size_of_layout)
    | {"join": _size_of_join, "replace": _size_of_replace, "tojson": _size_of_json, "trim": _size_of_search}
)
FREE_TESTS = frozenset(
    {"boolean", "defined", "even", "false", "iterable", "mapping", "none", "number", "odd", "sequence", "string", "true"}
    | {"undefined"}
)
"""They look at no content."""
TESTS: Mapping[str, Bound] = dict.fromkeys(FREE_TESTS, _one) | dict.fromkeys(
    ("==", "!=", ">", ">=", "<", "<=", "eq", "equalto", "in", "ne"), _size_of_values
)
METHODS: Mapping[type, Mapping[str, Bound]] = {
    str: dict.fromkeys(
        ("endswith", "lower", "removeprefix", "removesuffix", "split", "splitlines", "startswith", "upper"), _size_of_values
    )
    | {"format": _size_of_format, "join": _size_of_glue, "replace": _size_of_replace, "strip": _size_of_search},
    dict: {"get": _one} | dict.fromkeys(("items", "keys", "values"), lambda fields: len(fields) + 1),
}


def of_operator(operator: str, first: Any, second: Any) -> int:
    """The bound of `+ - * / //`. Raises `TemplateRuntimeError` for large numbers."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        bits = [abs(value).bit_length() for value in (first, second) if isinstance(value, int)]
        if sum(bits) > MAX_NUMBER_BITS:
            raise TemplateRuntimeError(f"a number of more than {MAX_NUMBER_BITS:,} bits; use smaller ones")
        return 1
    many, times = (second, first) if isinstance(first, int) else (first, second)
    return size(many) * max(times, 1) if operator == "*" and isinstance(times, int) else size((first, second))


def of_method(receiver: Any, name: str) -> Bound:
    """Raises `SecurityError` for a forbidden method."""
    for kind, methods in METHODS.items():
        if isinstance(receiver, kind) and name in methods:
            return methods[name]
    raise SecurityError(f"the method {name!r} is not for templates; use a filter")


def counted_filters(of_jinja: Mapping[str, Any]) -> dict[str, Any]:
    """FILTERS as functions that charge the rendering."""
    functions = {**of_jinja, **OWN_FILTERS}
    return {name: _counted(functions[name], bound, name in FREE) for name, bound in FILTERS.items()}


def counted_tests(of_jinja: Mapping[str, Any]) -> dict[str, Any]:
    """TESTS as functions that charge the rendering."""
    functions = {**of_jinja, "none": is_none}
    return {name: _counted(functions[name], bound, name in FREE_TESTS) for name, bound in TESTS.items()}


def _counted(function: Callable[..., Any], bound: Bound, free: bool) -> Callable[..., Any]:
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
