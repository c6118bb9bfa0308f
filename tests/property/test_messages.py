"""Whatever was said: the messages are what is on the page, what somebody wrote is byte for byte, and its API takes them."""

import json
from dataclasses import replace
from itertools import chain
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.control_text import visible
from builder.domain.page_settings import Dates
from builder.domain.profile import Profile
from builder.domain.selector import trigger_on
from builder.domain.stored import StoredBreadcrumb
from builder.extras.chat_formats.formats import FORMATS
from builder.extras.chat_formats.messages import Message
from builder.publish.event import encode
from builder.recall.index.conversation import closed_turn
from tests.chat_copies import messages_of
from tests.chat_rules import broken_by_anthropic, broken_by_openai, broken_by_responses
from tests.examples import examples
from tests.factories import ids_on_page, make_context, make_profile, make_view
from tests.property.sessions import Session, catalogs, hear, sessions
from tests.property.test_budget import profiles

budgets = st.integers(150, 4000)


@st.composite
def talkative(draw: st.DrawFn) -> Profile:
    """Any profile of the budget's tests with messages, no limit of the conversation or any from 1 to 40, dates anywhere."""
    profile = draw(profiles(budgets))
    trigger = draw(st.one_of(st.none(), st.integers(1, 40)))
    window = replace(profile.window, max_units=trigger, trim_to=draw(st.integers(1, trigger or 40)))
    dates: Dates = draw(st.sampled_from(("none", "none", "day", "age")))
    sections = tuple(replace(rule, dates=dates) for rule in profile.sections)
    prompt = draw(st.sampled_from(("", "You help.")))
    return replace(
        profile,
        window=window,
        sections=sections if dates != "none" else profile.sections,
        system_prompt=prompt,
        chat_format=draw(st.sampled_from([*FORMATS.values()])),
    )


@st.composite
def exchanges(draw: st.DrawFn) -> Session:
    """Little talk and many calls: bare and inside responses, answered before and after, once, twice, never, ids used again."""
    rows: list[StoredBreadcrumb] = []
    for sequence in range(1, draw(st.integers(2, 30))):
        call, tool = draw(st.sampled_from(("r1", "r2", "r3", "не r", "r" * 50))), draw(st.sampled_from(("search", "web.поиск")))
        asked = {"tool": tool, "input": draw(st.sampled_from((None, "kiln", ["a"] * 30, {"q": "kiln " * 90})))}
        bodies: dict[str, dict[str, Any]] = {
            "user.message.v1": {"content": "Hurry.", "speaker": draw(st.sampled_from(("Ana", "Bob")))},
            "agent.response.v1": {
                "content": draw(st.sampled_from(("", "Let me look."))),
                "tool_requests": [asked | {"requestId": each} for each in (call, *draw(st.sampled_from(((), ("r1", "r2")))))],
            },
            "tool.request.v1": asked | {"requestId": call},
            "tool.response.v1": {
                "tool": tool,
                "request_id": call,
                "output": draw(st.sampled_from((None, "found", "found " * 300))),
            },
            "tool.error.v1": {"tool_name": tool, "request_id": call, "error_message": "no answer"},
        }
        schema = draw(st.sampled_from(sorted(bodies)))
        rows.append(hear(sequence, schema, bodies[schema]))
    return Session(tuple(rows), hear(len(rows) + 1, "user.message.v1", {"content": "And now?", "speaker": "Ana"}))


talks = st.one_of(sessions(most=45), exchanges(), exchanges())


def named(messages: tuple[Message, ...]) -> list[str]:
    """Ids of everything that is shown."""
    return [name for message in messages for name in (*message.ids, *chain(*(each.ids for each in message.exchanges)))]


def broken(context: Context, profile: Profile) -> list[str]:
    """What the provider would refuse."""
    event: dict[str, Any] = json.loads(encode(context))
    if profile.chat_format is FORMATS["openai"]:
        return broken_by_openai(event["messages"])
    if profile.chat_format is FORMATS["responses"]:
        return broken_by_responses(event["messages"])
    return broken_by_anthropic(event["system"], event["messages"])


