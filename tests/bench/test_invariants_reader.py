"""The reader of the invariants finds each planted fault of a page, and none on a page that says what it should."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.bench.invariants.account import faults
from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.random_sessions import START
from builder.bench.invariants.reader import (
    ACCOUNT,
    ALTERED,
    CUT,
    DATE,
    EXCEEDED,
    FOLD,
    GAPS,
    LIMIT,
    MISSING,
    ORDER,
    OUTLINE,
    PAIR,
    REFUSED,
    REPEAT,
    STALE,
    Reading,
)
from builder.bench.invariants.records import Record
from builder.domain.profile import Profile
from tests.factories import make_profile

COUNT = load_counter("o200k_base")


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


LEFT_OUT: dict[str, Any] = {
    "most_relevant": [{"id": "m1", "reason": "older", "tokens": 9, "shown": 0}],
    "by_reason": {"older": 1},
}
RECENT, RELEVANT = "## Recent Conversation\n", "## Relevant Earlier Messages\n"
HALVES = make_profile("recall", window={"max_units": None})
HALVES = replace(HALVES, sections=tuple(replace(rule, min_share=0, max_share=1) for rule in HALVES.sections))
PRESSED = replace(HALVES, budget=230)
"""Hardly room."""


def halves(
    recent_items: Sequence[str], relevant: Sequence[str], profile: Profile = PRESSED, notes: tuple[str, str] = ("", "")
) -> Reading:
    """A page with the newest part of the conversation, and below it what was found. notes: on top of each."""
    names = {FIRST: ("m1",), WORDS: ("m2",), ONE: ("m2", "m4"), TWO: ("m2", "m3")}
    page, sections = "", []
    for title, name, items, note in ((RECENT, "recent", recent_items, notes[0]), (RELEVANT, "relevant", relevant, notes[1])):
        ids = dict.fromkeys((name for item in items for name in names.get(item, ())), 1)
        page += f"{title}{note}{DATE_LINE if items else ''}{''.join(items)}\n" if items or note else ""
        sections += [{"name": name, "tokens": len(ids), "ids": list(ids), "tokens_by_id": ids}] if items else []
    account = LEFT_OUT if not {FIRST}.intersection((*recent_items, *relevant)) else {}
    whole = reading(page + ASKED.lstrip(), profile=profile, **account)
    published = {**whole.published, "sections": [*sections, whole.published["sections"][-1]]}
    return replace(whole, page=published)


def kinds(read: Reading) -> set[str]:
    return {kind for kind, _ in faults(read)}


def test_a_page_that_says_all_of_it_has_no_fault() -> None:
    assert faults(reading(WHOLE)) == ()


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


EARLIER = "(1 earlier message is not shown)\n"


@pytest.mark.parametrize(
    "read",
    [
        halves((FIRST, WORDS, ONE, TWO), ()),
        halves((WORDS, ONE, TWO), (FIRST,)),
        halves((WORDS, ONE, TWO), (), notes=(EARLIER, "")),
    ],
)
def test_a_page_of_two_sections_that_says_what_it_should_has_no_fault(read: Reading) -> None:
    assert faults(read) == ()


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (GAPS, halves(("- …\n", WORDS, ONE, TWO), (FIRST,))),
        (GAPS, halves(("- …\n", WORDS, ONE, TWO), (), notes=(EARLIER, ""))),
        (GAPS, halves((WORDS, ONE, TWO), ())),
        (GAPS, halves((WORDS, ONE, TWO), (), notes=("(1 of 2 messages is not shown, … where)\n", ""))),
        (GAPS, halves((WORDS, ONE, TWO), (FIRST,), notes=("", EARLIER))),
        (GAPS, halves((), (FIRST, "- …\n", WORDS, ONE, TWO))),
        (ORDER, halves((), (WORDS, ONE, TWO, FIRST))),
        (ORDER, halves((WORDS, TWO, ONE), (FIRST,))),
        (PAIR, halves((), (FIRST, WORDS, ONE))),
        (PAIR, halves((WORDS, ONE), (FIRST,))),
        (REPEAT, halves((WORDS, ONE, TWO), (FIRST, WORDS))),
        (LIMIT, halves((FIRST, WORDS, ONE, TWO), (), make_profile(PRESSED, window={"max_units": 1}))),
        (LIMIT, halves((FIRST, WORDS, ONE, TWO), (), make_profile(PRESSED, window={"max_tool_turns": 0}))),
        (MISSING, halves((FIRST, WORDS, ONE), (), HALVES)),
    ],
)
def test_a_fault_of_two_sections_is_found(kind: str, read: Reading) -> None:
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
