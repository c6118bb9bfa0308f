"""What was sent again because no answer came stands once."""

import json
from datetime import timedelta
from typing import Any

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.retries import without_retries
from tests.factories import MORNING, make_remembered, make_view


def said(sequence: int, text: str = "Book the blue room.", **changes: Any) -> StoredBreadcrumb:
    fields = {"role": "user", "body": f'{{"content": "{text}"}}'}
    return make_remembered(text, sequence, **fields | changes)


def standing_ids(*rows: StoredBreadcrumb) -> list[str]:
    """The last row is the trigger."""
    *before, trigger = rows
    view = without_retries(make_view(before), trigger.breadcrumb)
    return [row.breadcrumb.id for number, row in enumerate(before) if view.current[number]]


def test_of_the_same_words_in_a_row_the_last_stand() -> None:
    assert standing_ids(said(1), said(2), said(3), said(4, "And?")) == ["m3"]


def test_the_question_stands_alone_when_it_was_tried_before() -> None:
    assert standing_ids(said(1), said(2), said(3)) == []


def test_an_answer_that_was_stored_twice_stands_once() -> None:
    answer = {"role": "assistant", "speaker": "Assistant", "schema": "agent.response.v1"}
    assert standing_ids(said(1), said(2, "Done.", **answer), said(3, "Done.", **answer), said(4, "And?")) == ["m1", "m3"]


def test_a_copy_of_an_answer_that_names_no_question_is_one_and_one_to_another_question_is_not() -> None:
    def answer(sequence: int, to: str) -> StoredBreadcrumb:
        body = json.dumps({"message": "Done."} | ({"trigger_event_id": to} if to else {}))
        fields = {"role": "assistant", "speaker": "Assistant", "schema": "agent.response.v1", "body": body, "answers": to}
        return said(sequence, "Done.", **fields)

    assert standing_ids(said(1), answer(2, "m1"), answer(3, ""), said(4, "And?")) == ["m1", "m3"]
    assert standing_ids(said(1), answer(2, "m1"), answer(3, "m0"), said(4, "And?")) == ["m1", "m2", "m3"]


@pytest.mark.parametrize(
    "changes",
    [
        {"speaker": "Bo"},
        {"user_id": "u2"},
        {"body": '{"content": "Book the blue room.", "images": ["another"]}'},
        {"received_at": MORNING + timedelta(minutes=9)},
        {"calls": ("c1",), "call_signatures": ('{"tool": "look", "input": null}',)},
    ],
)
def test_what_another_one_says_or_says_later_or_calls_is_no_retry(changes: dict[str, Any]) -> None:
    assert standing_ids(said(1), said(2, **changes), said(3, "And?")) == ["m1", "m2"]


def test_what_was_answered_is_asked_again_and_not_tried_again() -> None:
    answer = said(2, "Done.", role="assistant", speaker="Assistant", schema="agent.response.v1")
    assert standing_ids(said(1), answer, said(3)) == ["m1", "m2"]


def test_a_message_stands_again_when_its_retry_was_edited() -> None:
    edited = said(3, "Book the red room.", id="m2", version=2)
    assert standing_ids(said(1), said(2), edited, said(4, "And?")) == ["m1", "m2"]
