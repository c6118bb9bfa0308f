"""The tool calls of a breadcrumb with their arguments as chat APIs take them: a JSON object, without bytes."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.message import Call
from builder.wire.attachments import described
from builder.wire.text import canonical


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was called last."""
    made = {name: json.loads(text) for name, text in zip(breadcrumb.calls, breadcrumb.asked, strict=False)}
    return tuple(Call(id=name, tool=call["tool"], arguments=_arguments(call["input"])) for name, call in made.items())


def _arguments(value: Any) -> str:
    shown = described(value)
    if shown is None:
        return "{}"
    return canonical(shown if isinstance(shown, dict) else {"input": shown})
