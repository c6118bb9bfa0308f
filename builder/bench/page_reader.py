"""Read a page by brute force, knowing only the records and what the consumer may see, and say what is wrong with it.

Nothing of the pipeline is called here: what a unit is, what counts and what is on the page are worked out anew, slowly.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MARK = re.compile(r"q\d+x")
RESULTS = frozenset({"tool.response.v1", "tool.error.v1"})
TOOLS = RESULTS | {"tool.request.v1"}
OF_MESSAGES = frozenset({"hot", "tools", "retrieval", "instructions"})
NOWHERE = "_"
SPLIT, REPEAT, ORPHAN, STALE, EXCEEDED = FAULTS = ("splits", "repeats", "orphans", "stale", "exceeded")
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a consumer may see, and the page it got.

    records: as sent, up to the trigger (left out). now: the trigger's time.
    hears: a record's tags → whether it is this consumer's. task: the only one it sees, None = all.
    sections: source and ids of each section of the page, in page order. limit: most tokens. count: text → tokens.
    """

    records: Sequence[Record]
    now: datetime
    hears: Callable[[Sequence[str]], bool]
    task: str | None
    sections: Sequence[tuple[str, Sequence[str]]]
    markdown: str
    limit: int
    count: Callable[[str], int]


@dataclass(slots=True)
class _Unit:
    """rows: numbers of the records that share calls or are versions of one another."""

    rows: list[int]
    marks: set[tuple[str, str]] = field(default_factory=set)


def faults(reading: Reading) -> tuple[tuple[str, str], ...]:
    """What is wrong with the page: kind, and what it is about; empty when nothing is."""
    counting = _counting(reading)
    shown = frozenset(held for source, ids in reading.sections if source != "trigger" for held in ids)
    anchored = frozenset(held for source, ids in reading.sections if source == "pinned" for held in ids)
    return (
        *_too_many_tokens(reading),
        *_said_twice(reading),
        *_told_twice(reading),
        *_outdated(reading, counting),
        *(fault for unit in _units(reading.records) for fault in _torn(reading, unit, counting, shown, anchored)),
    )


def _too_many_tokens(reading: Reading) -> Iterable[tuple[str, str]]:
    tokens = reading.count(reading.markdown)
    if tokens > reading.limit:
        yield EXCEEDED, f"{tokens} tokens, allowed are {reading.limit}"


def _said_twice(reading: Reading) -> Iterable[tuple[str, str]]:
    for mark, times in Counter(MARK.findall(reading.markdown)).items():
        if times > 1:
            yield REPEAT, f"{mark} stands {times} times on the page"


def _told_twice(reading: Reading) -> Iterable[tuple[str, str]]:
    """A line of a summary beside everything that it was made from, in the conversation."""
    recent = {held for source, ids in reading.sections if source == "hot" for held in ids}
    on_page = set(MARK.findall(reading.markdown))
    for record in reading.records:
        for line in record["context"].get("lines", ()):
            if recent.issuperset(line["ids"]) and on_page.intersection(MARK.findall(line["text"])):
                yield REPEAT, f"a line of summary {record['id']} and {line['ids']}, of which it was made"


def _outdated(reading: Reading, counting: frozenset[int]) -> Iterable[tuple[str, str]]:
    """Ids or words of what was replaced, removed, excluded, has ended or is somebody else's."""
    allowed = {reading.records[row]["id"] for row in counting}
    for source, ids in reading.sections:
        for held in ids if source in OF_MESSAGES else ():
            if held not in allowed:
                yield STALE, f"{held} stands in {source}"
    known: dict[str, list[int]] = {}
    for row, record in enumerate(reading.records):
        for mark in set(MARK.findall(str(record["context"]))):
            known.setdefault(mark, []).append(row)
    standing = {held for source, ids in reading.sections if source not in OF_MESSAGES for held in ids}
    for mark in set(MARK.findall(reading.markdown)):
        rows = known.get(mark, [])
        if rows and not any(row in counting or reading.records[row]["id"] in standing for row in rows):
            yield STALE, f"{mark} of {', '.join(reading.records[row]['id'] for row in rows)} is on the page"


