"""How much of the conversation stands on the page: all of it when it fits, else its newest part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from builder.assemble.budget.marks import Marks, marks_of
from builder.assemble.budget.units import jumped, window_size
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import USEFUL, Line
from builder.domain.profile import Dates, Profile
from builder.recall.index.conversation import Entry, Turn, signature_of, turns
from builder.recall.index.view import View

STORED_OVER_RENDERED = 1.25
"""How many more tokens may have been counted of a text when it was stored than it has on a page: JSON is written otherwise."""
STUB = 30
"""Tokens of a result that is one line, about."""
ENOUGH = 0.6
"""Share of what has room that must still be shown once the beginning has moved on to a mark."""


@dataclass(frozen=True, slots=True)
class Limited:
    """The conversation as the profile's limits leave it, as far back as it may be shown.

    entries: the newest first. placeholders: those whose results a limit reduces to a line. left_out: what a limit takes, and why.
    is_part: older entries may be shown too, but need more than the room. moved: row with which a limit last moved its beginning.
    """

    entries: tuple[Entry, ...]
    placeholders: frozenset[Entry]
    left_out: tuple[tuple[Entry, str], ...]
    is_part: bool
    moved_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The part of the conversation that a page shows.

    items: in page order. whole: nothing of it is missing but what the profile's limits take.
    moved: row with which it came to begin where it does; 0 = it begins with the session. unfolded: tokens without folding.
    """

    items: tuple[Item, ...]
    whole: bool
    moved_at: int = 0
    unfolded: int = 0

    def shown(self) -> frozenset[int]:
        """The rows of which all is on the page."""
        return frozenset(row for item in self.items for row in _shown(item))


def _shown(item: Item) -> Iterator[int]:
    """What an agent said with a call is an item of its own."""
    if item.entry is None:
        return
    rows = item.entry.rows if item.first.role == "tool" or not item.entry.request else (-1, *item.entry.results)
    for row, fragment in zip(rows, item.fragments, strict=True):
        if row >= 0 and not fragment.reduced:
            yield row


def cannot_fit(view: View, profile: Profile, allowance: int) -> bool:
    """Whether the conversation is surely too long, by the counts of when it was stored; limits may leave little of it.

    allowance: tokens that there are for it.
    """
    window, own = profile.window, view.rows
    if window.max_units is not None or window.max_tool_turns is not None or profile.tool_output.placeholder_after is not None:
        return False
    shown = own[view.dialogue[own] & view.current[own]]
    marks = view.history.breadcrumbs
    said = shown[~marks.by_tool.head(view.size)[shown]]
    return float(marks.tokens.head(view.size)[said].sum()) > STORED_OVER_RENDERED * allowance


def limited(view: View, profile: Profile, room: float, current: Turn, *, folded: bool) -> Limited:
    """The entries that may be shown, back to where they need more than `room` tokens, by the counts of when they were stored.

    current: calls that stand elsewhere. folded: results need one line each.
    """
    window, after = profile.window, profile.tool_output.placeholder_after
    units = view.units if window.max_units is not None else 0
    most = window.max_units
    if most is not None and units > most:
        most = window_size(units, window)
    entries: list[Entry] = []
    left_out: list[tuple[Entry, str]] = []
    placeholders: set[Entry] = set()
    tool_turns = 0
    tokens = 0.0
    stored = view.history.breadcrumbs.tokens.head(view.size)
    for number, turn in enumerate(turns(view)):
        if tokens > STORED_OVER_RENDERED * room:
            return Limited(tuple(entries), frozenset(placeholders), tuple(left_out), is_part=True, moved_at=0)
        calls = any(entry.request for entry in turn)
        tool_turns += calls
        for entry in reversed(turn):
            if entry in current:
                continue
            if most is not None and number >= most:
                left_out.append((entry, f"older than the newest {most} units"))
            elif entry.request and window.max_tool_turns is not None and tool_turns > window.max_tool_turns:
                left_out.append((entry, f"older than the last {window.max_tool_turns} tool turns"))
            else:
                entries.append(entry)
                placeholders.update({entry} if after is not None and tool_turns > after else ())
                tokens += _stored(entry, stored, folded=folded)
    moved_at = jumped(view, window) if most is not None else 0
    return Limited(tuple(entries), frozenset(placeholders), tuple(left_out), is_part=False, moved_at=moved_at)


def _stored(entry: Entry, tokens: NDArray[np.float32], *, folded: bool) -> float:
    results = STUB * len(entry.results) if folded else float(tokens[list(entry.results)].sum())
    return results + (0.0 if entry.request else float(tokens[entry.row]))


def whole(found: Limited, writer: Writer) -> Conversation:
    """All of it."""
    return Conversation(items=tuple(_item(entry, found, writer) for entry in reversed(found.entries)), whole=True)


