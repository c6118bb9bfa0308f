"""What a template may read of a value and call: fields of objects, items of lists, and methods that make no bytes."""

from collections.abc import Mapping, Sequence
from functools import update_wrapper
from typing import Any

from jinja2 import Environment
from jinja2.exceptions import SecurityError
from jinja2.filters import _GroupTuple
from jinja2.runtime import LoopContext, Macro, Undefined
from jinja2.sandbox import SandboxedFormatter

from builder.adapters.templates.sandbox.meter import charge_for
from builder.adapters.templates.sandbox.missing import Missing, Words
from builder.adapters.templates.sandbox.size_bounds import METHODS

LOOP_VALUES = frozenset({"index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0"})
LOOP_METHODS = frozenset({"cycle", "changed"})
LOOP_NEIGHBOURS = frozenset({"previtem", "nextitem"})
FIELDS: Mapping[type, frozenset[str]] = {
    LoopContext: LOOP_VALUES | LOOP_NEIGHBOURS | LOOP_METHODS,
    _GroupTuple: frozenset({"grouper", "list"}),
}
"""Type → what it has beside items and methods."""
FORMATS = frozenset({"format", "format_map"})


class _DataFields(SandboxedFormatter):
    """`str.format` whose fields are read as the environment reads them, and are data."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        """See `string.Formatter`."""
        value, first = super().get_field(field_name, args, kwargs)
        charge_for(value)
        return value, first


def is_item(value: Any, key: Any) -> bool:
    """Whether the value is an object with this field. A key that cannot be one is none."""
    try:
        return isinstance(value, Mapping) and key in value
    except TypeError:
        return False


def is_readable(value: Any, name: str) -> bool:
    """Whether a template may read this attribute of a value: a method that it may call, or a field of a loop or a group."""
    if name in FIELDS.get(type(value), ()):
        return True
    return any(isinstance(value, kind) and name in methods for kind, methods in METHODS.items())


def check_callable(function: Any) -> None:
    """Raises `SecurityError` for anything but macros, loops, and methods that are for templates."""
    if isinstance(function, Macro | LoopContext | Undefined):
        return
    method = getattr(function, "__wrapped__", function)
    receiver, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
    if receiver is None or not is_readable(receiver, name):
        raise SecurityError(f"a {type(function).__name__} cannot be called; call macros and methods alone")
    if isinstance(receiver, Words) and name in FORMATS:
        raise SecurityError("the text of a message is no format; write the format yourself")


def is_foreign(value: Any, name: str) -> bool:
    """Whether the attribute is one of Python's, which templates do not have."""
    return not isinstance(value, Missing) and (name.startswith("_") or hasattr(type(value), name))


def formatting(environment: Environment, method: Any) -> Any:
    """`format` and `format_map` of a text by `_DataFields`; any other method as it is."""
    text, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
    if not isinstance(text, str) or name not in FORMATS:
        return method

    def formatted(*args: Any, **kwargs: Any) -> str:
        values = ((), args[0]) if name == "format_map" else (args, kwargs)
        return _DataFields(environment).vformat(text, *values)

    return update_wrapper(formatted, method)
