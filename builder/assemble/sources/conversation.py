"""How much of the conversation stands on the page: all of it when it fits, else its newest part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, groupby

import numpy as np
from numpy.typing import NDArray

from builder.assemble.budget.units import last_trim_row, window_size
from builder.assemble.budget.window_marks import WindowMarks, window_marks
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import MIN_PART_TOKENS, Line
from builder.assemble.items.layout import each
from builder.domain.profile import Dates, Profile
from builder.recall.index.conversation import Entry, Turn, signatures_of, turns
from builder.recall.index.view import View

MAX_STORED_SHARE = 1.25
"""Tokens of a text as stored over its tokens on a page, at most: JSON is written otherwise there."""
STUB_TOKENS = 30
"""Of a result that is one line, about."""
MIN_CALL_TOKENS = 5
"""Of the line of a call."""
MIN_ALIGNED_SHARE = 0.6
"""Share of what has room that must still be shown once the beginning has moved on to a mark."""


@dataclass(frozen=True, slots=True)
class LimitedConversation:
    """The conversation as the profile's limits leave it, as far back as it may be shown."""

    entries: tuple[Entry, ...]
    """The newest first."""
    placeholders: frozenset[Entry]
    """Those whose results a limit reduces to a line."""
    left_out: tuple[tuple[Entry, str], ...]
    """What a limit takes, and why."""
    is_part: bool
    """Older entries may be shown too, but need more than the room."""
    moved_at: int
    """Row with which a limit last moved its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The part of the conversation that a page shows."""

    items: tuple[Item, ...]
    """In page order."""
    whole: bool
    """Nothing is missing but what the profile's limits take."""
    moved_at: int = 0
    """Row with which its beginning last moved; 0 = it begins with the session."""
    unfolded: int = 0
    """Tokens without folding."""

    def whole_rows(self) -> frozenset[int]:
        """The rows of which all is on the page."""
        return frozenset(row for item in self.items for row in whole_rows(item))


def whole_rows(item: Item) -> Iterator[int]:
    """The rows of which an item of the conversation shows all. What an agent said with a call is an item of its own."""
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
    rows_shown = own[view.dialogue[own] & view.current[own]]
    marks = view.history.breadcrumbs
    texts = rows_shown[~marks.by_tool.head(view.size)[rows_shown]]
    return float(marks.tokens.head(view.size)[texts].sum()) > MAX_STORED_SHARE * allowance


def limit_conversation(view: View, profile: Profile, room: float, current: Turn, *, folded: bool) -> LimitedConversation:
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
        calls = any(entry.request for entry in turn)
        tool_turns += calls
        for entry in reversed(turn):
            if tokens > MAX_STORED_SHARE * room:
                return LimitedConversation(tuple(entries), frozenset(placeholders), tuple(left_out), is_part=True, moved_at=0)
            if entry in current:
                continue
            if most is not None and number >= most:
                left_out.append((entry, f"older than the newest {most} units"))
            elif entry.request and window.max_tool_turns is not None and tool_turns > window.max_tool_turns:
                left_out.append((entry, f"older than the last {window.max_tool_turns} tool turns"))
            else:
                entries.append(entry)
                placeholders.update({entry} if after is not None and tool_turns > after else ())
                tokens += _stored_tokens(entry, stored, folded=folded)
    moved_at = last_trim_row(view, window) if most is not None else 0
    return LimitedConversation(tuple(entries), frozenset(placeholders), tuple(left_out), is_part=False, moved_at=moved_at)


def _stored_tokens(entry: Entry, tokens: NDArray[np.float32], *, folded: bool) -> float:
    results = STUB_TOKENS * len(entry.results) if folded else float(tokens[list(entry.results)].sum())
    return results + (MIN_CALL_TOKENS if entry.request else float(tokens[entry.row]))


def whole_conversation(limits: LimitedConversation, writer: Writer) -> Conversation:
    """All of it."""
    return Conversation(items=each(partial(_item, entry, limits, writer) for entry in reversed(limits.entries)), whole=True)


def newest_part(limits: LimitedConversation, writer: Writer, room: int, dates: Dates) -> Conversation:
    """What of it has room, in tokens, the newest first. dates: what of them is shown.

    Results yield before words, older before newer: those behind a first mark are one line each, and nothing is shown of what
    is behind a second one. Both marks move in jumps.
    """
    step = (1 - writer.profile.window.keep_share) * room
    again = _repeated_calls(limits, writer) if writer.profile.tool_output.newest_only else frozenset()
    full = each(partial(_item, entry, limits, writer, "superseded" if entry in again else "") for entry in limits.entries)
    items = _fold_results(full, limits, writer, room, step)
    marks = window_marks(writer.view, step, results=False)
    rows_shown = _window(items, writer, room, marks, dates)
    return Conversation(
        items=tuple(reversed(rows_shown)),
        whole=False,
        moved_at=marks.reached(rows_shown[-1].origin, room) if rows_shown else 0,
        unfolded=sum(item.tokens for item in full[: len(rows_shown)]),
    )


