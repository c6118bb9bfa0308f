"""What the items of a conversation with holes show: each item is a message, a call, or a line on a run of calls."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.expected_items import (
    PART,
    Display,
    State,
    call_state,
    caller_of,
    display_of,
    is_part,
    labels_of,
    leaves,
    result_state,
    visible,
    words_of,
)
from builder.bench.invariants.items import Item
from builder.bench.invariants.records import RESULTS, TOOLS, Record, agent_of, call_of, text_of

RUN = re.compile(r"(?P<number>[\d,]+) calls?: (?P<names>.+)")
NAMES, ARGUMENT_CHARS = 5, 24
"""Of calls on one line, and signs of the first argument of each."""
OFTEN = 12
"""Times that words were said which fold with the calls that they stand beside."""
LEFT_OUT = "[…]"
TIMES = "\N{MULTIPLICATION SIGN}"
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Piece:
    """What one item shows."""

    item: Item
    displays: tuple[Display, ...]
    """One; of a run of calls one for each; () for lines of a summary."""
    place: int
    """Row at which it stands."""
    label: str = ""
    """The speaker's, where it has one."""
    is_run: bool = False
    """It is a line on calls."""

    @property
    def entry(self) -> Entry:
        """The first that it shows."""
        return self.displays[0].entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """How to read a section."""

    events: Events
    trigger: Record
    entries: Sequence[Entry]
    """All that may be in the section, oldest first."""
    ids: frozenset[str]
    """The breadcrumbs that the context names there."""

    def of(self, items: Sequence[Item]) -> list[Piece]:
        """In page order; ends where an item from the newest back is none of it."""
        pieces: list[Piece] = []
        end = len(self.entries)
        for item in reversed(items):
            place = self._place(item, end)
            if place is None:
                break
            piece, end = place
            pieces.append(piece)
        return pieces[::-1]

    def _place(self, item: Item, end: int) -> tuple[Piece, int] | None:
        """What an item shows of the entries before `end`, and the first of them."""
        if run := RUN.fullmatch(item.text):
            return self._run(item, int(run["number"].replace(",", "")), end)
        for number in range(end - 1, -1, -1):
            entry = self.entries[number]
            if self.events.records[entry.row]["id"] in self.ids and (display := self.display(entry, item.text)):
                return Piece(item, (display,), entry.turn, self.label(entry, item.text)), number
        summary = self._lines_of_summary(item)
        return (summary, end) if summary else None

    def display(self, entry: Entry, text: str) -> Display | None:
        """What the text shows of an entry, with a label or without one, all of it or passages."""
        whole = display_of(entry, text, self.events, self.trigger)
        if whole is not None:
            return whole
        record = self.events.records[entry.row]
        if entry.request:
            return self._call(entry, text)
        if record["schema_name"] in RESULTS:
            label = re.match(r"Tool \w+ answered:", text)
            return Display(entry, ((entry.row, "part"),)) if label and is_of_result(record, text[label.end() :]) else None
        if record["schema_name"] in TOOLS:
            return None
        label = labels_of(record, self.trigger).match(text)
        state = _words_state(record, text) or (
            _words_state(record, text[label.end() :].removeprefix(":").strip()) if label else None
        )
        return Display(entry, ((entry.row, state),)) if state else None

    def label(self, entry: Entry, text: str) -> str:
        """The speaker that the text begins with; "" = it has none."""
        record = self.events.records[entry.row]
        if entry.request or record["schema_name"] in TOOLS or _words_state(record, text):
            return ""
        match = labels_of(record, self.trigger).match(text)
        return match.group() if match else ""

    def _call(self, entry: Entry, text: str) -> Display | None:
        """A call with some of its results, or with passages of them."""
        records, (head, *parts) = self.events.records, PART.split(text)
        state = call_state(records[entry.row], entry.request, head, caller_of(records[entry.row], self.events))
        rows: list[tuple[int, State]] = []
        rest = list(entry.results)
        for part in parts:
            states = ((row, result_state(records[row], part.rstrip()) or _passages(records[row], part)) for row in rest)
            row, shape = next(((row, shape) for row, shape in states if shape), (-1, None))
            if shape is None:
                return None
            rows.append((row, shape))
            rest = rest[rest.index(row) + 1 :]
        return Display(entry, ((entry.row, state), *rows)) if state and rows else None

    def _run(self, item: Item, number: int, end: int) -> tuple[Piece, int] | None:
        """The newest calls that follow each other, and of which the line says what it should."""
        for start in range(end - 1, -1, -1):
            first = self.entries[start]
            if not first.request or self.events.records[first.row]["id"] not in self.ids:
                continue
            run = self._following(self.entries[start:end], number)
            calls = [entry for entry in run if entry.request]
            if len(calls) == number and item.text == self.line(calls):
                words = [each for each in self.entries[:start] if each.turn == first.turn and self._is_often(each)][-1:]
                displays = tuple(Display(entry, ((entry.row, "line"),)) for entry in (*words, *run))
                return Piece(item, displays, first.turn, is_run=True), self.entries.index(words[0]) if words else start
        return None

    def _following(self, entries: Sequence[Entry], number: int) -> list[Entry]:
        """So many calls, and words that fold with them."""
        run: list[Entry] = []
        for entry in entries:
            is_full = sum(bool(each.request) for each in run) == number
            if is_full or not (entry.request or self._is_often(entry)):
                break
            run.append(entry)
        while run and not run[-1].request:
            run.pop()
        return run

    def _is_often(self, entry: Entry) -> bool:
        """Whether its speaker said its words so often that they fold with calls."""
        record = self.events.records[entry.row]
        if entry.request or record["schema_name"] in TOOLS:
            return False
        messages = (self.events.records[row] for row in self.events.counting)
        return sum(_speaker(each) == _speaker(record) and _says(each, text_of(record)) for each in messages) >= OFTEN

    def line(self, calls: Sequence[Entry]) -> str:
        """What a line on these calls says."""
        names = Counter(self._name(entry) for entry in calls)
        texts = [f"{name} {number} {TIMES}" if number > 1 else name for name, number in names.most_common(NAMES)]
        texts += ["…"] if len(names) > NAMES else []
        return f"{len(calls):,} call{'s' if len(calls) > 1 else ''}: {', '.join(texts)}"

    def _name(self, entry: Entry) -> str:
        record = self.events.records[entry.row]
        call, caller = call_of(record, entry.request), caller_of(record, self.events)
        values = (value for value in (call.get("input") or {}).values() if isinstance(value, str | int | float))
        first = visible(" ".join(next((str(value) for value in values if str(value).strip()), "").split()))
        first = first if " " in first else first.split("/")[-1]
        name = f"{call['tool']} {first[:ARGUMENT_CHARS].strip()}".strip()
        return f"{name} by {caller}" if caller else name

    def _lines_of_summary(self, item: Item) -> Piece | None:
        rows = {self.events.first[record["id"]]: record for record in self.events.records if record["id"] in self.ids}
        for record in rows.values():
            for line in record["context"].get("lines", ()):
                if line["text"] in item.text and line["ids"][0] in self.events.first:
                    return Piece(item, (), self.events.first[line["ids"][0]])
        return None


