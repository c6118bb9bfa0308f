"""A tool call in the shape of OpenAI → one of `agent.response.v1`."""

from collections.abc import Mapping
from typing import Any

from builder.domain.errors import Rejected
from builder.wire.json import parse


def tool_request(call: Any) -> dict[str, Any]:
    """{tool, input, requestId}. Raises `Rejected` when the call has no id or no name.

    Arguments are JSON in a text: none are an empty object, and a text that is no JSON stays as the model wrote it.
    """
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not function.get("name") or not call.get("id"):
        raise Rejected('a tool call has no id or no name; write {"id": "…", "type": "function", "function": {"name": "…"}}')
    return {"tool": str(function["name"]), "input": _arguments(function.get("arguments")), "requestId": str(call["id"])}


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return parse(value) if value.strip() else {}
    except ValueError:
        return value
