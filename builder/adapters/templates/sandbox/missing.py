"""A field that a body does not have is empty and false wherever it is used. Any other undefined name is a mistake."""

from operator import attrgetter
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, TemplateRuntimeError, UndefinedError
from jinja2.utils import missing

_KEYS = attrgetter("_keys")
PLAIN = (int, float, type(None))
"""Values without fields: only a body can have put one where a template reads a field."""


class Fields(dict[str, Any]):
    """An object of a body. A field that is null is missing in templates; `pairs_of` has it."""

    __slots__ = ("_keys",)

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__({key: marked(item) for key, item in value.items() if item is not None})
        self._keys = tuple(value)


class Items(list[Any]):
    """A list of a body."""

    __slots__ = ()


class Words(str):
    """A text of a body."""

    __slots__ = ()


class Missing(ChainableUndefined):
    """Of text nothing, of numbers zero, of lists and objects empty; each of its fields is missing too."""

    __slots__ = ()

    def __call__(self, *_: Any, **__: Any) -> "Missing":  # type: ignore[override]
        """Missing too."""
        return self

    def __eq__(self, other: object) -> bool:
        return other is None or other == "" or isinstance(other, Missing)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash("")

    def _is_not(self, _: object) -> bool:
        return False

    def _as_if_absent(self, other: Any) -> Any:
        return other

    def _stays(self, *_: object) -> "Missing":
        return self

    def _zero(self, *_: object) -> int:
        return 0

    def __float__(self) -> float:  # type: ignore[override]
        return 0.0

    def __repr__(self) -> str:
        return "''"

    __lt__ = __le__ = __gt__ = __ge__ = _is_not  # type: ignore[assignment]
    __add__ = __radd__ = _as_if_absent
    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _stays  # type: ignore[assignment]
    __mod__ = __rmod__ = __pow__ = __rpow__ = __pos__ = __neg__ = __abs__ = _stays  # type: ignore[assignment]
    __int__ = __round__ = _zero  # type: ignore[assignment]


class AbsentValue(StrictUndefined):
    """Jinja's undefined value: `Missing` in a body and for an item that a list does not have, else a mistake."""

    __slots__ = ()

    def __new__(
        cls,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> Any:
        """See `jinja2.Undefined`. Without object and name it is Jinja's own "no first item", "no previous item"."""
        of_body = isinstance(obj, (Fields, Items, Words, Missing, *PLAIN)) or (obj is missing and name is None)
        if exc is UndefinedError and of_body:
            return Missing(hint, obj, name)
        return super().__new__(cls)


def marked(value: Any) -> Any:
    """The JSON value of a body, marked as such down to its texts; a field that is null is missing."""
    if isinstance(value, dict):
        return Fields(value)
    if isinstance(value, list):
        return Items(map(marked, value))
    return Words(value) if type(value) is str else value


def pairs_of(value: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """All fields of an object in its order, also those that are null."""
    return tuple((key, dict.get(value, key)) for key in (_KEYS(value) if isinstance(value, Fields) else value))


def is_none(value: Any) -> bool:
    """Jinja's test `none`: a missing field is null."""
    return value is None or isinstance(value, Missing)
