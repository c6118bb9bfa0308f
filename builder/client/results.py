"""An answer of the service as the type that is expected."""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from builder.domain.errors import Unavailable
from builder.domain.json_text import shape

T = TypeVar("T")


def read_result(kind: type[T], answer: Any) -> T:
    """Raises `Unavailable` for the answer of another service."""
    try:
        result: T = _adapter(cast("Hashable", kind)).validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise Unavailable(
            f"the answer of the service is no {kind.__name__}: {first['msg']} at {where}, got {shape(first['input'])}; "
            "install the client and the service in the same version"
        ) from error
    return result


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", kind))