def _item(entry: Entry, limits: LimitedConversation, writer: Writer, line: Line = "") -> Item:
    """An entry as the profile limits it; what is shorter than its line stays."""
    line = "placeholder" if entry in limits.placeholders else line
    full = writer.entry(entry)
    return _shorter_item(full, writer.entry(entry, line)) if line else full


def _repeated_calls(limits: LimitedConversation, writer: Writer) -> frozenset[Entry]:
    """The calls that were made again later with the same arguments and answered without an error."""
    rows, later, again = writer.view.history.rows, set[str](), set[Entry]()
    for row, entries in groupby(limits.entries, key=lambda entry: entry.row):
        signatures = signatures_of(rows[row].breadcrumb)
        for entry in entries:
            if entry.request and entry.results:
                signature = signatures.get(entry.request, "")
                again.update({entry} if signature in later else ())
                later.update(() if rows[entry.results[-1]].breadcrumb.failed else {signature})
    return frozenset(again)


def _fold_results(full: Sequence[Item], limits: LimitedConversation, writer: Writer, room: int, step: float) -> list[Item]:
    """The items, results behind the first mark in one line each. Words that need less than their part leave it to results."""
    rules = writer.profile.tool_output
    if rules.fold_at is None:
        return list(full)
    short = [_shorter_item(item, writer.entry(item.entry, "folded")) if item.entry and item.has_result else item for item in full]
    words = sum(item.size for item in short)
    extra = [long.size - brief.size for long, brief in zip(full, short, strict=True)]
    for_results = room - min(words, int((1 - rules.fold_at) * room))
    sums = list(accumulate(extra))
    number = max(sum(total <= for_results for total in sums), min(rules.fold_keep, len(full)))
    if number == len(full):
        return list(full)
    marks = window_marks(writer.view, step, results=True)
    number = _align_to_mark(number, limits.entries, sums, marks, MIN_ALIGNED_SHARE * for_results)
    chosen = [*full[:number], *short[number:]]
    remainder = for_results - (sums[number - 1] if number else 0)
    if extra[number] > step and remainder >= max(MIN_PART_TOKENS, step):
        chosen[number] = _cut(full[number], writer, short[number].size + _size(remainder, room))
    return chosen


def _shorter_item(full: Item, short: Item) -> Item:
    return short if short.size < full.size else full


def _window(items: Sequence[Item], writer: Writer, room: int, marks: WindowMarks, dates: Dates) -> list[Item]:
    """The items from the newest back to a mark, within `room` tokens; one that is larger than a step is cut to what is left."""
    sums: list[int] = []
    date = ""
    for item in items:
        line = writer.date(item, dates)
        sums.append((sums[-1] if sums else 0) + item.size + (writer.date_tokens(line) if line != date else 0))
        date = line
    number = sum(total <= room for total in sums)
    if number == len(items):
        return list(items)
    remainder = room - (sums[number - 1] if number else 0)
    if items[number].size > marks.step and remainder >= max(MIN_PART_TOKENS, marks.step / 2):
        cut = _cut(items[number], writer, _size(remainder, room))
        if cut.size <= remainder and cut.is_useful:
            return [*items[:number], cut]
    return list(
        items[: _align_to_mark(number, [item.entry for item in items if item.entry], sums, marks, MIN_ALIGNED_SHARE * marks.step)]
    )


def _align_to_mark(number: int, entries: Sequence[Entry], sums: Sequence[int], marks: WindowMarks, enough: float) -> int:
    """How many are kept when the oldest of them stands at a mark; as many as before when that would be too few."""
    if not number:
        return 0
    mark = marks.next(entries[number - 1].origin)
    aligned = sum(entry.origin >= mark for entry in entries[:number])
    return aligned if aligned and sums[aligned - 1] >= enough else number


def _size(remainder: int, room: int) -> int:
    """The largest half, quarter, … of the room that is left: so a cut stays the same while the conversation goes on."""
    size = room
    while size > remainder:
        size //= 2
    return size


def _cut(item: Item, writer: Writer, cap: int) -> Item:
    return writer.entry(item.entry, cap=cap) if item.entry else item