def _speaker(record: Record) -> tuple[str, str, str]:
    body, person = record["context"], record["context"].get("user_id", "")
    return record["schema_name"], body.get("speaker") or agent_of(record), person or record["session"]


def _says(record: Record, text: str) -> bool:
    body = record["context"]
    return any(body.get(name) == text for name in ("content", "message", "text"))


def _words_state(record: Record, text: str) -> State | None:
    """How much of what was said the words show."""
    words = words_of(record)
    if text == words:
        return "whole"
    if is_part(text, words, record["id"]):
        return "cut"
    return "part" if LEFT_OUT in text and _are_pieces(text, words) else None


def _passages(record: Record, text: str) -> State | None:
    return "part" if text.startswith("Result:") and is_of_result(record, text.removeprefix("Result:")) else None


def is_of_result(record: Record, text: str) -> bool:
    """Whether a text is passages of a result: of a text word for word, of any other value by its words."""
    value = record["context"].get("output", record["context"].get("error_message"))
    if LEFT_OUT not in text:
        return False
    if isinstance(value, str):
        return _are_pieces(text, visible(value))
    whole = " ".join(leaves(value))
    return all(word in whole for word in WORD.findall(text))


def _are_pieces(text: str, whole: str) -> bool:
    """Whether the pieces between the signs are in the whole, in order."""
    bare, at = _bare(whole), 0
    for piece in map(_bare, _pieces(text)):
        at = bare.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _pieces(text: str) -> Iterator[str]:
    return (piece for piece in text.split(LEFT_OUT) if piece.strip())


def _bare(text: str) -> str:
    return re.sub(r"\s+|`{3,}\w*", "", text)
