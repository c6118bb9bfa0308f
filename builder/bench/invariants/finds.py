"""Faults of finds, of their order and signs, and of what the consumer may not see."""

import re
from collections import Counter
from collections.abc import Iterator

from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import labels_of, words_of
from builder.bench.invariants.items import Item
from builder.bench.invariants.pieces import RUN
from builder.bench.invariants.reader import (
    ALTERED,
    GAP,
    GAPS,
    HOLE,
    LIMIT,
    ORDER,
    OTHER_SESSION,
    PAIR,
    REPEAT,
    STALE,
    Fault,
    Reading,
    missing_units,
)
from builder.bench.invariants.records import RESULTS, TOOLS, WORDS, Record

MARK = re.compile(r"q\d+x")
FOREIGN = re.compile(r"z\d+x")
"""Marks of another workspace."""
SAID_TIMES = re.compile(r" \(said \d+ times\)$")
LEFT_OUT = "[…]"
SUMMARY = "summary.v1"
COUNTED = ("user.message.v1", "note.v1", "knowledge.v1")
"""Schemas whose finds show nothing else."""


def in_finds(reading: Reading) -> Iterator[Fault]:
    """Each shows a passage of one breadcrumb that the page does not show already; a result stands below its call."""
    seen = _marks_on_page(reading)
    for item in _finds(reading):
        item_marks = _marks(_without_call(item.text))
        if again := item_marks & seen:
            yield REPEAT, f"{sorted(again)} of {item.text!r:.200} is found, and the page shows it"
        seen |= item_marks
        yield from _find(reading, item, item_marks)
    yield from _limits(reading)
    yield from _calls(reading)
    yield from _in_order(reading)


def _marks(value: object) -> set[str]:
    return set(MARK.findall(str(value)))


def _marks_on_page(reading: Reading) -> set[str]:
    """Marks of what the conversation and the question show whole."""
    records, marks = reading.events.records, set[str]()
    for display in reading.displays:
        for row, state in display.states:
            is_call = display.entry.request and row == display.entry.row
            if state == "whole" and not is_call:
                marks |= _marks(records[row]["context"])
    marks -= _of_calls(reading)
    return marks | _marks(reading.trigger["context"]) if reading.current_states == ("whole",) else marks


def _limits(reading: Reading) -> Iterator[Fault]:
    """No more of a schema is found than the profile allows."""
    schemas = {record["id"]: record["schema_name"] for record in reading.events.records}
    shown_of = Counter(schemas.get(name, "") for name in reading.ids("retrieval"))
    for schema, limit in reading.profile.retrieval.per_schema_limit.items():
        if schema in COUNTED and shown_of[schema] > limit:
            yield LIMIT, f"{shown_of[schema]} of {schema} are found, allowed are {limit}"


def _finds(reading: Reading) -> list[Item]:
    return [item for item in reading.items("retrieval") if not RUN.fullmatch(item.text)]


def calls_beside(reading: Reading) -> dict[str, str]:
    """Id of what was found → the line on its calls that are not shown; calls that a limit takes need none."""
    events, pieces, lines = reading.events, reading.pieces_of("retrieval"), dict[str, str]()
    on_page = {item.text for item in reading.items("retrieval")}
    by_limit = {*events.conversation}.difference(reading.limited)
    for name in reading.ids("retrieval"):
        hidden = _hidden_calls(reading, events.first[name]) if name in events.first else []
        line = pieces.line(hidden) if hidden else ""
        if hidden and (line in on_page or not by_limit.issuperset(hidden)):
            lines[name] = line
    return lines


def _hidden_calls(reading: Reading, row: int) -> list[Entry]:
    """Calls of what came first with this row that the page shows neither in the conversation nor among what was found."""
    pieces, hidden = reading.pieces_of("retrieval"), list[Entry]()
    elsewhere = {display.entry for display in reading.displays}
    texts = [item.text for item in _finds(reading)]
    for call in reading.events.entries(row):
        if call.request and call not in elsewhere:
            is_found = call.results and any(pieces.display(call, text) for text in texts)
            hidden += () if is_found else (call,)
    return hidden


def _calls(reading: Reading) -> Iterator[Fault]:
    """Beside what was found stands a line on its other calls."""
    lines = [item.text for item in reading.items("retrieval") if RUN.fullmatch(item.text)]
    due = sorted(calls_beside(reading).values())
    if sorted(lines) != due:
        yield PAIR, f"the lines on calls are {lines}, due are {due}"


def _in_order(reading: Reading) -> Iterator[Fault]:
    """Finds are in the order of time, with a line before another conversation and a sign where something is missing."""
    events, before, sign = reading.events, -1, ""
    for line in reading.lines("retrieval"):
        if RUN.fullmatch(line.text):
            continue
        if GAP.fullmatch(line.text):
            sign = line.text
            continue
        place = _place(reading, line)
        if 0 <= place < before:
            yield ORDER, f"{line.text!r:.200} is found and stands behind what was said later"
        if place >= 0 and events.records[place]["schema_name"] not in WORDS | TOOLS:
            continue
        due = _sign(reading, before, place) if min(before, place) >= 0 else sign
        if sign != due:
            yield GAPS, f"{sign or 'nothing'} stands before {line.text!r:.100}, due is {due or 'nothing'}"
        before, sign = place, ""


