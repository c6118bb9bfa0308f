"""Ids of a chat are names within its conversation."""

from typing import Any

import pytest

from builder.chat_files.ids import reply_fields, scoped_id


def test_an_id_that_no_breadcrumb_may_have_gets_a_derived_one_and_others_keep_their_name() -> None:
    assert scoped_id("s1", "7") == "s1:7"
    assert scoped_id("s1", "two words") == scoped_id("s1", "two words") != scoped_id("s2", "two words")


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ({"reply_to": "a1"}, {"reply_to": "s1:a1"}),
        ({"reply_to": {"id": "a1", "author": "Bo"}}, {"reply_to": "s1:a1"}),
        ({"in_reply_to": 7}, {"reply_to": "s1:7"}),
        ({"reply_to_message_id": 11}, {"reply_to": "s1:11"}),
        ({"replyTo": "a1", "quoted_message": {"id": "a1", "text": "x"}}, {"reply_to": "s1:a1", "quoted": "s1:a1"}),
        ({"quoted": {"message_id": "a1"}}, {"quoted": "s1:a1"}),
        ({"quoted": "the second list"}, {"quoted": "the second list"}),
        ({"quoted": {"text": "the second list"}}, {"quoted": {"text": "the second list"}}),
        ({"reply_to": None, "quoted": ""}, {}),
    ],
)
def test_what_a_message_points_at_is_named_by_breadcrumb(message: dict[str, Any], fields: dict[str, Any]) -> None:
    assert reply_fields("s1", message) == fields
