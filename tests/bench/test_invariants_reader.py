"""The reader of the invariants: what no random page shows it. Faults of pages: the mutants of test_invariants."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builder.adapters.tokens import load_counter
from builder.bench.invariants.account import faults
from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.random_sessions import START
from builder.bench.invariants.reader import CUT, LIMIT, REFUSED, STALE, Reading
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
IDS = ("m1", "m2", "m4", "m3")
WHOLE = (
    "## Conversation\n[5 January 2026]\n- User: q1x How hot\n\n      is it?\n- Assistant: q2x I look.\n"
    "- Call bash: path: q3x\n  Result:\n  code: 0\n  log: q6x\n- Call bash: path: q4x\n  Result: q5x 900\n"
    "\n## Current User Message\n[5 January 2026]\n- User: q9x Now?\n"
)


def reading(page: str, records: Sequence[Record] = RECORDS, profile: Profile | None = None) -> Reading:
    """A page that shows all of `RECORDS` in its conversation, as it would be published."""
    profile = profile or make_profile()
    name = next(rule.name for rule in profile.sections if rule.source in {"window", "conversation"})
    sections = [
        {"name": name, "tokens": 500, "ids": list(IDS), "tokens_by_id": dict.fromkeys(IDS, 1)},
        {"name": "current", "tokens": 20, "ids": ["m9"], "tokens_by_id": {"m9": 1}},
    ]
    account: dict[str, Any] = {"partial": [], "most_relevant": [], "by_reason": {}}
    published = {"content": page, "token_count": COUNT(page), "sections": sections, "omissions": account}
    events = Events(records=records, session="s42", now=START + timedelta(minutes=9), is_visible=lambda _: True, task=None)
    return Reading(events=events, trigger=TRIGGER, profile=profile, page=published, count=COUNT)


def kinds(read: Reading) -> set[str]:
    return {kind for kind, _ in faults(read)}


def test_a_page_that_says_all_of_it_has_no_fault() -> None:
    assert faults(reading(WHOLE)) == ()


def test_what_no_mutant_does_is_found() -> None:
    assert CUT in kinds(reading(WHOLE.replace("How hot\n\n      is", "How\n  [… 9 characters left out, id m1 …]")))
    for limit in ({"max_units": 1}, {"max_tool_turns": 0}):
        profile = make_profile("recall", budget=230, window={"max_units": None} | limit)
        assert LIMIT in kinds(reading(WHOLE.replace("## Conv", "## Recent Conv"), profile=profile))


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
