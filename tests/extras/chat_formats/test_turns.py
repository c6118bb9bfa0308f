"""Turns of a chat: what pages as messages do not show. Roles, names, dates and notes: test_chat, tests/golden/test_messages."""

from builder.domain.stored import StoredBreadcrumb
from builder.extras.chat_formats.messages import Message
from builder.extras.chat_formats.turns import Dialogue, SectionItem, is_turn, note_of
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, failed, replied, requested, said
from tests.pages import make_ledger, make_writer
from tests.two_sections import make_two_sections

CALL = [said(1, "Count."), replied(2, "I count.", bash("r1", "wc -l"), bash("r2", "ls")), answered(3, "r1", "42")]


def messages(rows: list[StoredBreadcrumb]) -> list[Message]:
    writer = make_writer(rows, make_two_sections(chat_format="openai"))
    placed: list[SectionItem] = [("recent", writer.entry(entry)) for turn in reversed([*turns(writer.view)]) for entry in turn]
    dialogue = Dialogue(make_ledger(writer), frozenset())
    dialogue.add(placed)
    return dialogue.messages


def test_several_results_of_a_call_stand_in_order_and_a_failure_marks_it() -> None:
    _, message = messages([*CALL, failed(4, "r1", "The disk is full.")])
    exchange = message.exchanges[0]
    assert exchange.ids == ("m3", "m4")
    assert exchange.results[0] == "42"
    assert "The disk is full." in exchange.results[1]
    assert exchange.failed
    _, again = messages([*CALL, failed(4, "r1", "The disk is full."), answered(5, "r1", "43")])
    assert not again.exchanges[0].failed


def test_an_empty_result_says_that_it_is_left_out() -> None:
    _, message = messages([*CALL[:2], answered(3, "r1", "")])
    assert message.exchanges[0].ids == ("m3",)
    assert message.exchanges[0].results[0].strip()


def test_a_call_by_itself_is_the_assistants_without_words() -> None:
    _, message = messages([said(1, "Count."), requested(2, "r1", command="wc"), answered(3, "r1", "42")])
    assert (message.role, message.parts) == ("assistant", ())
    assert message.exchanges[0].results == ("42",)


def test_a_result_whose_call_is_not_shown_is_no_turn() -> None:
    writer = make_writer([answered(1, "r9", "42"), said(2, "Hello.")])
    items = [writer.entry(entry) for turn in turns(writer.view) for entry in turn]
    assert {item.first.id: is_turn(item) for item in items} == {"m1": False, "m2": True}


def test_a_note_is_date_above_name_with_control_text_visible() -> None:
    assert note_of("8 May 2024", "Ana") == "[8 May 2024]\nAna:"
    assert note_of("", "A\u202ena") == "A⟨U+202E⟩na:"
    assert note_of("", "") == ""
