"""What a page is searched with: by the profile's rule, and never the trigger cut off by what came before it."""

from typing import Any

import pytest

from builder.adapters.profiles.profiles import parse_profile
from builder.domain.errors import Misconfigured
from builder.recall.search.query import CONTEXT_CHARS, MAX_QUERY_CHARS, QueryText, query_text
from tests.factories import make_profile, make_remembered, make_terms, make_tombstone, make_view

TALK = [
    "We have two kilns, one in Delft and one in Gouda.",
    "The one in Delft was built in 1998.",
    "What does a firing in Delft cost?",
    "A firing there costs 31 euros.",
    "okay",
]


def ask(trigger: str, rows: list[Any], **rules: Any) -> QueryText:
    profile = make_profile(retrieval=rules)
    return query_text(trigger, make_view(rows), profile.retrieval, make_terms)


def test_a_question_that_says_it_all_is_asked_alone() -> None:
    assert ask("How long does the glaze firing take?", TALK) == QueryText("How long does the glaze firing take?")


def test_a_follow_up_is_asked_behind_the_question_it_follows_and_beside_its_answer() -> None:
    assert ask("And the other one?", TALK) == QueryText(f"{TALK[2]}\nAnd the other one?", TALK[3])


def test_a_follow_up_at_the_beginning_stands_alone() -> None:
    assert ask("And the other one?", ["okay", "Sure!"]) == QueryText("And the other one?")


def test_a_question_that_names_somebody_is_no_follow_up() -> None:
    rows = [make_remembered("The kiln in Delft is mine.", 1, speaker="Ana")]
    assert ask("What did Ana say?", rows) == QueryText("What did Ana say?")


def test_what_was_deleted_is_not_asked_along() -> None:
    rows = [make_remembered("Is the kiln in Delft?", 1), make_tombstone("m1", 2)]
    assert ask("Why?", rows) == QueryText("Why?")


def test_the_last_messages_are_asked_in_time_order_with_the_trigger_last() -> None:
    wanted = "\n".join([*TALK[2:4], "How long does it take?"])
    assert ask("How long does it take?", TALK, query="last_n", query_messages=3) == QueryText(wanted)
    assert ask("How long does it take?", TALK, query="last_n", query_messages=1) == QueryText("How long does it take?")


def test_a_profile_may_ask_its_own_question() -> None:
    text = "open orders and {trigger}"
    assert ask("glaze {0} %s", TALK, query="custom", query_text=text) == QueryText("open orders and glaze {0} %s")
    assert ask("glaze", TALK, query="custom", query_text="open orders") == QueryText("open orders")


@pytest.mark.parametrize("query", ["last_user", "last_n"])
def test_long_messages_leave_room_for_the_trigger(query: str) -> None:
    rows = [make_remembered("The kiln in Delft is old. " * 500, n) for n in (1, 2)]
    found = ask("And why?", rows, query=query)
    assert found.text.endswith("And why?")
    assert len(found.text) <= 2 * CONTEXT_CHARS + 10
    assert len(ask("kiln " * 2_000, []).text) <= MAX_QUERY_CHARS + 1


@pytest.mark.parametrize("rules", ["query: custom", "query_text: open orders", "query: last_n, query_text: open orders"])
def test_a_text_of_its_own_belongs_to_custom_and_only_to_that(rules: str) -> None:
    source = f"{{retrieval: {{schemas: [note.v1], {rules}}}, sections: [{{name: c, title: C, source: trigger}}]}}"
    with pytest.raises(Misconfigured, match="custom, and only that, needs a text"):
        parse_profile("mine", source)
