"""The page as messages: who writes, what is a part of its own, how calls and results stand, and what the last message holds."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.page_settings import Reminder
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.recall.questions import Questions
from tests.chat_copies import ChatFormat, messages_of
from tests.conversations import answered, chat, replied, said
from tests.factories import make_catalog, make_context, make_profile
from tests.two_sections import make_two_sections

ASK = said(39, "And now?")
ONE, TWO = make_profile(), make_two_sections()


def profile(shape: ChatFormat = "openai", over: Profile = ONE, **changes: Any) -> Profile:
    """Without dates."""
    sections = tuple(replace(rule, dates="none") for rule in over.sections)
    return make_profile(over, **({"chat_format": shape, "summaries": None, "sections": sections} | changes))


def calling(sequence: int, *calls: str, content: str = "Let me look.", query: Any = "kiln") -> StoredBreadcrumb:
    requests = ((call, "search", {"page": page, "query": query}) for page, call in enumerate(calls))
    return replied(sequence, content, *requests)


def answer(sequence: int, call: str, output: str = "found") -> StoredBreadcrumb:
    return answered(sequence, call, output, "search")


def shown(context: Context) -> list[tuple[str, list[str], list[tuple[str, tuple[str, ...]]]]]:
    """Role, parts, and the request id and results of each call."""
    return [
        (
            message.role,
            [part.text for part in message.parts],
            [(exchange.call.id, exchange.results) for exchange in message.exchanges],
        )
        for message in messages_of(context)
    ]


def test_a_profile_that_wants_no_messages_gets_none_and_the_same_page() -> None:
    rows = [said(1, "Which kiln?"), calling(2, "r1"), answer(3, "r1")]
    without, with_them = (make_context(ASK, rows, profile(shape)) for shape in ("none", "anthropic"))
    assert messages_of(without) == ()
    assert without.markdown == with_them.markdown


def test_a_result_without_its_call_stands_as_text_in_front_of_the_current_message() -> None:
    ((role, parts, _),) = shown(make_context(ASK, [answer(1, "r1")], profile()))
    assert role == "user"
    assert parts == ["Tool search answered: found\n\n## Current User Message\n", "And now?"]


def test_names_of_agents_end_the_user_s_message_before_them() -> None:
    speakers = [replied(n, f"{agent} here.", speaker=agent) for n, agent in enumerate(("Mira", "Mira", "Otto"), 2)]
    context = make_context(ASK, [said(1, "Hello."), *speakers], profile())
    assert shown(context) == [
        ("user", ["Hello.", "\nMira:\n"], []),
        ("assistant", ["Mira here."], []),
        ("assistant", ["Mira here."], []),
        ("user", ["Otto:\n"], []),
        ("assistant", ["Otto here."], []),
        ("user", ["And now?"], []),
    ]


def test_an_agent_s_message_that_asks_is_the_user_s_with_its_name() -> None:
    asks = replied(9, "Is scene two ready?", speaker="Director")
    assert shown(make_context(asks, [said(1, "Hello.", speaker="Ana")], profile()))[-1] == (
        "user",
        ["Director:\n", "Is scene two ready?"],
        [],
    )


def test_arguments_are_whole_and_where_the_call_is_cut_they_say_how_much() -> None:
    rows = [calling(1, "r1", query="kiln " * 300), answer(2, "r1")]
    roomy, tight = (messages_of(make_context(ASK, rows, profile(budget=budget)))[0].exchanges for budget in (4000, 300))
    assert json.loads(roomy[0].call.arguments)["query"] == "kiln " * 300
    assert "characters left out, id m1" in json.loads(tight[0].call.arguments)["cut"]


def test_of_a_folded_result_its_call_is_no_exchange_and_the_account_names_it() -> None:
    rows: list[StoredBreadcrumb] = []
    for start in range(1, 20, 2):
        rows += [calling(start, f"r{start}", query=start), answer(start + 1, f"r{start}", "word " * 100)]
    tight = profile(over=TWO, budget=1200)
    context = make_context(ASK, rows, replace(tight, tool_output=replace(tight.tool_output, fold_at=0.4)))
    exchanges = [each for message in messages_of(context) for each in message.exchanges]
    assert exchanges[-1].results == ("word " * 100,)
    assert context.compaction
    folded = context.compaction.folded
    assert folded[0] == "m2"
    assert [each.call.id for each in exchanges] == [f"r{start}" for start in range(1 + 2 * len(folded), 20, 2)]
    notes = [part.text for message in messages_of(context) for part in message.parts if part.is_note]
    named = re.findall(r"(\d+) calls?: search", "\n".join(notes))
    assert sum(map(int, named)) == len(folded)


def test_arguments_that_cost_more_as_json_than_on_the_page_are_paid_for() -> None:
    script = "\n".join(f'print("{number}\\t\\"{number}\\"")' for number in range(40))
    rows = [
        row for start in range(1, 60, 2) for row in (calling(start, f"r{start}", query=script), answer(start + 1, f"r{start}"))
    ]
    rules = profile(budget=4000)
    context = make_context(ASK, rows, rules)
    count = load_counter(rules.encoding)
    texts = [part.text for message in messages_of(context) for part in message.parts]
    texts += [
        text for message in messages_of(context) for each in message.exchanges for text in (each.call.arguments, *each.results)
    ]
    assert context.tokens < sum(map(count, texts)) <= rules.allowance


def test_what_lasts_is_the_system_s_with_its_marks_and_the_conversation_ends_with_one() -> None:
    context = make_context(ASK, [said(1, "Hello.")], profile("anthropic"), (make_catalog(1, sequence=80),))
    assert [(message.role, message.breakpoint) for message in messages_of(context)] == [
        ("system", "static"),
        ("user", "recent"),
        ("user", ""),
    ]
    assert [cut.name for cut in context.breakpoints] == ["static", "recent"]


def test_a_reminder_stands_in_front_of_the_current_message() -> None:
    behind = replace(profile().sections[-1], name="reminder", title="Remember", source="reminder")
    reminder = Reminder(section="reminder", text="Be brief.", every=1, when=None)
    wanted = profile(sections=(*profile().sections, behind), reminders=(reminder,))
    assert shown(make_context(ASK, [], wanted)) == [
        ("user", ["## Remember\nBe brief.\n\n## Current User Message\n", "And now?"], [])
    ]
    tagged = make_context(ASK, [], replace(wanted, page="xml"))
    assert shown(tagged) == [("user", ["<reminder>\nBe brief.\n</reminder>\n\n", "And now?"], [])]


def test_a_find_of_two_sections_is_text_in_front_of_the_current_message_and_never_a_call() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "Delft has a kiln."), said(3, "Thanks."), said(4, "Bye.")]
    asks = said(90, "Where is a kiln, Delft?")
    context = make_context(asks, rows, profile(over=TWO, window={"max_units": 1, "trim_to": 1}))
    *_, (role, parts, _) = shown(context)
    assert role == "user"
    assert "Result: Delft has a kiln." in parts[0]
    assert parts[1:] == ["Where is a kiln, Delft?"]
    assert not any(message.exchanges for message in messages_of(context))


def test_a_find_of_one_conversation_is_a_call_in_its_place() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "Delft has a kiln."), *chat(200, 3, "on tea")]
    context = make_context(said(900, "Where is a kiln, Delft?"), rows, profile(budget=600))
    note, found, hole, *_ = shown(context)
    assert re.fullmatch(r"\((\d+) of 201 messages are not shown, … where\)\n", note[1][0])
    assert found == ("assistant", [], [("r1", ("Delft has a kiln.",))])
    assert hole[1][0].startswith("…\n")


def test_what_is_found_for_a_tool_s_answer_stands_in_front_of_its_turn() -> None:
    reminder = Reminder(section="elsewhere", text="Be brief.", every=1, when=None)
    rules = profile(reminders=(reminder,))
    asked = make_context(answer(3, "r1"), [said(1, "How hot?"), calling(2, "r1")], rules)
    assert shown(asked) == [
        ("user", ["## Said Elsewhere\nBe brief.\n", "How hot?"], []),
        ("assistant", ["Let me look."], [("r1", ("found",))]),
    ]
    again = make_context(answer(5, "r2"), [said(1, "How hot?"), calling(2, "r1"), answer(3, "r1"), calling(4, "r2")], rules)
    assert [role for role, *_ in shown(again)] == ["user", "assistant", "assistant"]
    assert shown(again)[0] == shown(asked)[0]


def test_of_results_to_answer_from_the_one_that_triggered_stands_where_one_alone_has_room() -> None:
    rows = [said(1, "How hot?"), calling(2, "r1", query="old " * 9), answer(3, "r1", "x " * 900)]
    rows += [calling(4, "r2", "r3", content=""), answer(5, "r2", "found " * 300)]
    *_, last = shown(make_context(answer(6, "r3", "two " * 300), rows, profile(over=TWO, budget=90)))
    assert (last[0], [call for call, _ in last[2]]) == ("assistant", ["r3"])


def test_calls_to_answer_from_stand_last_with_the_words_that_were_said_with_them() -> None:
    rows = [said(1, "How hot?"), calling(2, "r1"), calling(3, content="A moment.")]
    assert shown(make_context(answer(4, "r1"), rows, profile())) == [
        ("user", ["How hot?"], []),
        ("assistant", ["A moment."], []),
        ("assistant", ["Let me look."], [("r1", ("found",))]),
    ]


def test_an_answer_to_a_call_that_nobody_knows_is_text_under_its_heading() -> None:
    *_, (role, parts, exchanges) = shown(make_context(answer(4, "r1"), [said(1, "How hot?")], profile()))
    assert (role, exchanges) == ("user", [])
    assert parts == ["## Tool results\n- Tool search answered: found\n", "How hot?"]


def test_without_a_limit_of_tool_turns_the_conversation_only_grows_until_the_window_jumps() -> None:
    rows: list[StoredBreadcrumb] = []
    for start in range(1, 40, 4):
        question, call = said(start, f"Question {start}?"), calling(start + 1, f"r{start}")
        rows += [question, call, answer(start + 2, f"r{start}", f"found {start}"), calling(start + 3, content=f"It is {start}.")]
    steady = profile("anthropic", window={"max_tool_turns": None})
    steady = replace(steady, tool_output=replace(steady.tool_output, newest_only=False))
    turns = [shown(make_context(said(n + 1, "And now?"), rows[:n], steady))[:-1] for n in range(4, 24, 4)]
    assert all(after[: len(before)] == before for before, after in pairwise(turns))
    assert len(turns[-1]) == 15


def test_a_note_on_what_was_answered_stands_in_front_of_the_turn_without_an_empty_line_of_its_own() -> None:
    rows = [
        said(1, "How hot?"),
        calling(2, "r1", content=""),
        said(3, "And now?"),
        replied(4, "Cold."),
    ]
    meanwhile = Questions(ids=("m1",), current=("m1",), answered=1)
    note = "(1 message was answered meanwhile; answer the rest)\n"
    behind_an_answer = make_context(answer(5, "r1"), rows, profile(), questions=meanwhile)
    assert [parts for _, parts, _ in shown(behind_an_answer)] == [["How hot?"], ["And now?"], ["Cold."], [note], []]
    behind_a_message = make_context(answer(5, "r1"), rows[:2], profile(), questions=meanwhile)
    assert [parts for _, parts, _ in shown(behind_a_message)] == [["How hot?", f"\n{note}"], []]


def test_names_stand_in_front_where_more_than_one_writes_in_a_role() -> None:
    alone = make_context(ASK, [said(1, "Hello.", speaker="User"), calling(2)], profile())
    assert [parts for _, parts, _ in shown(alone)] == [["Hello."], ["Let me look."], ["And now?"]]
    two = make_context(ASK, [said(1, "Hello.", speaker="Ana"), calling(2)], profile())
    assert [parts for _, parts, _ in shown(two)] == [["Ana:\n", "Hello."], ["Let me look."], ["User:\n", "And now?"]]
