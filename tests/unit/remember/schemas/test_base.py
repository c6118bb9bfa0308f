"""What every body can answer, and what a body of no known kind answers."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.remember.schemas.base import Body, BodyFacts


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
