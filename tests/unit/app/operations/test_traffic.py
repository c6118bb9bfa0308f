"""Messages of the streams become pages, and what each page stands for; what is none of these counts nothing."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.app.components import counter
from builder.app.operations.traffic import LAST, PAGE, WHOLE, Traffic
from builder.domain.breadcrumb import Place, StreamMessage
from builder.remember.decode import decode

STATIC = 7
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
WORDS = " ".join(f"word{number}" for number in range(60))


def arrival(subject: str, value: Any, sequence: int = 1, minutes: float = 0) -> StreamMessage:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return StreamMessage(subject=subject, data=data, place=Place(0, sequence), received_at=NOON + timedelta(minutes=minutes))


def context(
    trigger: str, content: str, sequence: int = 1, session: str = "s1", consumer: str = "default", minutes: float = 0
) -> StreamMessage:
    event = {
        "assembly": {"tokenizer": "o200k_base"},
        "workspace": "acme",
        "consumer_id": consumer,
        "session_id": session,
        "trigger_event_id": trigger,
        "trigger_seq": sequence,
        "content": content,
        "sections": [{"class": "static", "tokens": STATIC}, {"class": "turn", "tokens": 4}],
    }
    return arrival(f"contexts.acme.{consumer}.{session}.c-{trigger}", event, minutes=minutes)


def crumb(sequence: int, schema: str, identity: str, **changes: Any) -> Any:
    record = {"id": identity, "version": changes.pop("version", 1), "context": changes}
    return decode(arrival(f"breadcrumbs.acme.s1.{schema}", record, sequence))


def said(sequence: int, words: str, identity: str = "", **changes: Any) -> Any:
    return crumb(sequence, "user.message.v1", identity or f"m{sequence}", content=words, **changes)


def test_a_page_is_compared_with_the_one_before_it_in_its_session() -> None:
    traffic = Traffic()
    for each in (
        context("m1", WORDS),
        context("m2", "Something else", session="s2", minutes=1),
        context("m3", "Something else", consumer="other", minutes=1),
        context("m4", f"{WORDS} and more", minutes=3),
    ):
        traffic.add(each)
    *others, last = traffic.pages
    assert [(page.sent[PAGE][1], page.pause) for page in others] == [(0, 0)] * 3
    assert last.sent[PAGE] == (counter()(f"{WORDS} and more"), counter()(WORDS))
    assert last.pause == 180


@pytest.mark.parametrize("data", [b"{}", b"[]", b"no JSON", b'{"workspace": "acme"}'])
def test_what_is_no_context_is_counted_apart(data: bytes) -> None:
    traffic = Traffic()
    traffic.add(arrival("contexts.acme.default.s1.c9", data))
    assert (traffic.pages, traffic.unreadable) == ([], 1)


def test_what_a_page_stands_for_is_counted_as_of_its_trigger_newest_versions_once_with_calls() -> None:
    traffic, count = Traffic(), counter()
    crumbs = [
        said(1, "Which kiln is free?"),
        crumb(2, "agent.response.v1", "r1", message="I look.", tool_requests=[{"tool": "kilns", "input": {}, "requestId": "q"}]),
        crumb(3, "tool.request.v1", "q1", tool="kilns", input={}, requestId="q"),
        crumb(4, "note.v1", "n1", content="Nobody said this."),
        said(5, "Which large kiln is free?", "m1", version=2),
        said(6, "And tomorrow?"),
        said(7, "Not yet said."),
    ]
    for each in (context("m1", "One.", 1), context("m6", "Two.", 6), context("m6", "Two.", 6, consumer="other")):
        traffic.add(each)
    traffic.compare(traffic.pages, crumbs)
    first, second, other = traffic.pages
    texts = ["Which large kiln is free?", "\n".join(("I look.", *crumbs[1].call_signatures)), "And tomorrow?"]
    assert first.sent[WHOLE] == first.sent[LAST] == (STATIC + count("Which kiln is free?"), 0)
    assert second.sent[WHOLE] == second.sent[LAST] == (STATIC + sum(map(count, texts)), STATIC)  # it begins with another version
    assert other.sent[WHOLE] == (second.sent[WHOLE][0], 0)


def test_the_whole_conversation_begins_as_before_and_the_last_messages_soon_do_not() -> None:
    traffic, crumbs = Traffic(), [said(number, f"Message {number}.") for number in range(1, 31)]
    for number in (10, 20, 30):
        traffic.add(context(f"m{number}", "Page.", number))
    traffic.compare(traffic.pages, crumbs)
    ten = 10 * counter()("Message 1.")
    first = (STATIC + ten, 0), (STATIC + 2 * ten, STATIC + ten)
    assert tuple(page.sent[WHOLE] for page in traffic.pages) == (*first, (STATIC + 3 * ten, STATIC + 2 * ten))
    assert tuple(page.sent[LAST] for page in traffic.pages) == (*first, (STATIC + 2 * ten, STATIC))


def test_responses_to_a_context_count_for_its_agent_alone() -> None:
    traffic = Traffic()
    traffic.add(context("m1", "Page."))
    replies = [
        {"message": "one two three", "trigger_event_id": "m1", "creator": {"agent_id": "default"}},
        {"message": "of another agent", "trigger_event_id": "m1", "creator": {"agent_id": "other"}},
        {"message": "to another context", "trigger_event_id": "m9", "creator": {"agent_id": "default"}},
    ]
    traffic.compare(traffic.pages, [crumb(2 + n, "agent.response.v1", f"r{n}", **reply) for n, reply in enumerate(replies)])
    assert traffic.pages[0].answers == [counter()("one two three")]