@examples(40)
@given(talks, catalogs(), talkative())
def test_the_messages_show_what_the_page_shows_and_nothing_else_fit_the_allowance_and_its_api_takes_them(
    session: Session, standing: tuple[StoredBreadcrumb, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    silent = {row.breadcrumb.id for row in session.rows if row.breadcrumb.role == "assistant" and not row.breadcrumb.text.strip()}
    assert set(ids_on_page(context)) - silent <= set(named(messages_of(context))) <= set(ids_on_page(context))
    assert session.trigger.breadcrumb.id in messages_of(context)[-1].ids
    assert broken(context, profile) == []
    assert sum(map(load_counter(profile.encoding), texts(context))) <= profile.allowance


@examples(50)
@given(talks, talkative())
def test_the_assistant_s_messages_hold_what_it_wrote_and_called_and_nothing_of_ours(session: Session, profile: Profile) -> None:
    context = make_context(session.trigger, session.rows, replace(profile, budget=60_000, margin=0))
    written = {row.breadcrumb.text for row in session.rows if row.breadcrumb.role == "assistant"}
    calls = {name for row in session.rows for name in row.breadcrumb.call_names}
    for message in messages_of(context):
        if message.role == "assistant":
            assert {part.text for part in message.parts} <= written
            assert {exchange.call.id for exchange in message.exchanges} <= calls
            assert not any(part.is_note for part in message.parts)


SHAPES = st.sampled_from(
    (
        "\n", "\n\n", "\t", " ", "\r\n", "\x0b", "    ", "```", "~~~", "- ", "# ", "User: ", "Assistant:", "Result: 7", "x", "|",
        "<b>", "&lt;",
    )
)  # fmt: skip
odd = st.lists(st.one_of(SHAPES, SHAPES, st.text(max_size=6)), max_size=12).map("".join)
"""Text that looks like what a page puts around it, with white space anywhere."""


@examples(40)
@given(st.lists(st.tuples(st.sampled_from(("user.message.v1", "agent.response.v1")), odd), max_size=6), odd, st.booleans())
def test_what_was_written_is_a_part_of_its_own_byte_for_byte(wrote: list[tuple[str, str]], ask: str, tagged: bool) -> None:
    rows = [hear(number, schema, {"content": text}) for number, (schema, text) in enumerate(wrote, 1)]
    trigger = hear(40, "user.message.v1", {"content": ask})
    profile = make_profile(chat_format="openai", budget=60_000, page="xml" if tagged else "default")
    context = make_context(trigger, rows, profile)
    parts = [part.text for message in messages_of(context) for part in message.parts if not part.is_note]
    assert parts == [text for row in (*rows, trigger) if (text := visible(row.breadcrumb.text)).strip()]
    assert [text for text in texts(context) if text in parts] == parts


@examples(40)
@given(odd.filter(lambda text: visible(text) == text), st.booleans())
def test_a_result_that_is_text_is_given_byte_for_byte(output: str, tagged: bool) -> None:
    rows = [
        hear(1, "tool.request.v1", {"tool": "bash", "input": {"command": "ls"}, "requestId": "r1"}),
        hear(2, "tool.response.v1", {"tool": "bash", "request_id": "r1", "output": output}),
    ]
    trigger = hear(40, "user.message.v1", {"content": "And?"})
    context = make_context(trigger, rows, make_profile(chat_format="openai", page="xml" if tagged else "default"))
    (exchange,) = (each for message in messages_of(context) for each in message.exchanges)
    assert exchange.results == (json.loads(rows[1].breadcrumb.body)["output"] if output.strip() else "nothing",)


@examples(40)
@given(exchanges(), st.sampled_from(("r1", "r2", "r3", "r9")), talkative())
def test_a_tool_s_answer_that_asks_ends_the_messages_with_the_calls_of_its_turn(
    session: Session, call: str, wanted: Profile
) -> None:
    profile = replace(wanted, budget=4000, triggers=tuple(map(trigger_on, ("user.message.v1", "tool.response.v1"))))
    trigger = hear(40, "tool.response.v1", {"tool": "search", "request_id": call, "output": "found at last"})
    view = make_view((*session.rows, trigger))
    turn = closed_turn(view, view.row_of(trigger.breadcrumb.id))
    assume(turn is not None)
    assert turn is not None
    context = make_context(trigger, session.rows, profile)
    last = messages_of(context)[-1]
    assert broken(context, profile) == []
    assert sum(map(load_counter(profile.encoding), texts(context))) <= profile.allowance
    rows = [view.row_of(name) for name in context.questions]
    if any(row > turn[0].origin for row in rows):
        assert (last.role, last.ids[-1]) == ("user", context.questions[-1])
    elif any(entry.request for entry in turn or ()):
        assert last.role == "assistant"
        assert trigger.breadcrumb.id in named(messages_of(context)[-len(turn or ()) :])
    else:
        assert last.role == "user"
        assert trigger.breadcrumb.id in last.ids


def texts(context: Context) -> list[str]:
    """All that is said in the event's messages, and the arguments of calls."""
    event: dict[str, Any] = json.loads(encode(context))
    found: list[str] = []
    for block in (*event.get("system", ()), *event["messages"]):
        content = block.get("content") or block.get("text") or block.get("output") or ""
        found += [content] if isinstance(content, str) else [said for part in content for said in spoken(part)]
        calls = [call["function"] for call in block.get("tool_calls", ())] + [block] * ("arguments" in block)
        found += [call["arguments"] for call in calls if call["arguments"] != "{}"]
    return found


def spoken(part: dict[str, Any]) -> list[str]:
    match part["type"]:
        case "text" | "input_text":
            return [part["text"]]
        case "tool_use":
            return [json.dumps(part["input"], ensure_ascii=False, separators=(",", ":"))] if part["input"] else []
        case "tool_result":
            return [held["text"] for held in part["content"]]
        case _:
            return []
