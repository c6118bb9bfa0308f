"""The tool calls of a breadcrumb with their arguments as chat APIs take them: a JSON object, without bytes or control text."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.message import Call
from builder.remember.attachments import described
from builder.wire.json import canonical


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was called last."""
    made = {name: json.loads(text) for name, text in zip(breadcrumb.calls, breadcrumb.call_signatures, strict=False)}
    return tuple(Call(id=name, tool=visible(call["tool"]), arguments=_arguments(call["input"])) for name, call in made.items())


def _arguments(value: Any) -> str:
    shown = _visible(described(value))
    if shown is None:
        return "{}"
    return canonical(shown if isinstance(shown, dict) else {"input": shown})


def _visible(value: Any) -> Any:
    """The value without control text in any of its keys and texts."""
    if isinstance(value, dict):
        return {visible(key): _visible(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_visible, value))
    return visible(value) if isinstance(value, str) else value
