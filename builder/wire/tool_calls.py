"""The tool calls of a breadcrumb with their arguments as chat APIs take them: a JSON object of bounded length, no bytes in it.

Control text is made visible.
"""

import json
from typing import Any

from builder.assemble.page.control_text import visible
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.message import Call
from builder.wire.attachments import described
from builder.wire.text import canonical

LONGEST = 400
"""Characters of a text in arguments: a file that is written is known by its path, its content is in the store."""
MOST = 20
"""Items of a list in arguments."""


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was asked last."""
    asked = {name: json.loads(text) for name, text in zip(breadcrumb.calls, breadcrumb.asked, strict=False)}
    return tuple(Call(id=name, tool=visible(call["tool"]), arguments=_arguments(call["input"])) for name, call in asked.items())


def _arguments(value: Any) -> str:
    shown = _clipped(described(value))
    if shown is None:
        return "{}"
    return canonical(shown if isinstance(shown, dict) else {"input": shown})


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value):,} characters)")
    if isinstance(value, list):
        more = [f"… ({len(value):,} items)"] if len(value) > MOST else []
        return [*map(_clipped, value[:MOST]), *more]
    return {visible(key): _clipped(item) for key, item in value.items()} if isinstance(value, dict) else value
