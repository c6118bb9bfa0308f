"""The page as messages: who speaks, what a call needs to be told, and what stands in the last message."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

from builder.domain.context import Context
from builder.domain.facts import Remembered
from builder.domain.profile import ChatFormat, Profile, Reminder
from tests.factories import make_catalog, make_context, make_profile
from tests.property.sessions import hear

ASK = hear(90, "user.message.v1", {"content": "And now?"})


def profile(shape: ChatFormat = "openai", **changes: Any) -> Profile:
    return make_profile(chat_format=shape, summaries=None, **changes)


def said(sequence: int, content: str, **body: Any) -> Remembered:
    return hear(sequence, "user.message.v1", {"content": content} | body)


def calling(sequence: int, *calls: str, content: str = "Let me look.", query: Any = "kiln") -> Remembered:
    requests = [{"tool": "search", "input": {"query": query, "page": page}, "requestId": call} for page, call in enumerate(calls)]
    return hear(sequence, "agent.response.v1", {"content": content, "tool_requests": requests})


def answer(sequence: int, call: str, output: str = "found", schema: str = "tool.response.v1") -> Remembered:
    body = {"tool": "search", "tool_name": "search", "request_id": call, "output": output, "error_message": output}
    return hear(sequence, schema, body)


def told(context: Context) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Role, text, and the request id and answer of each call."""
    return [
        (message.role, message.text, [(exchange.call.id, exchange.text) for exchange in message.exchanges])
        for message in context.messages
    ]


def test_a_profile_that_wants_no_messages_gets_none_and_the_same_page() -> None:
    rows = [said(1, "Which kiln?"), calling(2, "r1"), answer(3, "r1")]
    without, with_them = (make_context(ASK, rows, profile(shape)) for shape in ("none", "anthropic"))
    assert without.messages == ()
    assert without.markdown == with_them.markdown


def test_a_call_stands_with_its_answer_whatever_was_said_between() -> None:
    rows = [calling(1, "r1", "r2"), said(2, "Hurry."), answer(3, "r2", "two"), answer(4, "r1", "one")]
    assert told(make_context(ASK, rows, profile())) == [
        ("assistant", "Let me look.", [("r1", "search answered: one"), ("r2", "search answered: two")]),
        ("user", "Hurry.", []),
        ("user", "And now?", []),
    ]


def test_a_call_without_an_answer_is_left_out_and_its_message_stays() -> None:
    assert told(make_context(ASK, [calling(1, "r1")], profile()))[0] == ("assistant", "Let me look.", [])


def test_a_call_that_says_nothing_is_told_by_itself() -> None:
    answered = make_context(ASK, [calling(1, "r1", content=""), answer(2, "r1")], profile())
    assert told(answered)[0] == ("assistant", "", [("r1", "search answered: found")])
    assert told(make_context(ASK, [calling(1, "r1", content="")], profile()))[0] == ("assistant", "(calls search)", [])


def test_a_result_without_its_call_stands_as_text_in_front_of_the_current_message() -> None:
    ((role, text, _),) = told(make_context(ASK, [answer(1, "r1")], profile()))
    assert role == "user"
    assert text == "## Recent Tool Results\n- search answered: found\n\n## Current User Message\n- User: And now?"


def test_a_result_answers_the_call_that_was_last_made_under_its_id() -> None:
    rows = [calling(1, "r1", query="old"), calling(2, "r1", query="new"), answer(3, "r1")]
    first, second, _ = make_context(ASK, rows, profile()).messages
    assert first.exchanges == ()
    assert [json.loads(exchange.call.arguments) for exchange in second.exchanges] == [{"page": 0, "query": "new"}]


def test_two_answers_to_one_call_are_told_together() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "no", "tool.error.v1"), answer(3, "r1", "yes")]
    (exchange,) = make_context(ASK, rows, profile()).messages[0].exchanges
    assert exchange.text == "search failed: no\nsearch answered: yes"
    assert exchange.ids == ("m2", "m3")
    assert not exchange.failed


def test_a_bare_tool_request_is_the_assistants_call() -> None:
    request = hear(1, "tool.request.v1", {"tool": "search", "input": {"query": "kiln"}, "requestId": "r1"})
    assert told(make_context(ASK, [request, answer(2, "r1")], profile()))[0] == (
        "assistant",
        "",
        [("r1", "search answered: found")],
    )


