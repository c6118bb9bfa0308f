"""Faults of a conversation with holes: order, signs and number of what is missing, labels, rules."""

import re
from collections.abc import Iterator

from builder.bench.invariants.estimates import FRAME_TOKENS, NOTE_TOKENS, ample
from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import labels_of
from builder.bench.invariants.pieces import LEFT_OUT, Piece
from builder.bench.invariants.random_sessions import WISHES
from builder.bench.invariants.reader import (
    ALTERED,
    CUT,
    GAP,
    GAPS,
    HOLE,
    MISSING,
    ORDER,
    OUTLINE,
    PAIR,
    REPEAT,
    STALE,
    Fault,
    Reading,
    missing_units,
)
from builder.bench.invariants.records import TOOLS, WORDS, Record, calls_of
from builder.bench.invariants.turns import is_of_turn

COUNT = re.compile(r"\((?P<missing>[\d,]+) of (?P<all>[\d,]+) messages (?:is|are) not shown, … where\)")
EARLIER = re.compile(r"\((?P<missing>[\d,]+) earlier messages? (?:is|are) not shown\)")
COLON = re.compile(r"[:\uff1a\ufe55\ufe13\u2236\ua789\u02d0\u05c3\u0589]")
"""Signs that end a label, and those that look like one."""
CALLS = re.compile(r"(?:Call|Tool)\b", re.IGNORECASE)
LABEL_CHARS = 200
"""The beginning of a text, which a reader may take for a label."""
SECTIONS = ("window", "turn")
PART_TOKENS = 90
"""Most tokens of a part of a message with its label."""


def in_pieces(reading: Reading) -> Iterator[Fault]:
    """Everything that is wrong with the parts of the conversation."""
    if strangers := list(_strangers(reading)):
        yield from strangers
        return
    yield from _twice(reading)
    yield from _running(reading)
    yield from _signs(reading)
    yield from _count(reading)
    yield from _edge(reading)
    yield from _calls_of_words(reading)
    yield from _labels(reading)
    yield from _rules(reading)
    if not reading.published["content"].strip() and reading.limit >= NOTE_TOKENS:
        yield MISSING, "the page is empty"


def _strangers(reading: Reading) -> Iterator[Fault]:
    """Items that are none of what is due."""
    for source in SECTIONS:
        pieces, items = reading.pieces[source], reading.items(source)
        if len(pieces) == len(items):
            continue
        text = items[-len(pieces) - 1].text
        present = {display.entry for piece in pieces for display in piece.displays}
        kind = _kind(reading, source, text, present)
        yield kind, f"{text!r:.300} stands in {source} before {pieces[0].item.text if pieces else 'its end'!r:.100}"


def _kind(reading: Reading, source: str, text: str, present: set[Entry]) -> str:
    for entry in reading.events.conversation:
        if reading.pieces_of(source).display(entry, text):
            return REPEAT if entry in present else ORDER
    ids = {part.split(" ")[0].rstrip("]") for part in text.split("id ")[1:]}
    visible_ids = {record["id"] for row, record in enumerate(reading.events.records) if row in reading.events.counting}
    if text.startswith("Call "):
        return PAIR
    return STALE if ids and not ids & visible_ids else ALTERED


def _twice(reading: Reading) -> Iterator[Fault]:
    seen: set[Entry] = set()
    for display in reading.displays:
        if display.entry in seen:
            yield REPEAT, f"{_name(reading, display.entry)} stands twice"
        seen.add(display.entry)


def _running(reading: Reading) -> Iterator[Fault]:
    """In the running turn stands what the agent has done since the question, and no call of it stands elsewhere."""
    if not reading.turn or reading.rule("window") is None:
        return
    first = reading.questions[0].turn if reading.questions else -1
    for source in SECTIONS:
        for entry in (display.entry for display in reading.displays_of(source) if display.entry not in reading.turn):
            is_own = reading.events.is_own(reading.events.records[entry.row])
            may = source == "window" or (reading.questions and entry.turn > first and is_own)
            if not may or (source == "window" and is_of_turn(reading.events, entry, reading.turn, reading.questions)):
                yield ORDER, f"{_name(reading, entry)} stands in {source}"


def _signs(reading: Reading) -> Iterator[Fault]:
    """A sign stands where something is missing before an item, and nowhere else."""
    missing, _ = missing_units(reading)
    for source in SECTIONS:
        is_start = source == "window" and reading.is_one
        last = next((piece.place for piece in reading.pieces[source] if not is_start), -1)
        pieces, is_open = iter(reading.pieces[source]), False
        for line in reading.lines(source):
            if GAP.fullmatch(line.text):
                if is_open or line.text != HOLE:
                    yield GAPS, f"{line.text} is no sign, or stands below one"
                is_open = True
                continue
            piece = next(pieces)
            hidden = [head for head in missing if last < head < piece.place]
            if bool(hidden) != is_open:
                yield (
                    GAPS,
                    f"{len(hidden)} are missing before {piece.item.text!r:.100}, {'a' if is_open else 'no'} sign stands there",
                )
            last, is_open = max([last, piece.place, *(display.entry.turn for display in piece.displays)]), False
        if is_open:
            yield GAPS, "a sign stands at the end"


