"""The failure of a call that nobody answers."""

import json
from dataclasses import replace
from datetime import timedelta

from builder.domain.breadcrumb import StreamMessage
from builder.remember.decode import decode
from builder.worker.tool_timeouts import timeout_event
from tests.conversations import bash, replied
from tests.factories import MORNING, make_place

CALL = replied(1, "", bash("r1", "make"), tags=["task:t7", "blue"]).breadcrumb
DUE = MORNING + timedelta(minutes=5)


def test_it_answers_the_call_in_its_session_with_its_tags_and_its_task() -> None:
    event = timeout_event(CALL, "r1", "bash", 300, DUE)
    crumb = decode(StreamMessage(subject=event.subject, data=event.data, place=make_place(2), received_at=DUE))
    assert (crumb.workspace, crumb.session, crumb.schema) == ("acme", "s42", "tool.error.v1")
    assert (crumb.calls, crumb.call_signatures, crumb.tool, crumb.failed) == (("r1",), (), "bash", True)
    assert (crumb.tags, crumb.task, crumb.answers) == (("task:t7", "blue"), "t7", "m1")
    assert (crumb.created_at, json.loads(crumb.body)["error_message"]) == (DUE, "no answer in 300 s")


def test_its_id_depends_on_the_call_alone() -> None:
    first, slower = (timeout_event(CALL, "r1", "bash", seconds, DUE).message_id for seconds in (60, 300))
    assert first == slower != timeout_event(CALL, "r2", "bash", 60, DUE).message_id


def test_it_ends_when_the_call_does() -> None:
    ending = replace(CALL, expires_at=DUE + timedelta(hours=1))
    event = timeout_event(ending, "r1", "bash", 300, DUE)
    crumb = decode(StreamMessage(subject=event.subject, data=event.data, place=make_place(2), received_at=DUE))
    assert crumb.expires_at == ending.expires_at