def newest(found: Limited, writer: Writer, room: int, dates: Dates) -> Conversation:
    """What of it has room, in tokens, the newest first. dates: what of them is shown.

    Results yield before words, older before newer: those behind a first mark are one line each, and nothing is shown of what
    is behind a second one. Both marks move in jumps.
    """
    step = (1 - writer.profile.window.keep_share) * room
    again = _called_again(found, writer) if writer.profile.tool_output.newest_only else frozenset()
    full = [_item(entry, found, writer, "superseded" if entry in again else "") for entry in found.entries]
    items = _folded(full, found, writer, room, step)
    marks = marks_of(writer.view, step, results=False)
    shown = _window(items, writer, room, marks, dates)
    return Conversation(
        items=tuple(reversed(shown)),
        whole=False,
        moved_at=marks.reached(shown[-1].origin, room) if shown else 0,
        unfolded=sum(item.tokens for item in full[: len(shown)]),
    )


def _item(entry: Entry, found: Limited, writer: Writer, line: Line = "") -> Item:
    """An entry as the profile limits it; what is shorter than its line stays."""
    line = "placeholder" if entry in found.placeholders else line
    full = writer.entry(entry)
    return _shorter(full, writer.entry(entry, line)) if line else full


def _called_again(found: Limited, writer: Writer) -> frozenset[Entry]:
    """The calls that were made again later with the same arguments and answered without an error."""
    rows, later, again = writer.view.history.rows, set[str](), set[Entry]()
    for entry in found.entries:
        if entry.request and entry.results:
            signature = signature_of(rows[entry.row].breadcrumb, entry.request)
            again.update({entry} if signature in later else ())
            later.update(() if rows[entry.results[-1]].breadcrumb.failed else {signature})
    return frozenset(again)


def _folded(full: Sequence[Item], found: Limited, writer: Writer, room: int, step: float) -> list[Item]:
    """The items, results behind the first mark in one line each. Words that need less than their part leave it to results."""
    rules = writer.profile.tool_output
    if rules.fold_at is None:
        return list(full)
    short = [_shorter(item, writer.entry(item.entry, "folded")) if item.entry and item.answered else item for item in full]
    words = sum(item.size for item in short)
    extra = [long.size - brief.size for long, brief in zip(full, short, strict=True)]
    for_results = room - min(words, int((1 - rules.fold_at) * room))
    sums = list(accumulate(extra))
    kept = max(sum(total <= for_results for total in sums), min(rules.fold_keep, len(full)))
    if kept == len(full):
        return list(full)
    marks = marks_of(writer.view, step, results=True)
    kept = _aligned(kept, found.entries, sums, marks, ENOUGH * for_results)
    chosen = [*full[:kept], *short[kept:]]
    left = for_results - (sums[kept - 1] if kept else 0)
    if extra[kept] > step and left >= max(USEFUL, step):
        chosen[kept] = _cut(full[kept], writer, short[kept].size + _size(left, room))
    return chosen


def _shorter(full: Item, short: Item) -> Item:
    return short if short.size < full.size else full


def _window(items: Sequence[Item], writer: Writer, room: int, marks: Marks, dates: Dates) -> list[Item]:
    """The items from the newest back to a mark, within `room` tokens; one that is larger than a step is cut to what is left."""
    sums: list[int] = []
    date = ""
    for item in items:
        line = writer.date(item, dates)
        sums.append((sums[-1] if sums else 0) + item.size + (writer.date_tokens(line) if line != date else 0))
        date = line
    kept = sum(total <= room for total in sums)
    if kept == len(items):
        return list(items)
    left = room - (sums[kept - 1] if kept else 0)
    if items[kept].size > marks.step and left >= max(USEFUL, marks.step / 2):
        cut = _cut(items[kept], writer, _size(left, room))
        if cut.size <= left and cut.is_useful:
            return [*items[:kept], cut]
    return list(items[: _aligned(kept, [item.entry for item in items if item.entry], sums, marks, ENOUGH * marks.step)])


def _aligned(kept: int, entries: Sequence[Entry], sums: Sequence[int], marks: Marks, enough: float) -> int:
    """How many are kept when the oldest of them stands at a mark; as many as before when that would be too few."""
    if not kept:
        return 0
    mark = marks.next(entries[kept - 1].origin)
    aligned = sum(entry.origin >= mark for entry in entries[:kept])
    return aligned if aligned and sums[aligned - 1] >= enough else kept


def _size(left: int, room: int) -> int:
    """The largest half, quarter, … of the room that is left: so a cut stays the same while the conversation goes on."""
    size = room
    while size > left:
        size //= 2
    return size


def _cut(item: Item, writer: Writer, cap: int) -> Item:
    return writer.entry(item.entry, cap=cap) if item.entry else item
