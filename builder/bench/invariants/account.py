"""Faults of a page: of its conversation, its finds, its dates, and the account of what is not on it."""

import json
from collections import Counter
from collections.abc import Iterator

from builder.bench.invariants.conversation import in_conversation, refusal
from builder.bench.invariants.expected_items import CUT, LINE, SHOWN_OF
from builder.bench.invariants.finds import MARK, SUMMARY, calls_beside, in_finds, nothing_unseen, rows_of_operators
from builder.bench.invariants.holes import in_pieces
from builder.bench.invariants.items import Item
from builder.bench.invariants.pieces import Piece
from builder.bench.invariants.random_texts import CONTROL
from builder.bench.invariants.reader import ACCOUNT, DATE, REPEAT, Fault, Reading, in_outline
from builder.bench.invariants.records import TOOLS, Record, text_of

MAX_MOST_RELEVANT = 50
PASSAGE_SOURCES = ("retrieval", "instructions", "window", "turn")
"""Where passages of a breadcrumb may stand."""
NEUTRALISED, PASSAGES = "neutralised", "only passages of it"


def faults(reading: Reading) -> tuple[Fault, ...]:
    """The faults of the page: kind and subject of each."""
    if reading.page is None:
        return tuple(refusal(reading))
    checks = (
        in_outline,
        in_pieces,
        in_conversation,
        refusal,
        in_finds,
        nothing_unseen,
        _dates,
        _summaries,
        _sections,
        _partial,
        _neutralised,
        _most_relevant,
        _counted,
    )
    return tuple(fault for check in checks for fault in check(reading))


def _dates(reading: Reading) -> Iterator[Fault]:
    """Above what was said on a day stands that day."""
    for source, item, record in _placed(reading):
        rule = reading.rule(source)
        if rule is None or rule.dates not in {"day", "time"}:
            continue
        day = reading.day(record, rule.dates)
        if item.date != day:
            yield DATE, f"{item.text!r:.100} of {day} stands under {item.date or 'no date'}"


def _placed(reading: Reading) -> Iterator[tuple[str, Item, Record]]:
    """Items of the conversation with their source, and the record that each begins with."""
    records = reading.events.records
    for source, pieces in reading.pieces.items():
        yield from ((source, piece.item, records[piece.entry.row]) for piece in pieces if piece.displays)
    items = reading.items("trigger")
    yield from (("trigger", item, record) for item, record in zip(reversed(items), reversed(reading.current), strict=False))


def _summaries(reading: Reading) -> Iterator[Fault]:
    """A line of a summary beside everything that it was made from, in the conversation."""
    records = reading.events.records
    whole = {
        records[row]["id"]
        for each in reading.displays
        for row, state in each.states
        if state == "whole" and not (each.entry.request and row == each.entry.row)
    }
    visible_marks = {mark for item in reading.items("summary") for mark in MARK.findall(item.text)}
    for record in records:
        for line in record["context"].get("lines", ()):
            if whole.issuperset(line["ids"]) and visible_marks.intersection(MARK.findall(line["text"])):
                yield REPEAT, f"a line of summary {record['id']} and {line['ids']}, of which it was made"


def _sections(reading: Reading) -> Iterator[Fault]:
    """Each section names what it shows, and no more tokens than it has."""
    ids = {record["id"] for record in reading.events.records} | {reading.trigger["id"]}
    for part in reading.published["sections"]:
        if list(part["ids"]) != list(part["tokens_by_id"]) or not ids.issuperset(part["ids"]):
            yield ACCOUNT, f"section {part['name']} has the ids {part['ids']} and tokens of {list(part['tokens_by_id'])}"
        if sum(part["tokens_by_id"].values()) > part["tokens"]:
            yield ACCOUNT, f"section {part['name']} has {part['tokens']} tokens, its breadcrumbs {part['tokens_by_id']}"
    records = reading.events.records
    section_ids, pieces = set(reading.ids("window")), reading.pieces["window"]
    display_ids = {records[row]["id"] for each in reading.displays_of("window") for row, _ in each.states}
    firsts = {records[each.states[0][0]]["id"] for piece in pieces if not piece.is_run for each in piece.displays}
    firsts |= {_first_call(reading, piece) for piece in pieces if piece.is_run}  # a line on calls names the first of them
    summaries = {record["id"] for record in records if record["schema_name"] == SUMMARY}
    if not firsts <= section_ids <= display_ids | summaries:
        yield ACCOUNT, f"the conversation shows {sorted(display_ids)}, its section names {sorted(section_ids)}"


def _first_call(reading: Reading, piece: Piece) -> str:
    row = next(each.entry.row for each in piece.displays if each.entry.request)
    return str(reading.events.records[row]["id"])


