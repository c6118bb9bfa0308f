"""Differences of shadow profiles on the wire: their subject and their JSON."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from builder.domain.errors import Rejected
from builder.domain.shadow_difference import ShadowDifference
from builder.wire.session_names import session_token
from builder.wire.subjects import SHADOWS, check_token

_ADAPTER = TypeAdapter(ShadowDifference)


def shadow_subject(workspace: str, consumer: str, shadow: str, session: str, trigger: str) -> str:
    """The subject of one difference; `*` stands for any. A trigger's id becomes a token as the name of a session does."""
    tokens = (check_token(each, "name") if each != "*" else each for each in (workspace, consumer, shadow, session))
    return ".".join((SHADOWS, *tokens, trigger if trigger == "*" else session_token(trigger)))


def encode_difference(difference: ShadowDifference) -> bytes:
    """JSON, UTF-8."""
    return _ADAPTER.dump_json(difference)


def decode_difference(data: bytes) -> ShadowDifference:
    """Raises `Rejected` for what another version of the service kept."""
    try:
        return _ADAPTER.validate_json(data)
    except ValidationError as error:
        raise Rejected(f"a difference in the stream is not readable: {error.errors()[0]['msg']}; install one version") from error


def difference_json(difference: ShadowDifference) -> dict[str, Any]:
    """For people and programs."""
    value: dict[str, Any] = _ADAPTER.dump_python(difference, mode="json")
    return value
