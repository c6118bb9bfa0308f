"""Published contexts become tokens and money, and two pages of one trigger are compared."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from builder.app.components import counter
from builder.app.operations.published import (
    LAST,
    PAGE,
    WHOLE,
    ModelPrices,
    PriceList,
    counted_page,
    difference,
    equal_lines,
    load_prices,
    sent_tokens,
)
from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import Misconfigured
from builder.publish.event import encode
from builder.remember.decode import decode
from tests.factories import make_context, make_profile, make_remembered

STATIC = 7
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
WORDS = " ".join(f"word{number}" for number in range(1200))


def arrival(subject: str, value: Any, sequence: int = 1, minutes: float = 0) -> StreamMessage:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return StreamMessage(subject=subject, data=data, place=Place(0, sequence), received_at=NOON + timedelta(minutes=minutes))


def context(content: str, sequence: int = 1, consumer: str = "default", minutes: float = 0) -> StreamMessage:
    event = {
        "assembly": {"tokenizer": "o200k_base"},
        "workspace": "acme",
        "consumer_id": consumer,
        "session_id": "s1",
        "trigger_seq": sequence,
        "content": content,
        "sections": [{"class": "static", "tokens": STATIC}, {"class": "turn", "tokens": 4}],
    }
    return arrival(f"contexts.acme.{consumer}.s1.c{sequence}", event, minutes=minutes)


def crumb(sequence: int, schema: str, identity: str, **changes: Any) -> Any:
    record = {"id": identity, "version": changes.pop("version", 1), "context": changes}
    return decode(arrival(f"breadcrumbs.acme.s1.{schema}", record, sequence))


def said(sequence: int, words: str, identity: str = "", **changes: Any) -> Any:
    return crumb(sequence, "user.message.v1", identity or f"m{sequence}", content=words, **changes)


def sent(*contexts: StreamMessage, crumbs: tuple[Any, ...] = ()) -> list[dict[str, tuple[int, int]]]:
    return sent_tokens(map(counted_page, contexts), crumbs)


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


def test_cached_tokens_cost_what_new_ones_do_where_the_list_does_not_say() -> None:
    assert ModelPrices(input=2, cached_input=0.5).cost(1_000_000, 2_000_000) == 3
    assert ModelPrices(input=2).cost(1_000_000, 2_000_000) == 6


def test_a_list_is_yaml_or_json(tmp_path: Path) -> None:
    yaml, json_file = tmp_path / "prices.yaml", tmp_path / "prices.json"
    yaml.write_text("currency: EUR\nmodels:\n  small: {input: 1, cached_input: 0.1}\n", "utf-8")
    json_file.write_text('{"currency": "EUR", "models": {"small": {"input": 1, "cached_input": 0.1}}}', "utf-8")
    assert load_prices(yaml) == load_prices(json_file)
    assert load_prices(yaml).models["small"].cached_input == 0.1
    assert PriceList().models == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models: [", "cannot be read: line 1: a value is missing between brackets"),
        ("models: {small: {input: -1}}", "models/small/input: Input should be greater than or equal to 0"),
        ("models: {small: {inptu: 1}}", "models/small/input: Field required"),
        ("prices: {}", "prices: Extra inputs are not permitted"),
        ("- 1", "the file: Input should be a valid dictionary"),
    ],
)
def test_what_is_wrong_with_a_list_is_named_with_its_file(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(Misconfigured, match=problem) as error:
        load_prices(file)
    assert "prices.yaml" in str(error.value)


def test_a_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none\.yaml cannot be read: .*No such file"):
        load_prices(tmp_path / "none.yaml")


ROWS = [f"Glaze {number} needs two coats." for number in range(12)]
TRIGGER = make_remembered("How many coats does glaze 3 need?", 100)


def event(context: Context) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(encode(context))
    return values


def test_ids_numbers_and_no_text_say_what_a_smaller_page_loses() -> None:
    one = make_context(TRIGGER, ROWS)
    other = make_context(TRIGGER, ROWS, make_profile(budget=150))
    found = difference(event(one), "lean", event(other))
    assert [found[name] for name in ("session", "trigger", "tokens", "shadow_tokens")] == [
        "s42",
        "m100",
        one.tokens,
        other.tokens,
    ]
    assert (bool(found["lost"]), found["gained"]) == (True, [])
    assert not found["is_identical"]
    assert not any(row in json.dumps(found) for row in ROWS)


def test_equal_pages_are_identical() -> None:
    one, other = (event(make_context(TRIGGER, ROWS)) for _ in range(2))
    found = difference(one, "same", other)
    assert (found["is_identical"], found["equal_lines"], found["lost"], found["gained"]) == (True, 1, [], [])


def test_a_shadow_without_a_page_says_why() -> None:
    found = difference(event(make_context(TRIGGER, ROWS)), "lean", None, "no room")
    assert (found["shadow_tokens"], found["rejection"], found["is_identical"], found["lost"]) == (None, "no room", False, [])


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("a\nb", "a\nb", 1), ("a\nb", "b\na", 1), ("a\na", "a", 2 / 3), ("a", "b", 0), ("", "", 1), ("a\nb\nc\nd", "a\nb", 2 / 3)],
)
def test_equal_lines_are_a_share_of_all_lines_of_both(one: str, other: str, share: float) -> None:
    assert equal_lines(one, other) == pytest.approx(share)
