"""Whatever was said: the messages are what is on the page, each id once, and both providers take them."""

import json
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.facts import Remembered
from builder.domain.message import Message
from builder.domain.profile import Dates, Profile
from builder.wire.outbound import encode
from tests.chat_rules import broken_by_anthropic, broken_by_openai
from tests.factories import ids_on_page, make_context
from tests.property.sessions import Session, catalogs, hear, sessions
from tests.property.test_budget import profiles

budgets = st.integers(150, 4000)


@st.composite
def talkative(draw: st.DrawFn) -> Profile:
    """Any profile of the budget's tests with messages, every limit of the hot window from 1 to 40, dates anywhere."""
    profile = draw(profiles(budgets))
    trigger = draw(st.integers(1, 40))
    window = replace(profile.window, max_units=trigger, trim_to=draw(st.integers(1, trigger)))
    dates: Dates = draw(st.sampled_from(("none", "none", "day", "age")))
    sections = tuple(replace(rule, dates=dates) for rule in profile.sections)
    prompt = draw(st.sampled_from(("", "You help.")))
    return replace(
        profile,
        window=window,
        sections=sections if dates != "none" else profile.sections,
        system_prompt=prompt,
        chat_format=draw(st.sampled_from(("openai", "anthropic"))),
    )


@st.composite
def exchanges(draw: st.DrawFn) -> Session:
    """Little talk and many calls: bare and inside responses, answered before and after, once, twice, never, ids used again."""
    rows: list[Remembered] = []
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


def told(messages: tuple[Message, ...]) -> list[str]:
    """Ids of everything that is told."""
    return [name for message in messages for name in (*message.ids, *chain(*(each.ids for each in message.exchanges)))]


def broken(context: Context) -> list[str]:
    """What the provider would refuse."""
    event: dict[str, Any] = json.loads(encode(context))
    if context.chat_format == "openai":
        return broken_by_openai(event["messages"])
    return broken_by_anthropic(event["system"], event["messages"])


@settings(max_examples=40, deadline=None)
@given(talks, catalogs(), talkative())
def test_every_id_of_the_page_is_told_exactly_once_and_nothing_else(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    assert Counter(told(context.messages)) == Counter(ids_on_page(context))
    assert session.trigger.breadcrumb.id in context.messages[-1].ids


@settings(max_examples=40, deadline=None)
@given(talks, catalogs(), talkative())
def test_both_providers_take_the_messages_whatever_the_window_holds(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    assert broken(make_context(session.trigger, session.rows, profile, standing)) == []


@settings(max_examples=40, deadline=None)
@given(talks, catalogs(), talkative())
def test_texts_and_arguments_together_stay_within_the_budget(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    assert sum(map(load_counter(profile.encoding), texts(context))) <= profile.allowance


@settings(max_examples=40, deadline=None)
@given(talks, talkative())
def test_every_line_of_the_messages_is_a_line_of_the_page(session: Session, profile: Profile) -> None:
    context = make_context(session.trigger, session.rows, profile)
    for message in context.messages:
        for text in (message.text, *(exchange.text for exchange in message.exchanges)):
            for line in filter(None, text.splitlines()):
                assert line in context.markdown


def texts(context: Context) -> list[str]:
    """All that is said in the event's messages, and the arguments of calls."""
    event: dict[str, Any] = json.loads(encode(context))
    found: list[str] = []
    for block in (*event.get("system", ()), *event["messages"]):
        content = block.get("content") or block.get("text") or ""
        found += [content] if isinstance(content, str) else [said for part in content for said in spoken(part)]
        found += [call["function"]["arguments"] for call in block.get("tool_calls", ()) if call["function"]["arguments"] != "{}"]
    return found


def spoken(part: dict[str, Any]) -> list[str]:
    match part["type"]:
        case "text":
            return [part["text"]]
        case "tool_use":
            return [json.dumps(part["input"], ensure_ascii=False, separators=(",", ":"))] if part["input"] else []
        case "tool_result":
            return [held["text"] for held in part["content"]]
        case _:
            return []
