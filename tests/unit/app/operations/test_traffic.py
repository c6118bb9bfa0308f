"""Messages of the streams become pages and responses; what is none of these counts nothing."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.app.operations.traffic import TrafficReader
from builder.domain.breadcrumb import Place, StreamMessage

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
WORDS = " ".join(f"word{number}" for number in range(60))


def arrival(subject: str, value: Any, minutes: float = 0) -> StreamMessage:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return StreamMessage(subject=subject, data=data, place=Place(0, 1), received_at=NOON + timedelta(minutes=minutes))


def context(trigger: str, content: str, session: str = "s1", consumer: str = "default", minutes: float = 0) -> StreamMessage:
    event = {
        "assembly": {"tokenizer": "o200k_base"},
        "id": f"c-{trigger}",
        "workspace": "acme",
        "consumer_id": consumer,
        "session_id": session,
        "trigger_event_id": trigger,
        "trigger_seq": 40 + len(trigger),
        "token_count": len(content.split()),
        "content": content,
        "sections": [{"class": "turn", "tokens": 3}, {"class": "turn", "tokens": 4}],
    }
    return arrival(f"contexts.acme.{consumer}.{session}.c-{trigger}", event, minutes)


def response(trigger: object, agent: object = "default", **body: Any) -> StreamMessage:
    values = {"trigger_event_id": trigger, "creator": {"agent_id": agent}} | body
    return arrival("breadcrumbs.acme.s1.agent.response.v1", {"id": "r", "context": values})


@pytest.fixture
def reader() -> TrafficReader:
    taken = TrafficReader(NOON)
    taken.page(context("m1", WORDS))
    return taken


def test_a_page_is_compared_with_the_one_before_it_in_its_session(reader: TrafficReader) -> None:
    reader.page(context("m2", "Something else", session="s2", minutes=1))
    reader.page(context("m3", "Something else", consumer="other", minutes=1))
    reader.page(context("m4", f"{WORDS} and more", minutes=3))
    first, *others, last = reader.traffic.pages
    assert [(page.reused, page.pause) for page in (first, *others)] == [(0, 0)] * 3
    assert last.reused > 60
    assert last.pause == 180
    assert last.tokens_by_class == {"turn": 7}


def test_a_page_before_the_time_counts_only_as_the_one_before() -> None:
    reader = TrafficReader(NOON)
    reader.page(context("m1", WORDS, minutes=-1))
    reader.page(context("m22", WORDS, minutes=1))
    (page,) = reader.traffic.pages
    assert (page.trigger, page.reused > 60, page.pause) == (("acme", "default", "m22"), True, 120)
    assert reader.first_trigger == 43


@pytest.mark.parametrize("data", [b"{}", b"[]", b"no JSON", b'{"workspace": "acme"}'])
def test_what_is_no_context_is_counted_apart(reader: TrafficReader, data: bytes) -> None:
    reader.page(arrival("contexts.acme.default.s1.c9", data))
    assert (len(reader.traffic.pages), reader.traffic.unreadable) == (1, 1)


def test_all_responses_to_a_context_are_one_sum_with_their_calls(reader: TrafficReader) -> None:
    reader.response(response("m1", message="one two three"))
    alone = reader.traffic.answers["acme", "default", "m1"]
    reader.response(response("m1", content="one two three", tool_requests=[{"tool": "weather", "input": {"city": "Oslo"}}]))
    assert reader.traffic.answers["acme", "default", "m1"] > 2 * alone > 0
    reader.response(response("m1", message=7, tool_requests=7))  # a service would reject it, and the stream still has it


@pytest.mark.parametrize(
    "message",
    [
        response("m9", message="no such context"),
        response("m1", agent="other", message="of another agent"),
        response("m1", creator="default", message="no creator"),
        arrival("breadcrumbs.acme.s1.agent.response.v1", {"id": "r", "context": "text"}),
        arrival("breadcrumbs.acme.s1.agent.response.v1", b"no JSON"),
    ],
)
def test_a_response_to_no_context_counts_nothing(reader: TrafficReader, message: StreamMessage) -> None:
    reader.response(message)
    assert reader.traffic.answers == {}
