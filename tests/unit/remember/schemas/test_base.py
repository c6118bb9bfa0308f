"""What every body can answer, and who a person is: never by a display name."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.remember.schemas.base import Body, BodyFacts
from tests.conversations import message_of


def test_a_body_says_nothing_unless_its_kind_knows_better() -> None:
    body = Body.model_validate({"content": "hello"})
    assert body.facts() == BodyFacts()
    assert (body.role, body.default_speaker) == ("other", "System")


def test_what_all_bodies_may_have_is_read_and_the_rest_is_ignored() -> None:
    body = Body.model_validate(
        {"session_id": "s1", "speaker": "Ana", "task_id": "kiln", "trigger_event_id": "m1", "mood": "good"}
    )
    assert (body.session_id, body.speaker, body.task_id, body.trigger_event_id) == ("s1", "Ana", "kiln", "m1")
    assert not hasattr(body, "mood")


@pytest.mark.parametrize("field", ["speaker", "task_id"])
def test_a_name_of_more_than_200_characters_is_refused(field: str) -> None:
    assert Body.model_validate({field: "x" * 200})
    with pytest.raises(ValidationError, match="at most 200 characters"):
        Body.model_validate({field: "x" * 201})


def test_a_body_cannot_be_changed() -> None:
    body: Any = Body.model_validate({})
    with pytest.raises(ValidationError, match="frozen"):
        body.speaker = "Bob"


def read(record: dict[str, Any], schema: str = "user.message.v1") -> Breadcrumb:
    return decode(message_of(1, schema, {"content": "Hi."}, **record))


@pytest.mark.parametrize(
    ("record", "user_id"),
    [
        ({}, ""),
        ({"user_id": None}, ""),
        ({"user_id": "auth0|66f1 ü"}, "auth0|66f1 ü"),
        ({"user_id": "u" * 256}, "u" * 256),
        ({"context": {"content": "Hi.", "user_id": "u7"}}, "u7"),
        ({"user_id": "u8", "context": {"content": "Hi.", "user_id": "u7"}}, "u8"),
        ({"context": {"content": "Hi.", "user_id": 7}}, ""),
        ({"context": {"content": "Hi.", "user_id": "two\nlines"}}, ""),
        ({"context": {"content": "Hi.", "user_id": "u" * 257}}, ""),
        ({"context": {"content": "Hi.", "user_id": ""}}, ""),
        ({"context": {"content": "Hi.", "speaker": "Maya"}}, ""),
    ],
)
def test_the_record_says_who_the_person_is_and_else_the_message(record: dict[str, Any], user_id: str) -> None:
    assert read(record).user_id == user_id


@pytest.mark.parametrize("schema", ["note.v1", "tool.request.v1", "calendar.event.v1"])
def test_a_user_id_inside_another_kind_may_be_anybody_s_and_counts_for_nobody(schema: str) -> None:
    body = {"content": "Hi.", "tool": "find-user", "user_id": "u7"}
    assert read({"context": body}, schema).user_id == ""
    assert read({"context": body, "user_id": "u8"}, schema).user_id == "u8"


@pytest.mark.parametrize("wrong", ["", "u" * 257, "a\nb", "a\x1bb", "a\x7fb", "a\x85b", "u\n", 7, ["u"]])
def test_a_user_id_of_the_record_that_is_none_is_rejected_with_its_place_and_not_its_value(wrong: Any) -> None:
    with pytest.raises(Rejected, match=r"at /user_id, got .*; see schemas/record.json"):
        read({"user_id": wrong})