def _count(reading: Reading) -> Iterator[Fault]:
    """The number on top is true; it may lack where it has no room.

    In two sections without holes it is the number of earlier messages.
    """
    missing, number = missing_units(reading)
    above = "retrieval" if not reading.is_one and reading.items("retrieval") else "window"
    lines = [line.text for source in ("window", "retrieval") for line in reading.lines(source)]
    has_holes = reading.is_one or HOLE in lines
    due = [(above, f"{len(missing):,} of {number:,}" if has_holes else f"{len(missing):,}")] if missing else []
    notes = list(_notes(reading))
    is_due = reading.rule(above) is not None and (notes or reading.limit - reading.used >= NOTE_TOKENS)
    if notes != due and is_due:
        yield GAPS, f"the notes are {notes}, missing of all are {due}"


def _notes(reading: Reading) -> Iterator[tuple[str, str]]:
    """Source and numbers of each note on what is missing."""
    for source in ("window", "retrieval"):
        for note in reading.notes(source):
            if match := COUNT.fullmatch(note) or EARLIER.fullmatch(note):
                yield source, " of ".join(match.groups())


def _edge(reading: Reading) -> Iterator[Fault]:
    """The newest part is in one piece: no words that have room are missing between its newest item and the question."""
    missing, _ = missing_units(reading)
    events = reading.events
    displays = (each for source in SECTIONS for piece in reading.pieces[source] for each in piece.displays)
    newest = max((each.entry.turn for each in displays if each.entry not in reading.turn), default=-1)
    late = [entry for entry in events.conversation if entry.turn > newest >= 0 and events.units[entry.turn] in missing]
    spoken = [entry for entry in late if not entry.request and events.records[entry.row]["schema_name"] not in TOOLS]
    room = reading.limit - reading.used - FRAME_TOKENS
    may = reading.profile.fill and reading.profile.window.max_units is None
    if spoken and may and min(ample(spoken[-1], reading), PART_TOKENS) <= room:
        yield MISSING, f"{_name(reading, spoken[-1])} has room between the newest item and the question"


def _calls_of_words(reading: Reading) -> Iterator[Fault]:
    """Words stand with all of their calls."""
    present = {display.entry for display in reading.displays}
    for entry in present:
        record = reading.events.records[entry.row]
        if entry.request or record["schema_name"] in TOOLS or not calls_of(record)[1] or entry in reading.questions:
            continue
        calls = [each for each in reading.limited if each.request and each.turn == entry.turn]
        if lacking := [each for each in calls if each not in present]:
            yield PAIR, f"{_name(reading, entry)} stands without {len(lacking)} of its {len(calls)} calls"


def _labels(reading: Reading) -> Iterator[Fault]:
    """A label is left out only where the same speaker spoke directly before on that day, and no text then seems to have one."""
    for source in SECTIONS:
        above, before, pieces = "", None, iter(reading.pieces[source])
        for line in reading.lines(source):
            piece = None if GAP.fullmatch(line.text) else next(pieces)
            if piece is None or not _is_message(reading, piece):
                above, before = "", None
                continue
            if not piece.label:
                name, beginning = piece.item.text[:80], piece.item.text.split("\n")[0][:LABEL_CHARS]
                if not (before and above and _is_of_speaker(reading, above, before, piece)):
                    yield ALTERED, f"{name!r} has no label, and {above or 'nobody'} spoke before it"
                if _seems_labelled(beginning):
                    yield OUTLINE, f"{name!r} has no label, and seems to have one"
            above, before = piece.label or above, piece


def _seems_labelled(beginning: str) -> bool:
    return bool(COLON.search(beginning) or CALLS.match(beginning))


def _is_message(reading: Reading, piece: Piece) -> bool:
    return (
        bool(piece.displays) and not piece.is_run and _record(reading, piece)["schema_name"] in WORDS and not piece.entry.request
    )


def _record(reading: Reading, piece: Piece) -> Record:
    return reading.events.records[piece.entry.row]


def _is_of_speaker(reading: Reading, label: str, before: Piece, piece: Piece) -> bool:
    """Whether the one that spoke under this label says the next item, on the same day."""
    one, other = _record(reading, before), _record(reading, piece)
    people = [record["context"].get("user_id") or record["session"] for record in (one, other)]
    is_same = len(set(people)) == 1 or not label.startswith("Another user")
    return bool(is_same and labels_of(other, reading.trigger).fullmatch(label)) and reading.day(one) == reading.day(other)


def _rules(reading: Reading) -> Iterator[Fault]:
    """A rule that stands is whole, without signs of what is left out."""
    for item in reading.items("instructions"):
        if LEFT_OUT in item.text or "characters left out" in item.text:
            yield CUT, f"the rule {item.text!r:.200} is cut"
        if any(wish[: len(wish) // 2] in item.text and wish not in item.text for wish in WISHES):
            yield CUT, f"the rule {item.text!r:.200} is not whole"


def _name(reading: Reading, entry: Entry) -> str:
    record = reading.events.records[entry.row]
    return f"{record['id']} v{record['version']}{f' call {entry.request}' if entry.request else ''}"