def test_a_bare_tool_request_keeps_its_line_when_its_arguments_find_no_room() -> None:
    request = hear(1, "tool.request.v1", {"tool": "search", "input": {"query": "kiln " * 900}, "requestId": "r1"})
    message = make_context(ASK, [request, answer(2, "r1")], profile(budget=200)).messages[0]
    assert message.text.startswith("Call of search: query: kiln")
    assert json.loads(message.exchanges[0].call.arguments) == {"left_out": "the arguments, id m1"}


def test_names_stay_where_more_than_one_speaks_in_a_role() -> None:
    alone = make_context(ASK, [said(1, "Hello.", speaker="User"), calling(2, "r1")], profile())
    assert [message.text for message in alone.messages] == ["Hello.", "Let me look.", "And now?"]
    two = make_context(ASK, [said(1, "Hello.", speaker="Ana"), calling(2, "r1")], profile())
    assert [message.text for message in two.messages] == ["Ana: Hello.", "Let me look.", "User: And now?"]


def test_long_arguments_are_clipped_and_those_that_find_no_room_say_where_they_are() -> None:
    rows = [calling(1, "r1", query="kiln " * 900), answer(2, "r1")]
    roomy, tight = (make_context(ASK, rows, profile(budget=budget)).messages[0].exchanges for budget in (4000, 200))
    query = json.loads(roomy[0].call.arguments)["query"]
    assert query.endswith("… (4,500 characters)")
    assert len(query) < 450
    assert json.loads(tight[0].call.arguments) == {"left_out": "the arguments, id m1"}


def test_folded_results_keep_their_folded_text() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "word " * 900), said(3, "a"), said(4, "b"), said(5, "c"), said(6, "d")]
    tight = profile(budget=600)
    (exchange,) = (
        make_context(ASK, rows, replace(tight, tool_output=replace(tight.tool_output, fold_at=0.3))).messages[0].exchanges
    )
    assert exchange.text.startswith("[search: ")
    assert exchange.text.endswith("compacted, id m2]")


def test_what_lasts_is_the_system_message_with_its_marks_and_the_conversation_ends_with_one() -> None:
    context = make_context(ASK, [said(1, "Hello.")], profile("anthropic"), (make_catalog(1, sequence=80),))
    assert [(message.role, message.breakpoint) for message in context.messages] == [
        ("system", "static"),
        ("user", "recent"),
        ("user", ""),
    ]
    assert [cut.name for cut in context.breakpoints] == ["static", "recent"]


def test_dates_of_the_conversation_stand_in_front_of_the_message_that_begins_a_day() -> None:
    dated = tuple(replace(rule, dates="day") for rule in profile().sections)
    texts = [message.text for message in make_context(ASK, [said(1, "a"), said(2, "b")], profile(sections=dated)).messages]
    assert texts[0].startswith("[")
    assert texts[0].endswith("]\na")
    assert texts[1] == "b"


def test_a_reminder_stands_behind_the_current_message() -> None:
    behind = replace(profile().sections[-1], name="reminder", title="Remember", source="reminder")
    reminder = Reminder(section="reminder", text="Be brief.", every=1, when=None)
    wanted = profile(sections=(*profile().sections, behind), reminders=(reminder,))
    assert told(make_context(ASK, [], wanted)) == [
        ("user", "## Current User Message\n- User: And now?\n\n## Remember\nBe brief.", [])
    ]


def test_without_a_limit_of_tool_turns_the_conversation_only_grows_until_the_window_jumps() -> None:
    rows: list[Remembered] = []
    for start in range(1, 40, 4):
        question, call = said(start, f"Question {start}?"), calling(start + 1, f"r{start}")
        rows += [question, call, answer(start + 2, f"r{start}", f"found {start}"), calling(start + 3, content=f"It is {start}.")]
    steady = profile("anthropic", window={"max_tool_turns": None})
    steady = replace(steady, tool_output=replace(steady.tool_output, newest_only=False))
    turns = [told(make_context(said(n + 1, "And now?"), rows[:n], steady))[:-1] for n in range(4, 24, 4)]
    assert all(after[: len(before)] == before for before, after in pairwise(turns))
    assert len(turns[-1]) == 15
