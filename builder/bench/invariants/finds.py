"""What is wrong with what was found, and with what the consumer may not see."""

import re
from collections import Counter
from collections.abc import Iterator

from builder.bench.invariants.events import RESULTS, WORDS, Record
from builder.bench.invariants.expected_items import labels_of, words_of
from builder.bench.invariants.items import Item
from builder.bench.invariants.reader import ALTERED, LIMIT, PAIR, REPEAT, STALE, Fault, Reading

MARK = re.compile(r"q\d+x")
FOREIGN = re.compile(r"z\d+x")
"""Marks of another workspace."""
SAID_TIMES = re.compile(r" \(said \d+ times\)$")
LEFT_OUT = "[…]"
COUNTED = ("user.message.v1", "note.v1", "knowledge.v1")
"""Schemas whose finds show nothing else."""


def in_finds(reading: Reading) -> Iterator[Fault]:
    """Each shows a passage of one breadcrumb that the page does not show already; a result stands below its call."""
    records = reading.events.records
    whole = [(each.entry, row) for each in reading.displays for row, state in each.states if state == "whole"]
    wholes = [records[row] for entry, row in whole if not entry.request or row != entry.row]
    marks = {mark for record in wholes for mark in MARK.findall(str(record["context"]))} - _of_calls(reading)
    marks |= set(MARK.findall(str(reading.trigger["context"]))) if reading.current_states == ("whole",) else set()
    seen: set[str] = set()
    for item in reading.items("retrieval"):
        call = item.text.split("\nResult:")[0] if item.text.startswith("Call ") else ""
        item_marks = set(MARK.findall(item.text.removeprefix(call)))
        if again := item_marks & (marks | seen):
            yield REPEAT, f"{sorted(again)} of {item.text!r:.200} is found, and the page shows it"
        seen |= item_marks
        yield from _find(reading, item, item_marks)
    schemas = {record["id"]: record["schema_name"] for record in records}
    shown_of = Counter(schemas.get(name, "") for name in reading.ids("retrieval"))
    for schema, limit in reading.profile.retrieval.per_schema_limit.items():
        if schema in COUNTED and shown_of[schema] > limit:
            yield LIMIT, f"{shown_of[schema]} of {schema} are found, allowed are {limit}"


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


def nothing_unseen(reading: Reading) -> Iterator[Fault]:
    """Nothing on the page, and nothing in the account, is of what the consumer may not see."""
    records, counting = reading.events.records, reading.events.counting
    allowed = {records[row]["id"] for row in counting} | {reading.trigger["id"]}
    pinned = set(reading.ids("pinned")) | set(reading.ids("summary"))
    pinned |= {record["id"] for record in records if "pinned" in record["tags"] or record["schema_name"] == "tool.catalog.v1"}
    on_page = {name for part in reading.published["sections"] for name in part["ids"]}
    for name in sorted(on_page - allowed - pinned):
        yield STALE, f"{name} stands on the page"
    omissions = reading.published["omissions"]
    for each in (*omissions["most_relevant"], *omissions["partial"]):
        if each["id"] not in allowed | pinned:
            yield STALE, f"{each['id']} is in the account ({each['reason']})"
    of_mark: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        for mark in set(MARK.findall(str(record["context"]))):
            of_mark.setdefault(mark, []).append(row)
    for mark in set(MARK.findall(reading.published["content"])) - set(MARK.findall(str(reading.trigger["context"]))):
        rows = of_mark.get(mark, [])
        if rows and not any(row in counting or records[row]["id"] in pinned for row in rows):
            yield STALE, f"{mark} of {', '.join(records[row]['id'] for row in rows)} is on the page"
    if foreign := FOREIGN.findall(str(reading.page)):
        yield STALE, f"{foreign} of another workspace"
