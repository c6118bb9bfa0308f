"""Turns of a chat: each in its writer's role, calls with their results, notes of ours outside the assistant's words."""

from dataclasses import replace

from builder.assemble.chat_turns import Dialogue, SectionItem, is_turn, note_of, roles_with_labels
from builder.domain.context import Message
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, failed, replied, requested, said
from tests.pages import make_ledger, make_writer
from tests.two_sections import make_two_sections

CALL = [said(1, "Count."), replied(2, "I count.", bash("r1", "wc -l"), bash("r2", "ls")), answered(3, "r1", "42")]
YESTERDAY = {"created_at": "2024-05-07T09:00:00Z"}


def messages(rows: list[StoredBreadcrumb], *labelled_roles: str, dated: bool = False) -> list[Message]:
    profile = make_two_sections(chat_format="openai")
    sections = tuple(replace(rule, dates="day" if dated else "none") for rule in profile.sections)
    writer = make_writer(rows, replace(profile, sections=sections))
    placed: list[SectionItem] = [("recent", writer.entry(entry)) for turn in reversed([*turns(writer.view)]) for entry in turn]
    dialogue = Dialogue(make_ledger(writer), frozenset(labelled_roles))
    dialogue.add(placed)
    return dialogue.messages


def texts(message: Message) -> list[str]:
    return [part.text for part in message.parts]


def test_each_message_is_a_turn_in_its_writers_role() -> None:
    first, second = messages([said(1, "Hello."), replied(2, "Hi.")])
    assert (first.role, texts(first), first.ids) == ("user", ["Hello."], ("m1",))
    assert (second.role, texts(second), second.ids) == ("assistant", ["Hi."], ("m2",))


def test_calls_stand_in_the_message_that_makes_them_with_their_results() -> None:
    _, message = messages(CALL)
    assert texts(message) == ["I count."]
    assert [exchange.call.id for exchange in message.exchanges] == ["r1", "r2"]
    first, second = message.exchanges
    assert (first.results, first.ids, first.failed) == (("42",), ("m3",), False)
    assert (second.ids, second.failed) == ((), False)
    assert "no answer" in second.results[0]


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


def test_a_date_is_a_note_in_front_of_a_persons_message_and_stands_once_a_day() -> None:
    first, second, third = messages(
        [said(1, "Hello.", **YESTERDAY), said(2, "Still here.", **YESTERDAY), said(3, "Back.")], dated=True
    )
    assert texts(first) == ["[7 May 2024]\n", "Hello."]
    assert [part.is_note for part in first.parts] == [True, False]
    assert texts(second) == ["Still here."]
    assert texts(third) == ["[8 May 2024]\n", "Back."]


def test_a_date_of_the_assistants_message_ends_the_users_before_it() -> None:
    first, second = messages([said(1, "Hello.", **YESTERDAY), replied(2, "Hi.")], dated=True)
    assert texts(first) == ["[7 May 2024]\n", "Hello.", "\n[8 May 2024]\n"]
    assert texts(second) == ["Hi."]


def test_a_date_in_front_of_an_assistant_that_begins_is_a_message_of_ours() -> None:
    first, second = messages([replied(1, "Hi.")], dated=True)
    assert (first.role, texts(first), first.ids) == ("user", ["[8 May 2024]\n"], ())
    assert second.ids == ("m1",)


def test_names_stand_in_front_of_people_and_only_where_the_role_has_several() -> None:
    rows = [said(1, "Hello.", "Ana"), said(2, "Hi.", "Bob")]
    assert [texts(message) for message in messages(rows)] == [["Hello."], ["Hi."]]
    assert [texts(message)[-1] for message in messages(rows, "user")] == ["Hello.", "Hi."]
    assert all(message.parts[0].is_note for message in messages(rows, "user"))


def test_a_role_in_which_one_speaks_needs_no_labels_and_the_current_message_counts_for_the_user() -> None:
    writer = make_writer([said(1, "Hello.", "Ana"), replied(2, "Hi."), replied(3, "Hi too.", speaker="Helper")])
    items = [writer.entry(entry) for turn in turns(writer.view) for entry in turn]
    assert roles_with_labels(items, None, writer) == {"assistant"}
    assert roles_with_labels(items, said(800, "Now?", "Bob", user_id="u2").breadcrumb, writer) == {"assistant", "user"}
    assert roles_with_labels((), None, writer) == frozenset()


def test_a_note_is_date_above_name_with_control_text_visible() -> None:
    assert note_of("8 May 2024", "Ana") == "[8 May 2024]\nAna:"
    assert note_of("", "A\u202ena") == "A⟨U+202E⟩na:"
    assert note_of("", "") == ""
