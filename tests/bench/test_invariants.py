"""The check of the invariants passes, and it can fail: every fault that is planted is found."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.bench.invariants import check_history, pages, reading_of, run
from builder.bench.made_sessions import START
from builder.bench.page_reader import EXCEEDED, ORPHAN, REPEAT, SPLIT, STALE, Reading, Record, faults


def quiet() -> None:
    """No progress bar."""


@pytest.mark.parametrize("first", range(0, 300, 100))
async def test_three_hundred_sessions_hold_every_invariant(first: int) -> None:
    found: Counter[str] = Counter()
    for history in range(first, first + 100):
        tally = await check_history(7, history, 2, 20)
        assert tally.contexts == 2
        assert tally.example is None
        found += Counter(histories=tally.histories, shown=tally.shown)
    assert found["histories"] == 100
    assert found["shown"] > 400


@pytest.mark.slow
def test_the_same_seed_finds_the_same_on_any_number_of_processes() -> None:
    first, second = (run(40, 80, 5, 0, 8, quiet) | {"seconds": 0} for _ in range(2))
    assert first == second
    assert first["contexts"] == 80


def record(identity: str, schema: str, said: str, **more: object) -> dict[str, Any]:
    """more: fields of the body."""
    record = {"id": identity, "schema_name": schema, "version": 1, "session": "s42", "context": {"message": said} | more}
    return record | {"tags": [], "expires_at": None}


EXCHANGE = (
    record("m1", "user.message.v1", "q1x How hot is it?"),
    record("m2", "agent.response.v1", "q2x I look.", tool_requests=[{"tool": "kiln", "requestId": "r1"}]),
    record("m3", "tool.request.v1", "q3x", request_id="r1"),
    record("m4", "tool.response.v1", "q4x 900 degrees.", request_id="r1"),
    record("m5", "tool.response.v1", "q5x 901 degrees.", request_id="r1"),
)
PAGE = "## Recent\n- User: q1x How hot is it?\n- Assistant: q2x I look.\n"
RESULTS = "## Results\n- Call of kiln: q3x\n- kiln answered: q4x 900 degrees.\n- kiln answered: q5x 901 degrees.\n"


def reading(hot: tuple[str, ...], tools: tuple[str, ...], page: str = PAGE + RESULTS, **changes: object) -> Reading:
    whole = Reading(
        records=EXCHANGE,
        now=START,
        hears=lambda _: True,
        task=None,
        sections=(("hot", hot), ("tools", tools), ("trigger", ("m9",))),
        markdown=page,
        limit=1000,
        count=load_counter("o200k_base"),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def kinds(reading: Reading) -> set[str]:
    return {kind for kind, _ in faults(reading)}


def test_a_whole_exchange_and_one_without_its_results_are_in_order() -> None:
    assert faults(reading(("m1", "m2"), ("m3", "m4", "m5"))) == ()
    assert faults(reading(("m1", "m2"), (), PAGE)) == ()
    assert faults(reading(("m1",), (), "- User: q1x How hot is it?\n")) == ()


def test_a_planted_split_is_found() -> None:
    assert kinds(reading(("m1", "m2"), ("m3", "m4"), PAGE + "q3x q4x")) == {SPLIT}


def test_a_planted_orphan_is_found() -> None:
    assert kinds(reading(("m1",), ("m3", "m4", "m5"), "q1x" + RESULTS)) == {ORPHAN}


def test_a_planted_repeat_is_found() -> None:
    assert kinds(reading(("m1", "m2"), ("m3", "m4", "m5"), PAGE + RESULTS + "- User: q1x How hot is it?\n")) == {REPEAT}


def test_a_summary_of_what_the_conversation_tells_itself_is_a_repeat() -> None:
    lines = [{"text": "q6x Somebody asked.", "ids": ["m1"]}]
    summary = record("m6", "summary.v1", "", lines=lines)
    shown = reading(("m1",), (), "q6x Somebody asked. q1x How hot is it?", records=(*EXCHANGE, summary))
    assert kinds(shown) == {REPEAT}


def test_a_page_above_the_budget_is_found() -> None:
    assert kinds(reading(("m1", "m2"), ("m3", "m4", "m5"), limit=20)) == {EXCEEDED}


@pytest.mark.parametrize(
    "after",
    [
        record("m4", "tool.response.v1", "q7x Now 950.", request_id="r1"),
        record("m6", "breadcrumb.deleted.v1", "", breadcrumb_id="m4"),
        record("m6", "context.blacklist.v1", "", excluded_ids=["m4"], excluded_tags=[], excluded_schemas=[]),
    ],
    ids=["edited", "deleted", "excluded"],
)
def test_what_no_longer_counts_is_found(after: Record) -> None:
    assert STALE in kinds(reading(("m1", "m2"), ("m3", "m4", "m5"), records=(*EXCHANGE, after)))


def test_what_has_ended_is_found() -> None:
    ended = dict(EXCHANGE[0]) | {"expires_at": START.isoformat()}
    assert kinds(reading(("m1", "m2"), ("m3", "m4", "m5"), records=(ended, *EXCHANGE[1:]))) == {STALE}


async def served() -> AsyncIterator[Reading]:
    for history in range(60):
        async for records, profile, page in pages(11, history, 1, 20):
            if page is not None:
                yield reading_of(records, profile, page)


async def test_real_pages_with_something_planted_are_found_too() -> None:
    found: Counter[str] = Counter()
    async for page in served():
        assert faults(page) == ()
        conversation = [(source, tuple(ids)) for source, ids in page.sections if source == "tools" and len(ids) > 1]
        for source, ids in conversation:
            torn = tuple((name, ids[1:] if (name, tuple(held)) == (source, ids) else held) for name, held in page.sections)
            found.update({kind for kind, _ in faults(replace(page, sections=torn))})
        found.update({kind for kind, _ in faults(replace(page, markdown=page.markdown * 2, limit=10**6))})
        found.update({kind for kind, _ in faults(replace(page, limit=3))})
    assert found[SPLIT] + found[ORPHAN] > 3
    assert found[REPEAT] > 30
    assert found[EXCEEDED] == 60


async def test_a_wish_said_twice_is_not_found_beside_the_standing_instruction_that_says_it() -> None:
    """The one fault that 100,000 sessions found once answers of no session were made too."""
    tally = await check_history(seed=4, history=14_954, contexts=1, size=8)
    assert (tally.contexts, tally.example) == (1, None)