def _sign(reading: Reading, before: int, place: int) -> str:
    """The sign that must stand between two rows of what was found; "" = none."""
    one, other = reading.events.sessions[before], reading.events.sessions[place]
    if one != other:
        return OTHER_SESSION
    is_here = one == reading.events.session
    return HOLE if is_here and any(before < head < place for head in missing_units(reading)[0]) else ""


def _place(reading: Reading, item: Item) -> int:
    """Row of the first version of the message or call that it shows; -1 when that is not certain."""
    events, records = reading.events, reading.events.records
    marks = set(MARK.findall(_without_call(item.text)))
    rows = [row for row in events.counting if marks & set(MARK.findall(str(records[row]["context"])))]
    if len(rows) != 1 or records[rows[0]]["schema_name"] == SUMMARY:
        return -1
    exchange = events.exchange(rows[0]) if records[rows[0]]["schema_name"] in RESULTS else None
    return events.first[records[exchange.callers[0] if exchange else rows[0]]["id"]]


def _without_call(text: str) -> str:
    """The words of an item on a message or a result."""
    return text.removeprefix(text.split("\nResult:", maxsplit=1)[0]) if text.startswith("Call ") else text


def _of_calls(reading: Reading) -> set[str]:
    """Marks that stand in arguments."""
    calls = (record["context"].get("tool_requests", record["context"].get("input", "")) for record in reading.events.records)
    return {mark for call in calls for mark in MARK.findall(str(call))}


def _find(reading: Reading, item: Item, marks: set[str]) -> Iterator[Fault]:
    rows = [row for row in reading.events.counting if marks & set(MARK.findall(str(reading.events.records[row]["context"])))]
    sources = [reading.events.records[row] for row in rows]
    if sources and not any(source["schema_name"] in reading.profile.retrieval.schemas for source in sources):
        yield STALE, f"{item.text!r:.200} is of no schema that may be found"
    for row in rows:
        is_result = reading.events.records[row]["schema_name"] in RESULTS
        is_own = reading.events.sessions[row] == reading.events.session
        if is_result and is_own and reading.events.exchange(row) and not item.text.startswith("Call "):
            yield PAIR, f"{item.text!r:.200} is found without its call"
    spoken = [source for source in sources if source["schema_name"] in WORDS]
    if spoken and len(spoken) == len(sources) and not any(_is_said_by(source, item.text, reading) for source in spoken):
        yield ALTERED, f"the find {item.text!r:.300} is not what was said"


def _is_said_by(source: Record, text: str, reading: Reading) -> bool:
    """Whether the text is a label of who said it, and passages of it."""
    label = labels_of(source, reading.trigger).match(text)
    pieces = SAID_TIMES.sub("", text[label.end() :]).removeprefix(":").split(LEFT_OUT) if label else []
    whole = _bare(words_of(source))
    return bool(label) and all(_bare(piece) in whole for piece in pieces)


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def rows_of_operators(reading: Reading) -> set[str]:
    """Ids of what stands on a page whoever may see it."""
    records = (each for each in reading.events.records if "pinned" in each["tags"] or each["schema_name"] == "tool.catalog.v1")
    return {*reading.ids("pinned"), *reading.ids("summary"), *(record["id"] for record in records)}


def nothing_unseen(reading: Reading) -> Iterator[Fault]:
    """Nothing on the page, and nothing in the account, is of what the consumer may not see."""
    records, counting = reading.events.records, reading.events.counting
    allowed = {records[row]["id"] for row in counting} | {reading.trigger["id"]}
    pinned = rows_of_operators(reading)
    on_page = {name for part in reading.published["sections"] for name in part["ids"]}
    for name in sorted(on_page - allowed - pinned):
        yield STALE, f"{name} stands on the page"
    omissions = reading.published["omissions"]
    for each in (*omissions["most_relevant"], *omissions["partial"]):
        if each["id"] not in allowed | pinned:
            yield STALE, f"{each['id']} is in the account ({each['reason']})"
    yield from _unseen_words(reading, pinned)
    if foreign := FOREIGN.findall(str(reading.page)):
        yield STALE, f"{foreign} of another workspace"


def _unseen_words(reading: Reading, pinned: set[str]) -> Iterator[Fault]:
    """pinned: ids of what is on the page whoever may see it."""
    records, counting = reading.events.records, reading.events.counting
    of_mark: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        for mark in _marks(record["context"]):
            of_mark.setdefault(mark, []).append(row)
    for mark in _marks(reading.published["content"]) - _marks(reading.trigger["context"]):
        rows = of_mark.get(mark, [])
        if rows and not any(row in counting or records[row]["id"] in pinned for row in rows):
            yield STALE, f"{mark} of {', '.join(records[row]['id'] for row in rows)} is on the page"