def _torn(
    reading: Reading, unit: _Unit, counting: frozenset[int], shown: frozenset[str], anchored: frozenset[str]
) -> Iterable[tuple[str, str]]:
    """Without calls and results on the page what was said with them may stay (features A7), all of it or what is anchored."""
    rows = [row for row in unit.rows if row in counting]
    tools = {reading.records[row]["id"] for row in rows if reading.records[row]["schema_name"] in TOOLS}
    said = {reading.records[row]["id"] for row in rows} - tools
    if tools & shown and tools - shown:
        yield SPLIT, f"{sorted(tools & shown)} without {sorted(tools - shown)}"
    elif tools & shown and said - shown:
        yield ORPHAN, f"{sorted(tools & shown)} without {sorted(said - shown)}"
    elif said & shown - anchored and said - shown:
        yield SPLIT, f"{sorted(said & shown)} without {sorted(said - shown)}"


def _counting(reading: Reading) -> frozenset[int]:
    """Records that may be on the page: newest version, not removed, not ended, not excluded, this consumer's."""
    newest: dict[str, int] = {}
    for row, record in enumerate(reading.records):
        removed = record["context"].get("breadcrumb_id", "") if record["schema_name"] == "breadcrumb.deleted.v1" else ""
        older = newest.get(removed)
        if older is not None and record["session"] in {NOWHERE, reading.records[older]["session"]}:
            del newest[removed]
        if record["schema_name"] != "breadcrumb.deleted.v1":
            newest[record["id"]] = row
    gone = {row for row in newest.values() if _is_gone(reading, row)}
    counting: set[int] = set()
    for unit in _units(reading.records):
        current = [row for row in unit.rows if newest.get(reading.records[row]["id"]) == row]
        torn = any(row in gone for row in current)
        mine = any(_is_mine(reading, reading.records[row]) for row in unit.rows)
        counting.update(row for row in current if mine and row not in gone and not (torn and _is_tool(reading.records[row])))
    return frozenset(counting)


def _is_tool(record: Record) -> bool:
    return record["schema_name"] in TOOLS


def _is_mine(reading: Reading, record: Record) -> bool:
    """By its tags, and by its task where the consumer sees only one."""
    task = next((tag.removeprefix("task:") for tag in record["tags"] if tag.startswith("task:")), "")
    return reading.hears(record["tags"]) and reading.task in {None, task}


def _is_gone(reading: Reading, row: int) -> bool:
    """Whether it has ended, or the latest blacklist names it."""
    record = reading.records[row]
    if record["expires_at"] and datetime.fromisoformat(record["expires_at"]) <= reading.now:
        return True
    lists = [held["context"] for held in reading.records if _is_blacklist(reading, held)]
    return bool(lists) and (
        record["id"] in lists[-1]["excluded_ids"]
        or not set(record["tags"]).isdisjoint(lists[-1]["excluded_tags"])
        or record["schema_name"] in {line["schema_name"] for line in lists[-1]["excluded_schemas"]}
    )


def _is_blacklist(reading: Reading, record: Record) -> bool:
    """Whether it holds: nobody has removed it."""
    later = (other["context"].get("breadcrumb_id") for other in reading.records)
    return record["schema_name"] == "context.blacklist.v1" and record["id"] not in set(later)


def _units(records: Sequence[Record]) -> list[_Unit]:
    """Everything that shares a request id or an id within a session, directly or through others.

    A result of no session is one of the only session that had asked by then.
    """
    units: list[_Unit] = []
    askers: dict[str, set[str]] = {}
    for row, record in enumerate(records):
        answered, asked = _calls(record)
        named = [*answered, *asked]
        session = record["session"]
        if answered and session == NOWHERE:
            known = askers.get(answered[0], set())
            session = next(iter(known)) if len(known) == 1 else NOWHERE
        for call in asked if session != NOWHERE else ():
            askers.setdefault(call, set()).add(session)
        marks = {(session, f"id {record['id']}"), *((session, f"call {call}") for call in named)}
        joined = _Unit([row], marks)
        apart = []
        for unit in units:
            if unit.marks & marks:
                joined.rows += unit.rows
                joined.marks |= unit.marks
            else:
                apart.append(unit)
        units = [*apart, joined]
    return units


def _calls(record: Record) -> tuple[list[str], list[str]]:
    """The request ids that it answers, and those under which it asks."""
    body = record["context"]
    own = [body[name] for name in ("request_id", "requestId") if body.get(name)]
    asked = [call["requestId"] for call in body.get("tool_requests", ()) if call.get("requestId")]
    return (own, asked) if record["schema_name"] in RESULTS else ([], [*own, *asked])
