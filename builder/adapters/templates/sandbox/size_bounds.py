"""How many characters an operator, a text's method or a filter may make of its values: asked before it runs.

Each function here gives an upper bound without making the result. Filters that are not named here make about as much as they
are given.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sized
from string import Formatter
from typing import Any

from jinja2 import TemplateRuntimeError
from jinja2.exceptions import SecurityError

from builder.adapters.templates.sandbox.meter import size
from builder.domain.text import depth

Bound = Callable[..., int]
"""The arguments of what is called → characters."""

MAX_NUMBER_BITS = 2_000
"""Of a whole number that an operator may make."""
MAX_WIDTH_DIGITS = 6
"""Of a width in a format."""
ESCAPED_CHARS = 6
"""Characters that one character may become: `&#34;`, `%E2`, `\\u2026`."""
UNICODE_CHARS = 12
"""Characters that one of many scripts may become: `\\ud83d\\ude00`, `%F0%9F%98%80`."""
MAX_PLACES = 100
"""To which a number is rounded."""
QUADRATIC_CHARS = 4_096
"""Input for which a slow filter, which takes the square of its input's time, takes as long per character as the others."""
SEARCHED_CHARS = 16
"""Of a part, which are searched at a place as quickly as one character is handled otherwise."""
WRAPPED_CHARS = 64
"""The same of wrapping, which copies the rest of a text for each line of a long word."""

_DIGITS = re.compile(r"\d+")
_VALUE_WIDTH = re.compile(r"%(?:\([^)]*\))?[#0\- +\d.]*\*")
"""`%*d`."""
_WIDTH_PROBLEM = f"a format whose width is a value, or has more than {MAX_WIDTH_DIGITS} digits; write a small width"


