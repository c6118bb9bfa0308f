"""Which answers do not stand any more."""

from typing import Any

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.replies import answers_former_words, has_later_answer
from tests.factories import make_remembered, make_view


def question(sequence: int, identity: str = "u1", text: str = "Which port?", version: int = 1) -> StoredBreadcrumb:
    return make_remembered(text, sequence, id=identity, role="user", version=version)


def answer(sequence: int, text: str, **changes: Any) -> StoredBreadcrumb:
    fields = {"id": f"a{sequence}", "role": "assistant", "speaker": "Assistant", "schema": "agent.response.v1", "answers": "u1"}
    return make_remembered(text, sequence, **fields | changes)


def outdated(*rows: StoredBreadcrumb) -> list[str]:
    view = make_view(rows)
    return [row.breadcrumb.id for row in rows if has_later_answer(view, row.breadcrumb)]


def test_of_two_answers_to_one_question_the_newest_stands() -> None:
    assert outdated(question(1), answer(2, "8080"), answer(3, "8443"), answer(4, "8444")) == ["a2", "a3"]


@pytest.mark.parametrize(
    "changes",
    [
        {"answers": "u2"},
        {"agent": "other"},
        {"speaker": "Bo"},
        {"calls": ("c1",), "call_signatures": ('{"tool": "look", "input": null}',)},
        {"body": '{"message": "8443", "step": 2}'},
        {"session": "elsewhere"},
    ],
)
def test_an_answer_of_another_kind_outdates_none(changes: dict[str, Any]) -> None:
    assert outdated(question(1), answer(2, "8080"), answer(3, "8443", **changes)) == []


def test_an_answer_stands_when_somebody_has_spoken_before_the_next() -> None:
    assert outdated(question(1), answer(2, "8080"), question(3, "u2", "Really?"), answer(4, "8443")) == []


def test_what_an_agent_says_before_it_calls_a_tool_stands() -> None:
    call = answer(3, "", calls=("c1",), call_signatures=('{"tool": "look", "input": null}',))
    result = make_remembered("8443", 4, schema="tool.response.v1", role="tool", calls=("c1",))
    assert outdated(question(1), answer(2, "I look."), call, result, answer(5, "8443")) == []


def test_an_answer_to_words_that_were_edited_answers_the_former_ones() -> None:
    rows = [question(1), answer(2, "8080"), question(3, text="Which host?", version=2), answer(4, "kiln.example")]
    view = make_view(rows)
    assert [row.breadcrumb.id for row in rows if answers_former_words(view, row.breadcrumb)] == ["a2"]


def test_an_edit_without_other_words_changes_nothing() -> None:
    rows = [question(1), answer(2, "8080"), question(3, version=2)]
    assert not answers_former_words(make_view(rows), rows[1].breadcrumb)
