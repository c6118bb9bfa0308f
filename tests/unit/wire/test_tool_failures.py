"""The failure of a call that nobody answers."""

import json
from datetime import timedelta

from builder.domain.breadcrumb import Arrival
from builder.wire.inbound import decode
from builder.wire.tool_failures import timeout_event
from tests.conversations import bash, replied
from tests.factories import MORNING, make_place

CALL = replied(1, "", bash("r1", "make"), tags=["task:t7", "blue"]).breadcrumb
DUE = MORNING + timedelta(minutes=5)


def test_it_answers_the_call_in_its_session_with_its_tags_and_its_task() -> None:
    event = timeout_event(CALL, "r1", "bash", 300, DUE)
    crumb = decode(Arrival(subject=event.subject, data=event.data, place=make_place(2), received_at=DUE))
    assert (crumb.workspace, crumb.session, crumb.schema) == ("acme", "s42", "tool.error.v1")
    assert (crumb.calls, crumb.asked, crumb.tool, crumb.failed) == (("r1",), (), "bash", True)
    assert (crumb.tags, crumb.task, crumb.answers) == (("task:t7", "blue"), "t7", "m1")
    assert (crumb.created_at, json.loads(crumb.body)["error_message"]) == (DUE, "no answer in 300 s")


def test_two_workers_send_the_same_bytes_and_two_calls_have_two_ids() -> None:
    first, second, other = (timeout_event(CALL, request, "bash", 300, DUE) for request in ("r1", "r1", "r2"))
    assert first == second
    assert first.message_id != other.message_id
