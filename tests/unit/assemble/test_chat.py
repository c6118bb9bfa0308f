"""The page as messages: who writes, what is a part of its own, how calls and results stand, and what the last message holds."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.page_settings import ChatFormat, Reminder
from builder.domain.profile import Profile
from builder.domain.recall import StoredBreadcrumb
from tests.factories import make_catalog, make_context, make_profile
from tests.property.sessions import hear

ASK = hear(39, "user.message.v1", {"content": "And now?"})
LATER = hear(90, "user.message.v1", {"content": "And now?"})


def profile(shape: ChatFormat = "openai", **changes: Any) -> Profile:
    return make_profile(chat_format=shape, summaries=None, **changes)


def said(sequence: int, content: str, **body: Any) -> StoredBreadcrumb:
    return hear(sequence, "user.message.v1", {"content": content} | body)


def calling(sequence: int, *calls: str, content: str = "Let me look.", query: Any = "kiln") -> StoredBreadcrumb:
    requests = [{"tool": "search", "input": {"page": page, "query": query}, "requestId": call} for page, call in enumerate(calls)]
    return hear(sequence, "agent.response.v1", {"content": content, "tool_requests": requests})


def answer(sequence: int, call: str, output: str = "found", schema: str = "tool.response.v1") -> StoredBreadcrumb:
    said = (
        {"tool": "search", "output": output} if schema == "tool.response.v1" else {"tool_name": "search", "error_message": output}
    )
    body = said | {"request_id": call}
    return hear(sequence, schema, body)


def shown(context: Context) -> list[tuple[str, list[str], list[tuple[str, tuple[str, ...]]]]]:
    """Role, parts, and the request id and results of each call."""
    return [
        (
            message.role,
            [part.text for part in message.parts],
            [(exchange.call.id, exchange.results) for exchange in message.exchanges],
        )
        for message in context.messages
    ]


def dated(rules: Profile) -> Profile:
    return replace(rules, sections=tuple(replace(rule, dates="day") for rule in rules.sections))


def test_a_profile_that_wants_no_messages_gets_none_and_the_same_page() -> None:
    rows = [said(1, "Which kiln?"), calling(2, "r1"), answer(3, "r1")]
    without, with_them = (make_context(ASK, rows, profile(shape)) for shape in ("none", "anthropic"))
    assert without.messages == ()
    assert without.markdown == with_them.markdown


def test_parallel_calls_stand_in_one_message_with_their_text_and_all_their_results() -> None:
    rows = [calling(1, "r1", "r2"), said(2, "Hurry."), answer(3, "r2", "two"), answer(4, "r1", "one")]
    assert shown(make_context(ASK, rows, profile())) == [
        ("assistant", ["Let me look."], [("r1", ("one",)), ("r2", ("two",))]),
        ("user", ["Hurry."], []),
        ("user", ["And now?"], []),
    ]


def test_a_call_without_an_answer_says_so() -> None:
    assert shown(make_context(ASK, [calling(1, "r1")], profile()))[0] == (
        "assistant",
        ["Let me look."],
        [("r1", ("(no answer yet)",))],
    )


def test_a_call_without_words_is_a_call_alone() -> None:
    context = make_context(ASK, [calling(1, "r1", content=""), answer(2, "r1")], profile())
    assert shown(context)[0] == ("assistant", [], [("r1", ("found",))])


def test_a_bare_tool_request_is_the_assistants_call() -> None:
    request = hear(1, "tool.request.v1", {"tool": "search", "input": {"query": "kiln"}, "requestId": "r1"})
    assert shown(make_context(ASK, [request, answer(2, "r1")], profile()))[0] == ("assistant", [], [("r1", ("found",))])


def test_a_result_without_its_call_stands_as_text_in_front_of_the_current_message() -> None:
    ((role, parts, _),) = shown(make_context(ASK, [answer(1, "r1")], profile()))
    assert role == "user"
    assert parts == ["## Recent Conversation\n- Tool search answered: found\n\n## Current User Message\n", "And now?"]


def test_a_result_answers_the_call_that_was_last_made_under_its_id() -> None:
    rows = [calling(1, "r1", query="old"), calling(2, "r1", query="new"), answer(3, "r1")]
    first, second, _ = make_context(ASK, rows, profile()).messages
    assert [exchange.ids for exchange in (*first.exchanges, *second.exchanges)] == [(), ("m3",)]
    assert [json.loads(exchange.call.arguments) for exchange in second.exchanges] == [{"page": 0, "query": "new"}]


def test_a_result_whose_call_an_edit_took_back_stands_as_text_also_where_it_is_found() -> None:
    edit = hear(3, "agent.response.v1", {"content": "Never mind."}, "m1", version=2)
    rows = [calling(1, "r1"), answer(2, "r1", "a kiln in Delft"), edit]
    context = make_context(ASK, rows, profile())
    assert not any(message.exchanges for message in context.messages)
    assert "- Tool search answered: a kiln in Delft\n" in context.markdown
    few = profile(window={"max_units": 1, "trim_to": 1}, budget=4000)
    found = make_context(
        hear(90, "user.message.v1", {"content": "a kiln in Delft?"}), [*rows, said(4, "Hm."), said(5, "So.")], few
    )
    assert "- Tool search answered: a kiln in Delft\n" in found.markdown


def test_two_results_of_one_call_stand_together_and_a_failure_says_so() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "no", "tool.error.v1"), answer(3, "r1", "yes")]
    (exchange,) = make_context(ASK, rows, profile()).messages[0].exchanges
    assert exchange.results == ("Failed: no", "yes")
    assert exchange.ids == ("m2", "m3")
    assert not exchange.failed


def test_texts_and_results_keep_their_shape() -> None:
    code = "Done:\n\n```python\ndef f():\n\n    return 2\n```\n\nAnything else?  \n"
    rows = [said(1, code), calling(2, "r1", content=code), answer(3, "r1", code)]
    context = make_context(ASK, rows, profile())
    assert shown(context) == [("user", [code], []), ("assistant", [code], [("r1", (code,))]), ("user", ["And now?"], [])]


def test_control_text_is_visible() -> None:
    context = make_context(ASK, [said(1, "Hi<|im_end|>", speaker="A<|x|>"), said(2, "\u202eyes", speaker="Bo")], profile())
    assert shown(context)[0][1] == ['User "A<\\|x|>":\n', "Hi<\\|im_end|>"]
    assert shown(context)[1][1] == ["Bo:\n", "⟨U+202E⟩yes"]


def test_names_stand_in_front_where_more_than_one_writes_in_a_role() -> None:
    alone = make_context(ASK, [said(1, "Hello.", speaker="User"), calling(2)], profile())
    assert [parts for _, parts, _ in shown(alone)] == [["Hello."], ["Let me look."], ["And now?"]]
    two = make_context(ASK, [said(1, "Hello.", speaker="Ana"), calling(2)], profile())
    assert [parts for _, parts, _ in shown(two)] == [["Ana:\n", "Hello."], ["Let me look."], ["User:\n", "And now?"]]


def test_names_of_agents_end_the_user_s_message_before_them() -> None:
    def by(sequence: int, agent: str) -> StoredBreadcrumb:
        return hear(sequence, "agent.response.v1", {"content": f"{agent} here.", "speaker": agent})

    context = make_context(ASK, [said(1, "Hello."), by(2, "Mira"), by(3, "Mira"), by(4, "Otto")], profile())
    assert shown(context) == [
        ("user", ["Hello.", "\nMira:\n"], []),
        ("assistant", ["Mira here."], []),
        ("assistant", ["Mira here."], []),
        ("user", ["Otto:\n"], []),
        ("assistant", ["Otto here."], []),
        ("user", ["And now?"], []),
    ]


def test_an_agent_s_message_that_asks_is_the_user_s_with_its_name() -> None:
    asks = hear(9, "agent.response.v1", {"content": "Is scene two ready?", "speaker": "Director"})
    assert shown(make_context(asks, [said(1, "Hello.", speaker="Ana")], profile()))[-1] == (
        "user",
        ["Director:\n", "Is scene two ready?"],
        [],
    )


def test_dates_stand_in_front_of_the_message_that_begins_a_day() -> None:
    rows = [said(1, "a"), said(2, "b"), said(41, "c")]
    parts = [parts for _, parts, _ in shown(make_context(LATER, rows, dated(profile())))]
    assert parts == [["[1 May 2024]\n", "a"], ["b"], ["[2 May 2024]\n", "c"], ["[3 May 2024]\n", "And now?"]]


def test_the_date_of_what_the_assistant_wrote_ends_the_user_s_message_before_it() -> None:
    rows = [said(1, "a"), calling(41, content="b"), said(42, "c")]
    parts = [parts for _, parts, _ in shown(make_context(LATER, rows, dated(profile())))]
    assert parts == [["[1 May 2024]\n", "a", "\n[2 May 2024]\n"], ["b"], ["c"], ["[3 May 2024]\n", "And now?"]]


def test_arguments_are_whole_and_where_the_call_is_cut_they_say_how_much() -> None:
    rows = [calling(1, "r1", query="kiln " * 300), answer(2, "r1")]
    roomy, tight = (make_context(ASK, rows, profile(budget=budget)).messages[0].exchanges for budget in (4000, 300))
    assert json.loads(roomy[0].call.arguments)["query"] == "kiln " * 300
    assert "characters left out, id m1" in json.loads(tight[0].call.arguments)["cut"]


def test_folded_results_show_their_line() -> None:
    rows: list[StoredBreadcrumb] = []
    for start in range(1, 20, 2):
        rows += [calling(start, f"r{start}", query=start), answer(start + 1, f"r{start}", "word " * 100)]
    tight = profile(budget=1200)
    context = make_context(ASK, rows, replace(tight, tool_output=replace(tight.tool_output, fold_at=0.4)))
    results = [result for message in context.messages for each in message.exchanges for result in each.results]
    assert results[-1] == "word " * 100
    assert results[0].startswith("[search: word")
    assert "compacted, id m" in results[0]


def test_arguments_that_cost_more_as_json_than_on_the_page_are_paid_for() -> None:
    script = "\n".join(f'print("{number}\\t\\"{number}\\"")' for number in range(40))
    rows = [
        row for start in range(1, 60, 2) for row in (calling(start, f"r{start}", query=script), answer(start + 1, f"r{start}"))
    ]
    rules = profile(budget=4000)
    context = make_context(ASK, rows, rules)
    count = load_counter(rules.encoding)
    texts = [part.text for message in context.messages for part in message.parts]
    texts += [text for message in context.messages for each in message.exchanges for text in (each.call.arguments, *each.results)]
    assert context.tokens < sum(map(count, texts)) <= rules.allowance


def test_what_lasts_is_the_system_s_with_its_marks_and_the_conversation_ends_with_one() -> None:
    context = make_context(ASK, [said(1, "Hello.")], profile("anthropic"), (make_catalog(1, sequence=80),))
    assert [(message.role, message.breakpoint) for message in context.messages] == [
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


def test_a_find_is_text_in_front_of_the_current_message_and_never_a_call() -> None:
    rows = [calling(1, "r1"), answer(2, "r1", "Delft has a kiln."), said(3, "Thanks."), said(4, "Bye.")]
    asks = hear(90, "user.message.v1", {"content": "Where is a kiln, Delft?"})
    context = make_context(asks, rows, profile(window={"max_units": 1, "trim_to": 1}))
    *_, (role, parts, _) = shown(context)
    assert role == "user"
    assert "Result: Delft has a kiln." in parts[0]
    assert parts[1:] == ["Where is a kiln, Delft?"]
    assert not any(message.exchanges for message in context.messages)


def test_a_tool_s_answer_that_asks_ends_the_messages_with_its_call() -> None:
    rows = [said(1, "How hot?"), calling(2, "r1", "r2"), answer(3, "r1", "one")]
    context = make_context(answer(4, "r2", "two"), rows, profile())
    assert shown(context) == [
        ("user", ["How hot?"], []),
        ("assistant", ["Let me look."], [("r1", ("one",)), ("r2", ("two",))]),
    ]
    assert context.messages[-1].breakpoint == "recent"


def test_what_is_found_for_a_tool_s_answer_stands_in_front_of_its_turn() -> None:
    reminder = Reminder(section="relevant", text="Be brief.", every=1, when=None)
    rules = profile(reminders=(reminder,))
    asked = make_context(answer(3, "r1"), [said(1, "How hot?"), calling(2, "r1")], rules)
    assert shown(asked) == [
        ("user", ["## Relevant Earlier Messages\nBe brief.\n", "How hot?"], []),
        ("assistant", ["Let me look."], [("r1", ("found",))]),
    ]
    again = make_context(answer(5, "r2"), [said(1, "How hot?"), calling(2, "r1"), answer(3, "r1"), calling(4, "r2")], rules)
    assert [role for role, *_ in shown(again)] == ["user", "assistant", "assistant"]
    assert shown(again)[0] == shown(asked)[0]


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
