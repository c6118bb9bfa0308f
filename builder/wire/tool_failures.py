"""The failure of a tool call that nobody answers, as the service publishes it."""

from datetime import datetime
from hashlib import sha256

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import FAILURE
from builder.wire.lines import Outgoing, make_record, outgoing
from builder.wire.text import canonical

NAME_LENGTH = 32
"""Hexadecimal digits of the id that tell one call from another."""


def timeout_event(call: Breadcrumb, request: str, tool: str, seconds: float, due: datetime) -> Outgoing:
    """A `tool.error.v1` for one call: the same bytes whichever worker makes it, and as often as it is made.

    call: the message that makes the call. request, tool: of the call. seconds: that it was waited for. due: when they were over.
    The tags and the task are those of the message, so that whoever sees the call sees its end.
    """
    name = sha256(canonical([call.workspace, call.session, call.id, request]).encode("utf-8", "backslashreplace"))
    body = {
        "tool_name": tool,
        "request_id": request,
        "error_type": "timeout",
        "error_message": f"no answer in {seconds:g} s",
        "trigger_event_id": call.id,
    }
    task = {"task_id": call.task} if call.task else {}
    record = make_record(FAILURE, f"timeout-{name.hexdigest()[:NAME_LENGTH]}", call.session, body | task, created_at=due)
    return outgoing(record | {"tags": list(call.tags)}, call.workspace)
