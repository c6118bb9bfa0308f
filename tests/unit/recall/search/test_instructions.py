"""Which instructions hold as of a message, and why the others do not."""

from dataclasses import replace

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.instructions import ActiveInstructions, active_instructions
from tests.conversations import chat, replied, said
from tests.factories import make_history, make_terms, make_view, view_of

ASK = said(800, "And now?").breadcrumb


def active(*rows: StoredBreadcrumb, asked: Breadcrumb = ASK) -> ActiveInstructions:
    return active_instructions(make_view(rows), asked, make_terms, asked.text)


def test_where_nobody_instructs_nothing_holds() -> None:
    assert active(*chat(6)) == ActiveInstructions()


@pytest.mark.parametrize(
    "wish", ["Always answer in English.", "Antworte bitte immer auf Deutsch.", "Responde siempre en español."]
)
def test_an_instruction_holds_however_long_ago_it_was_given(wish: str) -> None:
    (find,) = active(said(1, wish), *chat(40, 2)).instructions
    assert find.row == 0


def test_the_sentence_that_instructs_is_shown_of_a_long_message() -> None:
    text = f"{'The kiln is hot and the glaze is wet. ' * 30}Never use emojis. {'The shelf is full. ' * 30}"
    (find,) = active(said(1, text)).instructions
    ((start, end),) = find.spans
    assert "Never use emojis." in text[start:end]
    assert end - start < len(text) // 2


def test_people_who_talk_among_themselves_instruct_nobody_until_an_agent_speaks() -> None:
    talk = (said(1, "Never use emojis.", "Ada"), said(2, "Fine. Always call me before nine.", "Bob"))
    assert active(*talk) == active(talk[0], asked=talk[1].breadcrumb) == ActiveInstructions()
    assert [find.row for find in active(*talk, replied(3, "I am here.")).instructions] == [1, 0]
    assert [find.row for find in active(talk[0]).instructions] == [0], "one who speaks alone speaks to the agent"
    assert [find.row for find in active(talk[0], asked=replied(2, "Hi").breadcrumb).instructions] == [0]


def test_in_the_memory_of_a_person_a_chat_between_people_gives_no_instruction_and_ends_none() -> None:
    ada = {"user_id": "ada"}
    own = (said(1, "Never use emojis.", session="s1", **ada), replied(2, "Fine.", session="s1"))
    talk = (
        said(3, "Always use tables. You can use emojis again.", session="s2", **ada),
        said(4, "Ok.", session="s2", user_id="bob"),
    )
    history = make_history((*own, *talk))
    view = replace(view_of(history, session="s3"), person=history.people.codes["ada"])
    assert [find.row for find in active_instructions(view, ASK, make_terms, ASK.text).instructions] == [0]
