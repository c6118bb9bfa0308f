"""The failure of a tool call without an answer, as the service publishes it."""

from datetime import datetime
from hashlib import sha256

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.selector import FAILURE
from builder.wire.json import canonical
from builder.wire.records import Outgoing, make_record, moment, outgoing

ID_DIGITS = 32
"""Hexadecimal digits of the id that tell one call from another."""


def timeout_event(call: Breadcrumb, request: str, tool: str, seconds: float, due: datetime) -> Outgoing:
    """A `tool.error.v1` for one call, under an id that depends on the call alone: of two that are made the first stands.

    call: the message that makes the call. request, tool: of the call. seconds: that it was waited for. due: when they were over.
    Tags, task and end are those of the message, so that it stands in the same conversations for as long.
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
    record = make_record(FAILURE, f"timeout-{name.hexdigest()[:ID_DIGITS]}", call.session, body | task, created_at=due)
    ending = {"expires_at": moment(call.expires_at)} if call.expires_at else {}
    return outgoing(record | {"tags": list(call.tags)} | ending, call.workspace)
