"""The tool calls of a breadcrumb with their arguments as chat APIs take them: a JSON object, without bytes or control text."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.json_text import with_texts
from builder.domain.message import Call
from builder.remember.attachments import described
from builder.wire.json import canonical


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was called last."""
    calls = {id_: json.loads(text) for id_, text in zip(breadcrumb.calls, breadcrumb.call_signatures, strict=False)}
    return tuple(Call(id=id_, tool=visible(call["tool"]), arguments=_arguments(call["input"])) for id_, call in calls.items())


def _arguments(value: Any) -> str:
    if value is None:
        return "{}"
    plain = with_texts(described(value), visible, visible)
    return canonical(plain if isinstance(plain, dict) else {"input": plain})