def of_operator(operator: str, first: Any, second: Any) -> int:
    """Of `+ - * / // % **`. Raises `TemplateRuntimeError` for numbers of too many bits."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return _size_of_number(operator, first, second)
    if operator == "*":
        return _size_of_repeat(first, second)
    return _size_of_percents(first, second) if operator == "%" and isinstance(first, str) else size((first, second))


def _size_of_number(operator: str, first: float, second: float) -> int:
    one, other = (abs(value).bit_length() if isinstance(value, int) else 0 for value in (first, second))
    bits = one * abs(int(second)) if operator == "**" and other and other < MAX_NUMBER_BITS else one + other
    if bits > MAX_NUMBER_BITS or other > MAX_NUMBER_BITS:
        raise TemplateRuntimeError(f"a number of more than {MAX_NUMBER_BITS:,} bits; use smaller ones")
    return 1


def _size_of_repeat(first: Any, second: Any) -> int:
    many, times = (second, first) if isinstance(first, int) else (first, second)
    return size(many) * max(times, 1) if isinstance(times, int) else size((first, second))


def _size_of_percents(text: str, *values: Any) -> int:
    """Of a text with places to fill in by `%`: its own characters, every width, and each value wherever it may stand."""
    if _VALUE_WIDTH.search(text):
        raise TemplateRuntimeError(_WIDTH_PROBLEM)
    return _size_of_filled(text, (text,), text.count("%"), values)


def _size_of_fields(text: str, *values: Any) -> int:
    """Of a text with fields in braces; see `_size_of_percents`."""
    fields = [(name, width or "") for _, name, width, _ in Formatter().parse(text) if name is not None]
    if any("{" in width or "}" in width for _, width in fields):
        raise TemplateRuntimeError(_WIDTH_PROBLEM)
    return _size_of_filled(text, (width for _, width in fields), len(fields), values)


def _size_of_filled(text: str, widths: Iterable[str], places: int, values: Any) -> int:
    """Raises `TemplateRuntimeError` for a width of too many digits."""
    digits = [run for width in widths for run in _DIGITS.findall(width)]
    if any(len(run) > MAX_WIDTH_DIGITS for run in digits):
        raise TemplateRuntimeError(_WIDTH_PROBLEM)
    return len(text) + sum(map(int, digits)) + ESCAPED_CHARS * size(values) * places


def _size_of_formatting(text: Any, /, *args: Any, **kwargs: Any) -> int:
    return _size_of_fields(str(text), *args, *kwargs.values())


def _size_of_format_filter(text: Any, /, *args: Any, **kwargs: Any) -> int:
    return _size_of_percents(str(text), *args, *kwargs.values())


def _size_of_replace(text: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> int:
    plain = str(text)
    return len(plain) + (plain.count(str(old)) if str(old) else len(plain) + 1) * len(str(new))


def _size_of_join(items: Any, glue: Any = "", *_: Any, **kwargs: Any) -> int:
    return ESCAPED_CHARS * size(items) + len(str(kwargs.get("d", glue))) * _length(items)


def _size_of_glue(glue: str, items: Any) -> int:
    return _size_of_join(items, glue)


def _length(items: Any) -> int:
    return len(items) if isinstance(items, Sized) else 0


def _size_of_tabs(text: str, width: int = 8) -> int:
    return len(text) + text.count("\t") * abs(width)


def _size_of_lines(text: Any, width: Any = 4, *_: Any, **__: Any) -> int:
    plain = str(text)
    return len(plain) + (len(plain.splitlines()) + 1) * (len(width) if isinstance(width, str) else abs(width))


def _size_of_wrap(text: Any, width: int = 79, _: Any = True, glue: Any = "\n", *__: Any, **kwargs: Any) -> int:
    """Textwrap copies the rest of a long word for each line."""
    length, glue = len(str(text)), kwargs.get("wrapstring") or glue
    lines = length // max(int(width), 1) + str(text).count("\n") + 1
    return length + lines * (len(str(glue)) + length // WRAPPED_CHARS)


def _size_of_slow(*values: Any, **kwargs: Any) -> int:
    """Of filters that take the square of their input's time."""
    characters = size((values, kwargs))
    return ESCAPED_CHARS * characters + characters * (characters // QUADRATIC_CHARS)


def _size_of_search(text: Any, part: Any = "", *_: Any, **__: Any) -> int:
    """Of what compares a part, or looks for each of its characters, at every place of a text."""
    return size((text, part)) + len(str(text)) * (len(str(part)) // SEARCHED_CHARS)


def _size_of_escape(*values: Any, **kwargs: Any) -> int:
    return ESCAPED_CHARS * size((values, kwargs))


def _size_of_json(value: Any, indent: Any = None) -> int:
    """Each level is indented further."""
    width = len(indent) if isinstance(indent, str) else abs(indent) if isinstance(indent, int) else 0
    return size(value) * (UNICODE_CHARS + width * (depth(value) + 1))


def _size_of_address(value: Any, *_: Any, **__: Any) -> int:
    return UNICODE_CHARS * size(value)


def _size_of_round(value: Any, precision: Any = 0, method: Any = "common") -> int:
    if isinstance(precision, int) and abs(precision) > MAX_PLACES:
        raise TemplateRuntimeError(f"a number is rounded to more than {MAX_PLACES} places; use fewer")
    return size((value, precision, method))


def _size_of_sum(values: Any, attribute: Any = None, start: Any = 0) -> int:
    """A sum of lists copies all of them for each one."""
    return size((values, attribute, start)) * (1 if isinstance(start, int | float) else _length(values))


def _size_of_sort(value: Any, *_: Any, **__: Any) -> int:
    characters = size(value)
    return characters * max(characters.bit_length(), 1)


def _size_of_layout(value: Any) -> int:
    """Each level of lists and objects is indented further."""
    return size(value) * (depth(value) + 1)


def _size_by_numbers(*values: Any, **kwargs: Any) -> int:
    return size((values, kwargs)) + sum(abs(value) for value in (*values, *kwargs.values()) if isinstance(value, int))


_TEXTS = frozenset(
    {"capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit"}
    | {"isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower", "lstrip", "partition"}
    | {"removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith"}
    | {"strip", "swapcase", "title", "upper"}
)
METHODS: Mapping[type, Mapping[str, Bound]] = {
    str: dict.fromkeys(_TEXTS, _size_of_escape)
    | dict.fromkeys(("lstrip", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "strip"), _size_of_search)
    | dict.fromkeys(("center", "ljust", "rjust", "zfill"), _size_by_numbers)
    | {
        "expandtabs": _size_of_tabs,
        "format": _size_of_formatting,
        "format_map": _size_of_formatting,
        "join": _size_of_glue,
        "replace": _size_of_replace,
    },
    dict: dict.fromkeys(("items", "keys", "values"), lambda fields: len(fields) + 1) | {"copy": size, "get": lambda *_: 1},
    list: {"copy": size, "count": lambda *values: size(values), "index": lambda *values: size(values)},
    tuple: {"count": lambda *values: size(values), "index": lambda *values: size(values)},
    float: {"is_integer": lambda _: 1},
}
"""The methods that templates may call, of the types whose methods are not written in Python."""

FREE = frozenset(
    {"attr", "count", "d", "default", "first", "items", "last", "length", "map"}
    | {"reject", "rejectattr", "select", "selectattr"}
)
"""Filters that only pass values on."""
FILTERS: Mapping[str, Bound] = (
    dict.fromkeys(FREE, lambda *_, **__: 1)
    | dict.fromkeys(("dictsort", "groupby", "max", "min", "sort", "unique"), _size_of_sort)
    | dict.fromkeys(("striptags",), _size_of_slow)
    | dict.fromkeys(("batch", "center", "slice", "truncate"), _size_by_numbers)
    | {
        "format": _size_of_format_filter,
        "indent": _size_of_lines,
        "join": _size_of_join,
        "replace": _size_of_replace,
        "sum": _size_of_sum,
    }
    | {
        "output": _size_of_layout,
        "readable": _size_of_layout,
        "round": _size_of_round,
        "tojson": _size_of_json,
        "trim": _size_of_search,
    }
    | {"urlencode": _size_of_address}
    | {"wordwrap": _size_of_wrap}
)


FREE_TESTS = frozenset(
    {"boolean", "defined", "false", "float", "integer", "iterable", "mapping", "none", "number", "sameas", "sequence", "string"}
    | {"true", "undefined"}
)
"""Tests that look at no content."""


def of_filter(name: str) -> Bound:
    """The bound of a filter."""
    return FILTERS.get(name, _size_of_escape)


def of_test(name: str) -> Bound:
    """The bound of a test."""
    return _free if name in FREE_TESTS else _size_of_escape


def _free(*_: Any) -> int:
    return 1


def of_method(receiver: Any, name: str) -> Bound:
    """The bound of a method of a value. Raises `SecurityError` for one that is not for templates."""
    for kind, methods in METHODS.items():
        if isinstance(receiver, kind) and name in methods:
            return methods[name]
    raise SecurityError(f"the method {name!r} is not for templates; use a filter")