def _partial(reading: Reading) -> Iterator[Fault]:
    """Exactly what is cut or folded on the page is listed, and no more of it is shown than there is."""
    partial = reading.published["omissions"]["partial"]
    for each in partial:
        if each["shown"] > each["tokens"]:
            yield ACCOUNT, f"{each['id']}: {each['shown']} of {each['tokens']} tokens are shown"
    passages = {name for source in PASSAGE_SOURCES for name in reading.ids(source)}
    if strange := _listed(reading, PASSAGES) - passages:
        yield ACCOUNT, f"passages of {sorted(strange)} are listed, and nothing of them was found"
    reduced = {each["id"] for each in partial if each["reason"] not in {NEUTRALISED, PASSAGES}}
    ids = {record["id"] for record in (*reading.events.records, reading.trigger)}
    marked = ids.intersection(_marked(reading.published["content"])) | set(_of_runs(reading))
    if reduced != marked:
        yield ACCOUNT, f"in part on the page are {sorted(marked)}, omissions.partial has {sorted(reduced)}"


def _neutralised(reading: Reading) -> Iterator[Fault]:
    """Exactly what came with control text is listed."""
    neutralised = _listed(reading, NEUTRALISED)
    came = {record["id"] for record in (*reading.events.records, reading.trigger) if _has_control(record)}
    if extra := neutralised - came:
        yield ACCOUNT, f"{sorted(extra)} are listed as neutralised, and had no control text"
    if missing := set(_with_control(reading)) - neutralised:
        yield ACCOUNT, f"{sorted(missing)} had control text, and are not listed as neutralised"


def _listed(reading: Reading, reason: str) -> set[str]:
    return {each["id"] for each in reading.published["omissions"]["partial"] if each["reason"] == reason}


def _has_control(record: Record) -> bool:
    body = json.dumps(record["context"], ensure_ascii=False)
    return any(control in body for control in (*CONTROL, "\\u001b"))


def _of_runs(reading: Reading) -> Iterator[str]:
    """Ids that lines on calls say in part."""
    pieces = [*reading.pieces["window"], *reading.pieces["turn"]]
    yield from (_first_call(reading, piece) for piece in pieces if piece.is_run)
    yield from calls_beside(reading)


def _marked(markdown: str) -> Iterator[str]:
    """Ids that marks of cuts and lines of ours on the page name."""
    for line in markdown.split("\n"):
        for pattern in (CUT, SHOWN_OF):
            yield from (match["id"] for match in pattern.finditer(line) if match["id"])
        if match := LINE.fullmatch(line.strip().removeprefix("- ").removeprefix("Result: ")):
            yield match["id"]


def _with_control(reading: Reading) -> Iterator[str]:
    """Ids of messages that are whole in the conversation and came with control text."""
    records = reading.events.records
    for each in reading.displays:
        record = records[each.entry.row]
        if not each.entry.request and record["schema_name"] not in TOOLS and each.is_whole:
            yield from {record["id"] for control in CONTROL if control in text_of(record)}


def _most_relevant(reading: Reading) -> Iterator[Fault]:
    """The most relevant of what is not on the page is named, each once."""
    omissions = reading.published["omissions"]
    relevant = [each["id"] for each in omissions["most_relevant"]]
    if len(relevant) > MAX_MOST_RELEVANT or len(set(relevant)) < len(relevant):
        yield ACCOUNT, f"{len(relevant)} are named, {len(set(relevant))} of them once"
    if both := _on_page(reading).intersection(relevant):
        yield ACCOUNT, f"{sorted(both)} are named as left out and stand on the page"
    reasons = Counter(each["reason"] for each in (*omissions["partial"], *omissions["most_relevant"]))
    if too_few := {reason for reason, number in reasons.items() if number > omissions["by_reason"].get(reason, 0)}:
        yield ACCOUNT, f"by_reason counts fewer than are named: {sorted(too_few)}"


def _counted(reading: Reading) -> Iterator[Fault]:
    """All of what is not on the page is counted by reason."""
    omissions, records = reading.published["omissions"], reading.events.records
    absent = {records[row]["id"] for entry in reading.events.conversation for row in (entry.row, *entry.results)}
    absent -= {records[row]["id"] for display in reading.displays for row, _ in display.states}  # lines on calls say it
    absent -= _on_page(reading)
    left_out = sum(omissions["by_reason"].values()) - len(omissions["partial"])
    if left_out < len(absent):
        yield ACCOUNT, f"{len(absent)} of the conversation are not on the page, {left_out} are counted"
    visible = {records[row]["id"] for row in reading.events.counting} | rows_of_operators(reading)
    if left_out > len(visible):
        yield ACCOUNT, f"{left_out} are counted as left out, there are {len(visible)}"
    if absent and not omissions["most_relevant"]:
        yield ACCOUNT, f"{sorted(absent)[:5]} are not on the page, and nothing is named"


def _on_page(reading: Reading) -> set[str]:
    return {name for part in reading.published["sections"] for name in part["ids"]}
