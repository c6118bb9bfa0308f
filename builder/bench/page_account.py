"""What is wrong with finds, dates, and the account of what is not on the page."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from builder.bench.events import RESULTS, TOOLS, Record, said
from builder.bench.expected_items import CUT, LINE, SHOWN_OF, visible
from builder.bench.made_texts import CONTROL
from builder.bench.page_conversation import in_conversation, refusal
from builder.bench.page_items import Item
from builder.bench.page_reader import ACCOUNT, ALTERED, DATE, PAIR, REPEAT, STALE, Fault, Reading, on_page

MARK = re.compile(r"q\d+x")
FOREIGN = re.compile(r"z\d+x")
"""Marks of another workspace."""
NAMED = 50
LABEL = re.compile(r"""(?:[^:"]*"[^"]*"|[^:"]*):\s+""")
SAID_TIMES = re.compile(r" \(said \d+ times\)$")
NEUTRALISED = "neutralised"


def faults(reading: Reading) -> tuple[Fault, ...]:
    """What is wrong with the page: kind, and what it is about; empty when nothing is."""
    if reading.page is None:
        return tuple(refusal(reading))
    checks = (on_page, in_conversation, refusal, _finds, _unseen, _dates, _summaries, _sections, _partial, _absent)
    return tuple(fault for check in checks for fault in check(reading))


def _finds(reading: Reading) -> Iterator[Fault]:
    """Each shows a passage of one breadcrumb that the page does not show already; a result stands below its call."""
    records = reading.events.records
    shown = [(each.entry, row) for each in reading.recent[0] for row, state in each.states if state == "whole"]
    wholes = [records[row] for entry, row in shown if not entry.request or row != entry.row]
    marks = {mark for record in wholes for mark in MARK.findall(str(record["context"]))} - _of_calls(reading)
    marks |= set(MARK.findall(str(reading.trigger["context"]))) if reading.trigger_state == "whole" else set()
    seen: set[str] = set()
    for item in reading.items("retrieval"):
        call = item.text.split("\nResult:")[0] if item.text.startswith("Call ") else ""
        found = set(MARK.findall(item.text.removeprefix(call)))
        if again := found & (marks | seen):
            yield REPEAT, f"{sorted(again)} of {item.text!r:.200} is found, and the page shows it"
        seen |= found
        yield from _find(reading, item, found)


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
        if is_result and is_own and reading.events.exchange_of(row) and not item.text.startswith("Call "):
            yield PAIR, f"{item.text!r:.200} is found without its call"
    words = [_bare(visible(said(source))) for source in sources if source["schema_name"] not in TOOLS and _speaks(source)]
    if words and len(words) == len(sources):
        text = SAID_TIMES.sub("", item.text)
        pieces = [_bare(piece) for piece in text[len(LABEL.match(text)[0]) if LABEL.match(text) else 0 :].split("[…]")]
        if not any(all(piece in whole for piece in pieces) for whole in words) and "[image" not in text:
            yield ALTERED, f"the find {item.text!r} is not what was said"


def _speaks(record: Record) -> bool:
    return any(record["context"].get(name) is not None for name in ("content", "message", "text"))


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _unseen(reading: Reading) -> Iterator[Fault]:
    """Nothing on the page, and nothing in the account, is of what the consumer may not see."""
    records, counting = reading.events.records, reading.events.counting
    allowed = {records[row]["id"] for row in counting} | {reading.trigger["id"]}
    pinned = set(reading.ids("pinned")) | set(reading.ids("summary"))
    shown = {name for part in reading.published["sections"] for name in part["ids"]}
    for name in sorted(shown - allowed - pinned):
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


def _dates(reading: Reading) -> Iterator[Fault]:
    """Above what was said on a day stands that day, once the conversation spans more than one from its first message to now."""
    rule = reading.rule("hot")
    if rule is None or rule.dates != "day":
        return
    found, _ = reading.recent
    items = reading.items("hot")[-len(found) :] if found else []
    days = [_day(reading, reading.events.records[each.entry.row]) for each in found]
    first = _day(reading, reading.events.records[reading.events.conversation[0].row]) if found else ""
    for item, day in zip(items, days, strict=True):
        if item.date not in {"", day}:
            yield DATE, f"{item.text!r:.100} of {day} stands under {item.date}"
        elif not item.date and len(set(days)) > 1 and first != _day(reading, reading.trigger):
            yield DATE, f"{item.text!r:.100} of {day} has no date"


def _day(reading: Reading, record: Record) -> str:
    """By the sender's clock, else in the profile's zone."""
    sent = record["created_at"]
    moment = datetime.fromisoformat(sent)
    day = moment.astimezone(reading.profile.time_zone) if sent.endswith("Z") else moment
    return f"{day.day} {day:%B %Y}"


def _summaries(reading: Reading) -> Iterator[Fault]:
    """A line of a summary beside everything that it was made from, in the conversation."""
    records = reading.events.records
    whole = {
        records[row]["id"]
        for each in reading.recent[0]
        for row, state in each.states
        if state == "whole" and not (each.entry.request and row == each.entry.row)
    }
    shown = {mark for item in reading.items("summary") for mark in MARK.findall(item.text)}
    for record in records:
        for line in record["context"].get("lines", ()):
            if whole.issuperset(line["ids"]) and shown.intersection(MARK.findall(line["text"])):
                yield REPEAT, f"a line of summary {record['id']} and {line['ids']}, of which it was made"


def _sections(reading: Reading) -> Iterator[Fault]:
    """Each section names what it shows, and no more tokens than it has."""
    known = {record["id"] for record in reading.events.records} | {reading.trigger["id"]}
    for part in reading.published["sections"]:
        if list(part["ids"]) != list(part["tokens_by_id"]) or not known.issuperset(part["ids"]):
            yield ACCOUNT, f"section {part['name']} has the ids {part['ids']} and tokens of {list(part['tokens_by_id'])}"
        if sum(part["tokens_by_id"].values()) > part["tokens"]:
            yield ACCOUNT, f"section {part['name']} has {part['tokens']} tokens, its breadcrumbs {part['tokens_by_id']}"
    records = reading.events.records
    named, shown = set(reading.ids("hot")), {records[row]["id"] for each in reading.recent[0] for row, _ in each.states}
    if named != shown and len(reading.recent[0]) == len(reading.items("hot")):
        yield ACCOUNT, f"the conversation shows {sorted(shown)}, its section names {sorted(named)}"


def _partial(reading: Reading) -> Iterator[Fault]:
    """What is cut, folded or neutralised on the page is listed, nothing else is, and of nothing more is shown than there is."""
    partial = reading.published["omissions"]["partial"]
    for each in partial:
        if each["shown"] > each["tokens"]:
            yield ACCOUNT, f"{each['id']}: {each['shown']} of {each['tokens']} tokens are shown"
    reduced = {each["id"] for each in partial if each["reason"] != NEUTRALISED}
    known = {record["id"] for record in reading.events.records} | {reading.trigger["id"]}
    marked = {name for name in _marked(reading.published["content"]) if name in known}
    if reduced != marked:
        yield ACCOUNT, f"in part on the page are {sorted(marked)}, omissions.partial has {sorted(reduced)}"
    neutralised = {each["id"] for each in partial if each["reason"] == NEUTRALISED}
    missing = set(_with_control(reading)) - neutralised
    if missing:
        yield ACCOUNT, f"{sorted(missing)} had control text, and are not listed as neutralised"


def _marked(markdown: str) -> Iterator[str]:
    """Ids that marks of cuts and lines of ours on the page name."""
    for line in markdown.split("\n"):
        for pattern in (CUT, SHOWN_OF):
            yield from (found["id"] for found in pattern.finditer(line) if found["id"])
        if found := LINE.fullmatch(line.strip().removeprefix("- ").removeprefix("Result: ")):
            yield found["id"]


def _with_control(reading: Reading) -> Iterator[str]:
    """Ids of messages that are whole in the conversation and came with control text."""
    records = reading.events.records
    for each in reading.recent[0]:
        record = records[each.entry.row]
        if not each.entry.request and record["schema_name"] not in TOOLS and each.is_whole:
            yield from {record["id"] for control in CONTROL if control in said(record)}


def _absent(reading: Reading) -> Iterator[Fault]:
    """Of what is not on the page the most relevant is named, and all of it is counted by reason."""
    omissions = reading.published["omissions"]
    named = [each["id"] for each in omissions["most_relevant"]]
    shown = {name for part in reading.published["sections"] for name in part["ids"]}
    if len(named) > NAMED or len(set(named)) < len(named):
        yield ACCOUNT, f"{len(named)} are named, {len(set(named))} of them once"
    if both := shown.intersection(named):
        yield ACCOUNT, f"{sorted(both)} are named as left out and stand on the page"
    reasons = Counter(each["reason"] for each in (*omissions["partial"], *omissions["most_relevant"]))
    if too_few := {reason for reason, number in reasons.items() if number > omissions["by_reason"].get(reason, 0)}:
        yield ACCOUNT, f"by_reason counts fewer than are named: {sorted(too_few)}"
    records = reading.events.records
    own = {records[row]["id"] for entry in reading.events.conversation for row in (entry.row, *entry.results)}
    left_out = sum(omissions["by_reason"].values()) - len(omissions["partial"])
    if left_out < len(own - shown):
        yield ACCOUNT, f"{len(own - shown)} of the conversation are not on the page, {left_out} are counted"
    if own - shown and not named:
        yield ACCOUNT, f"{sorted(own - shown)[:5]} are not on the page, and nothing is named"
