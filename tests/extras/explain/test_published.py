"""Published contexts become tokens, beside those of whole conversations."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.app.components import counter
from builder.domain.breadcrumb import Place, StreamMessage
from builder.extras.explain.published import (
    LAST,
    PAGE,
    WHOLE,
    counted_page,
    sent_tokens,
)
from builder.remember.decode import decode

STATIC = 7
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
WORDS = " ".join(f"word{number}" for number in range(1200))


def arrival(subject: str, value: Any, sequence: int = 1, minutes: float = 0) -> StreamMessage:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return StreamMessage(subject=subject, data=data, place=Place(0, sequence), received_at=NOON + timedelta(minutes=minutes))


def context(
    content: str, sequence: int = 1, consumer: str = "default", minutes: float = 0, static: int = STATIC, **shown: list[str]
) -> StreamMessage:
    """shown: `ids` of what is on the page, and of them those that are `partial`."""
    event = {
        "assembly": {"tokenizer": "o200k_base"},
        "workspace": "acme",
        "consumer_id": consumer,
        "session_id": "s1",
        "trigger_seq": sequence,
        "content": content,
        "sections": [
            {"class": "static", "tokens": static, "ids": []},
            {"class": "turn", "tokens": 4, "ids": shown.get("ids", [])},
        ],
        "omissions": {"partial": [{"id": each} for each in shown.get("partial", [])]},
    }
    return arrival(f"contexts.acme.{consumer}.s1.c{sequence}", event, minutes=minutes)


def crumb(sequence: int, schema: str, identity: str, **changes: Any) -> Any:
    record = {"id": identity, "version": changes.pop("version", 1), "context": changes}
    return decode(arrival(f"breadcrumbs.acme.s1.{schema}", record, sequence))


def said(sequence: int, words: str, identity: str = "", **changes: Any) -> Any:
    return crumb(sequence, "user.message.v1", identity or f"m{sequence}", content=words, **changes)


def sent(*contexts: StreamMessage, crumbs: tuple[Any, ...] = ()) -> list[dict[str, tuple[int, int]]]:
    return [each.forms for each in sent_tokens(map(counted_page, contexts), crumbs)]


def test_a_page_is_cached_as_far_as_the_one_before_it_of_its_consumer_began_alike() -> None:
    rows = sent(context(WORDS), context(WORDS, consumer="other"), context(f"{WORDS} and more", minutes=3))
    alike = counter()(WORDS)
    assert [row[PAGE] for row in rows] == [(alike, 0), (alike, 0), (counter()(f"{WORDS} and more"), alike // 128 * 128)]


def test_a_short_beginning_and_one_that_was_not_used_for_five_minutes_are_not_cached() -> None:
    assert sent(context("Some words."), context("Some words."))[1][PAGE][1] == 0
    assert sent(context(WORDS), context(WORDS, minutes=5.1))[1][PAGE][1] == 0


@pytest.mark.parametrize("data", [b"{}", b"[]", b"no JSON", b'{"workspace": "acme"}'])
def test_what_is_no_context_is_refused(data: bytes) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        counted_page(arrival("contexts.acme.default.s1.c9", data))


def test_what_a_page_stands_for_is_counted_as_of_its_trigger_newest_versions_once_with_calls() -> None:
    count = counter()
    crumbs = (
        said(1, "Which kiln is free?"),
        crumb(2, "agent.response.v1", "r1", message="I look.", tool_requests=[{"tool": "kilns", "input": {}, "requestId": "q"}]),
        crumb(3, "tool.request.v1", "q1", tool="kilns", input={}, requestId="q"),
        crumb(4, "note.v1", "n1", content="Nobody said this."),
        said(5, "Which large kiln is free?", "m1", version=2),
        said(6, "And tomorrow?"),
        said(7, "Not yet said."),
    )
    first, second = sent(context("One.", 1), context("Two.", 6), crumbs=crumbs)
    texts = ["Which large kiln is free?", "\n".join(("I look.", *crumbs[1].call_signatures)), "And tomorrow?"]
    assert first[WHOLE] == first[LAST] == (STATIC + count("Which kiln is free?"), 0)
    assert second[WHOLE] == second[LAST] == (STATIC + sum(map(count, texts)), 0)


def test_the_whole_conversation_begins_as_before_and_the_last_messages_soon_do_not() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    crumbs = tuple(said(number, text) for number in range(1, 31))
    size = counter()(text)
    first, second, third = sent(*(context("Page.", number) for number in (10, 20, 30)), crumbs=crumbs)
    assert [row[WHOLE][0] for row in (first, second, third)] == [STATIC + number * size for number in (10, 20, 30)]
    assert third[LAST] == (STATIC + 20 * size, 0)
    assert third[WHOLE][1] == (STATIC + 20 * size) // 128 * 128


def test_a_page_with_a_shorter_catalog_stands_for_a_conversation_with_all_of_it() -> None:
    crumbs = tuple(said(number, WORDS) for number in range(1, 3))
    first, second = sent(context("One.", 1, static=90), context("Two.", 2, static=10), crumbs=crumbs)
    assert (first[WHOLE][0], second[WHOLE]) == (90 + counter()(WORDS), (90 + 2 * counter()(WORDS), first[WHOLE][0] // 128 * 128))


@pytest.mark.parametrize(
    ("ids", "partial", "is_whole"),
    [(["m1", "m3"], [], True), (["m2", "m3"], [], True), (["m3"], [], False), (["m1", "m3"], ["m3"], False)],
)
def test_a_page_is_whole_when_it_has_each_text_of_the_conversation_uncut(
    ids: list[str], partial: list[str], is_whole: bool
) -> None:
    crumbs = (said(1, "Hello?"), said(2, "Hello?"), said(3, "Which kiln is free?"), said(4, "Not yet said."))
    (row,) = sent_tokens([counted_page(context("One.", 3, ids=ids, partial=partial))], crumbs)
    assert (row.is_whole, row.growth) == (is_whole, row.forms[WHOLE][0])
