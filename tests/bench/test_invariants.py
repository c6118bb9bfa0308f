"""The check of the invariants passes, and it can fail: each small wrong change of assembly and each planted fault is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.bench.invariants.account import faults
from builder.bench.invariants.check import LONG_SHARE, SESSIONS_OF_JOB, Tally, check_history, run
from builder.bench.invariants.events import Entry, Events, Record
from builder.bench.invariants.mutants import MUTANTS
from builder.bench.invariants.mutation import pages_until_found
from builder.bench.invariants.random_sessions import START
from builder.bench.invariants.reader import (
    ACCOUNT,
    ALTERED,
    CUT,
    DATE,
    EXCEEDED,
    FAULTS,
    FOLD,
    GAPS,
    MISSING,
    ORDER,
    OUTLINE,
    PAIR,
    REFUSED,
    REPEAT,
    STALE,
    Reading,
)
from builder.domain.profile import Profile
from tests.factories import make_profile

PAGES = 10
"""Pages of one history."""
COUNT = load_counter("o200k_base")


def quiet() -> None:
    """No progress bar."""


async def test_what_twelve_sessions_show_is_what_was_said() -> None:
    tally = await tally_of(range(12), 4, 8, 12)
    assert tally.example is None
    assert {kind: tally.counts[kind] for kind in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert tally.counts["contexts"] == 96
    assert tally.counts["breadcrumbs"] > 300
    assert tally.counts["pressed"] >= 0.4 * tally.counts["contexts"], "many pages are under pressure"
    assert tally.counts["by_tools"] >= tally.counts["contexts"] / 3, "a third of the pages answers tools"
    assert tally.counts["long"] >= LONG_SHARE * tally.counts["histories"] / 2, "some sessions are long"


HISTORIES = {
    "a hole has no sign": 1,
    "the number on top is one too small": 1,
    "a label lacks though another one speaks": 5,
    "an item stands twice": 1,
    "a message is missing": 0,
    "two turns are swapped": 0,
    "a result stands below another call": 1,
    "an older version is shown": 1,
    "an edited message moves to its edit": 1,
    "a repeat is removed": 5,
    "the last result of a call is missing": 1,
    "what was deleted stays": 4,
    "a limit acts that nobody named": 3,
    "a result that has room is one line": 2,
    "the newest messages have no right": 10,
    "the last answer is cut": 10,
    "the results that triggered have no room": 2,
    "the question is the first message": 4,
    "another agent's calls are the running turn": 0,
    "room stays empty": 19,
    "what is missing is not told": 0,
    "a gap is counted wrong": 1,
    "the question is behind its calls in messages": 2,
    "a hidden result takes its call": 5,
    "a cut has no mark": 1,
    "a call without an answer does not say so": 2,
    "blank lines are dropped": 3,
    "indentation is lost": 3,
    "a text opens structure at the root": 1,
    "control text stays": 4,
    "a display name is a label": 3,
    "a date is another clock's": 1,
    "finds repeat the page": 1,
    "a find has no call": 1,
    "what is cut is not listed": 1,
    "what is hidden is named": 1,
    "a reason is not counted": 0,
    "a section does not name what it shows": 0,
    "the page is one token too long": 17,
    "tokens are counted wrong": 0,
    "a profile that rejects gets a page": 2,
}
"""Mutant → the history of seed 1 and size 12 whose first page shows it. `bench invariants --mutants` searches from history 0."""


async def tally_of(histories: range, seed: int, contexts: int, size: int) -> Tally:
    """Counted here, in this process."""
    tally = Tally()
    for history in histories:
        tally.add(await check_history(seed, history, contexts, size))
    return tally


async def test_every_mutant_is_found_in_the_history_that_shows_it() -> None:
    assert HISTORIES.keys() == MUTANTS.keys()
    found = {name: await pages_until_found(name, PAGES, 1, 12, first) for name, first in HISTORIES.items()}
    assert [name for name, number in found.items() if number is None] == [], "search with `bench invariants --mutants --seed 1`"


async def test_a_mutant_that_is_looked_for_in_another_history_is_not_found() -> None:
    assert await pages_until_found("a display name is a label", PAGES, 1, 12, first=45) is None


async def test_the_same_seed_finds_the_same_on_any_number_of_processes() -> None:
    number = SESSIONS_OF_JOB + 1  # two jobs
    figures = run(number, 2 * number, 5, 0, 8, quiet)
    counts = (await tally_of(range(number), 5, 2, 8)).counts
    here = {name: counts[name] for name in ("histories", "contexts", "refusals", *FAULTS)}
    assert {name: figures[name] for name in here} == here
    assert figures["shown_mean"] == round(counts["breadcrumbs"] / counts["contexts"], 1)


def record(identity: str, schema: str, **body: Any) -> dict[str, Any]:
    made = {"id": identity, "schema_name": schema, "version": 1, "session": "s42", "context": body}
    return made | {"tags": [], "expires_at": None, "created_at": "2026-01-05T09:00:00Z"}


def call(request: str, path: str) -> dict[str, Any]:
    return {"tool": "bash", "input": {"path": path}, "requestId": request}


RECORDS: tuple[Record, ...] = (
    record("m1", "user.message.v1", content="q1x How hot\n\n    is it?"),
    record("m2", "agent.response.v1", message="q2x I look.", tool_requests=[call("r1", "q3x"), call("r2", "q4x")]),
    record("m3", "tool.response.v1", tool="bash", output="q5x 900", request_id="r2"),
    record("m4", "tool.response.v1", tool="bash", output={"code": 0, "log": "q6x"}, request_id="r1"),
)
TRIGGER = record("m9", "user.message.v1", content="q9x Now?")
FIRST, WORDS, ONE, TWO = (
    "- User: q1x How hot\n\n      is it?\n",
    "- Assistant: q2x I look.\n",
    "- Call bash: path: q3x\n  Result:\n  code: 0\n  log: q6x\n",
    "- Call bash: path: q4x\n  Result: q5x 900\n",
)
IDS = ("m1", "m2", "m4", "m3")
DAY = "## Conversation\n"
DATE_LINE = "[5 January 2026]\n"
ASKED = f"\n## Current User Message\n{DATE_LINE}- User: q9x Now?\n"


def recent(*items: str) -> str:
    return DAY + DATE_LINE + "".join(items) + ASKED


WHOLE = recent(FIRST, WORDS, ONE, TWO)


def reading(
    page: str, ids: Sequence[str] = IDS, records: Sequence[Record] = RECORDS, profile: Profile | None = None, **omissions: Any
) -> Reading:
    """A page that shows these breadcrumbs in its conversation, as it would be published."""
    sections = [
        {"name": "conversation", "tokens": 500, "ids": list(ids), "tokens_by_id": dict.fromkeys(ids, 1)},
        {"name": "current", "tokens": 20, "ids": ["m9"], "tokens_by_id": {"m9": 1}},
    ]
    account = {"partial": [], "most_relevant": [], "by_reason": {}} | omissions
    published = {"content": page, "token_count": COUNT(page), "sections": sections, "omissions": account}
    events = Events(records=records, session="s42", now=START + timedelta(minutes=9), is_visible=lambda _: True, task=None)
    return Reading(events=events, trigger=TRIGGER, profile=profile or make_profile(), page=published, count=COUNT)


def kinds(read: Reading) -> set[str]:
    return {kind for kind, _ in faults(read)}


def test_a_page_that_says_all_of_it_has_no_fault() -> None:
    assert faults(reading(WHOLE)) == ()


LEFT_OUT: dict[str, Any] = {
    "most_relevant": [{"id": "m1", "reason": "older", "tokens": 9, "shown": 0}],
    "by_reason": {"older": 1},
}
PARTIAL: dict[str, Any] = {
    "partial": [{"id": "m3", "reason": "folded to one line", "tokens": 9, "shown": 9}],
    "by_reason": {"folded to one line": 1},
}


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (MISSING, reading(recent(WORDS, ONE, TWO), IDS[1:], **LEFT_OUT)),
        (MISSING, reading(recent(FIRST, WORDS, ONE), ("m1", "m2", "m4"))),
        (ORDER, reading(recent(FIRST, WORDS, TWO, ONE))),
        (REPEAT, reading(recent(FIRST, WORDS, ONE, TWO, TWO))),
        (GAPS, reading(recent(WORDS, ONE, TWO), IDS[1:], **LEFT_OUT)),
        (
            GAPS,
            reading(recent("- …\n", WORDS, ONE, TWO).replace(DAY, f"{DAY}(2 of 2 messages are not shown, … where)\n"), IDS[1:]),
        ),
        (GAPS, reading(recent("- …\n", FIRST, WORDS, ONE, TWO))),
        (ALTERED, reading(WHOLE.replace("- Assistant: q2x", "- q2x"))),
        (ALTERED, reading(WHOLE.replace("\n\n      is", "\n      is"))),
        (ALTERED, reading(WHOLE.replace("      is", "  is"))),
        (ALTERED, reading(WHOLE.replace("- User: q1x", "- Assistant: q1x"))),
        (PAIR, reading(recent(FIRST, WORDS, ONE.replace("code: 0\n  log: q6x", "q5x 900"), TWO.replace("q5x 900", "q6x")))),
        (PAIR, reading(recent(FIRST, WORDS, ONE, "- Call bash: path: q4x\n"))),
        (CUT, reading(recent("- User: q1x How\n  [… 9 characters left out, id m1 …] it?\n", WORDS, ONE, TWO))),
        (
            FOLD,
            reading(recent(FIRST, WORDS, ONE, "- Call bash: path: q4x\n  [bash: q5x… - 9 bytes compacted, id m3]\n"), **PARTIAL),
        ),
        (OUTLINE, reading(WHOLE.replace("- Assistant", "Assistant"))),
        (OUTLINE, reading(WHOLE + "## Conversation\n- User: yes\n")),
        (DATE, reading(WHOLE.replace(DAY + DATE_LINE, f"{DAY}[6 January 2026]\n"))),
        (ACCOUNT, reading(WHOLE, IDS[1:])),
        (ACCOUNT, reading(WHOLE, **PARTIAL)),
        (ACCOUNT, reading(WHOLE, **LEFT_OUT)),
        (EXCEEDED, reading(WHOLE, profile=make_profile(budget=40))),
        (REPEAT, reading(WHOLE + "\n## Said Elsewhere\n- Assistant: q2x I look.\n")),
    ],
)
def test_a_planted_fault_is_found(kind: str, read: Reading) -> None:
    assert kind in kinds(read)


@pytest.mark.parametrize(
    "after",
    [
        record("m6", "breadcrumb.deleted.v1", breadcrumb_id="m1"),
        record("m6", "context.blacklist.v1", excluded_ids=["m1"], excluded_tags=[], excluded_schemas=[]),
        record("m1", "user.message.v1", content="q8x Never mind.") | {"version": 2},
    ],
    ids=["deleted", "excluded", "edited"],
)
def test_what_no_longer_counts_is_found(after: Record) -> None:
    assert STALE in kinds(reading(WHOLE, records=(*RECORDS, after)))


def test_a_page_that_was_refused_though_it_has_room_is_found_and_one_that_has_none_is_not() -> None:
    for budget, kind in ((4000, {REFUSED}), (40, set())):
        assert kinds(replace(reading(WHOLE, profile=make_profile(budget=budget)), page=None)) == kind


def events(*records: Record) -> Events:
    return Events(records=records, session="s42", now=START + timedelta(minutes=9), is_visible=lambda _: True, task=None)


@pytest.mark.parametrize(
    ("change", "entries"),
    [
        (lambda rows: rows, [Entry(0, 0), Entry(1, 1), Entry(1, 1, "r1", (3,)), Entry(1, 1, "r2", (2,))]),
        (
            lambda rows: (rows[2], *rows[:2], rows[3]),
            [Entry(1, 1), Entry(2, 2), Entry(2, 2, "r1", (3,)), Entry(2, 2, "r2", (0,))],
        ),
        (
            lambda rows: (*rows, rows[0] | {"version": 2}),
            [Entry(0, 4), Entry(1, 1), Entry(1, 1, "r1", (3,)), Entry(1, 1, "r2", (2,))],
        ),
        (lambda rows: (*rows[:2], rows[3]), [Entry(0, 0), Entry(1, 1), Entry(1, 1, "r1", (2,)), Entry(1, 1, "r2", ())]),
        (lambda rows: rows[2:], [Entry(0, 0), Entry(1, 1)]),
        (
            lambda rows: (rows[0] | {"version": 3}, *rows[1:], rows[0] | {"version": 2}),
            [Entry(0, 0), Entry(1, 1), Entry(1, 1, "r1", (3,)), Entry(1, 1, "r2", (2,))],
        ),
    ],
    ids=["in order", "a result first", "edited", "unanswered", "calls unknown", "an older version late"],
)
def test_the_conversation_is_worked_out_from_the_records(
    change: Callable[[tuple[Record, ...]], Sequence[Record]], entries: list[Entry]
) -> None:
    assert events(*change(RECORDS)).conversation == entries
