"""The results that a page answers from: whole where they have room, else an even part of each."""

from collections.abc import Sequence
from functools import partial

from builder.assemble.budget.limits import MIN_ROOM
from builder.assemble.draft import PageDraft, limited
from builder.assemble.items.forms import MIN_PART_TOKENS, even_caps
from builder.assemble.items.pending import each
from builder.assemble.items.writer import Item
from builder.recall.index.conversation import Entry

MAX_LINE_TOKENS = 96
"""A call with a line for each result."""
RESULTS_SHARE = 0.6
"""Share of the rest, where they do not fit into it whole."""
RUNNING = "the running turn"


def put_results(draft: PageDraft) -> None:
    """Put them on an otherwise empty page."""
    rest = draft.rest - MIN_ROOM
    fits = sum(item.size for item in _whole(draft)) <= rest
    _put(draft, rest if fits else int(RESULTS_SHARE * rest), rest)


def least_results(draft: PageDraft) -> int:
    """Tokens that they have before anything but the question, their heading included: whole, or their share."""
    rule, ledger = draft.rule("turn"), draft.ledger
    if rule is None or not draft.recall.turn:
        return 0
    share = int(RESULTS_SHARE * max(draft.rest - MIN_ROOM, 0))
    return min(sum(item.size for item in _whole(draft)), share) + ledger.heading(rule.name) + ledger.remaining - draft.rest


def complete_results(draft: PageDraft, excess: int) -> None:
    """Give those that were cut the room that is left. excess: tokens by which the page was counted too long."""
    there = [item for item in draft.items("turn") if item.entry in draft.recall.turn]
    rule, free = draft.rule("turn"), draft.ledger.remaining - excess
    if rule and free >= MIN_ROOM and (any(item.is_cut for item in there) or len(there) < len(draft.recall.turn)):
        before, room = draft.items("turn"), free + sum(item.size for item in there)
        _put(draft, room, room)
        lacking = excess - draft.ledger.remaining  # a heading and a date that were not there before
        if lacking > 0:
            _put(draft, room - lacking, room - lacking)
        if not {item.entry for item in there} <= {item.entry for item in draft.items("turn")}:
            draft.ledger.put(rule.name, before, RUNNING)


def shorten_results(draft: PageDraft, excess: int) -> bool:
    """Make the running turn shorter by `excess` tokens; whether it is."""
    before = draft.items("turn")
    size = sum(item.size for item in before)
    room = sum(item.size for item in before if item.entry in draft.recall.turn) - excess
    if room > 0:
        _put(draft, room, room)
    return sum(item.size for item in draft.items("turn")) < size


def has_older_calls(draft: PageDraft) -> bool:
    """Whether the running turn has more than what is answered now."""
    return any(item.entry not in draft.recall.turn for item in draft.items("turn"))


def take_off_results(draft: PageDraft) -> bool:
    """Leave the running turn out; whether anything of it was there."""
    rule = draft.rule("turn")
    is_there = bool(rule and draft.items("turn"))
    if rule and is_there:
        draft.ledger.put(rule.name, (), RUNNING)
    return is_there


def _put(draft: PageDraft, room: int, most: int) -> None:
    rule = draft.rule("turn")
    if rule is None or not draft.recall.turn:
        return
    placed = _evenly(draft, room, most)
    others = [item for item in draft.items("turn") if item.entry not in draft.recall.turn]
    items = [placed[entry] for entry in draft.recall.turn if entry in placed]
    draft.ledger.put(rule.name, [*others, *items], RUNNING)


def _whole(draft: PageDraft) -> Sequence[Item]:
    return each(partial(limited, entry, draft.limits, draft.writer) for entry in reversed(draft.recall.turn))


def _evenly(draft: PageDraft, room: int, most: int) -> dict[Entry, Item]:
    """Each with an even part of the room. most: tokens that they may have where `room` is too small for a line of each."""
    placed: dict[Entry, Item] = {}
    every = _whole(draft)
    caps = even_caps([full.size for full in every], min(room, most))
    parts = each(partial(_part, draft, full, cap) for full, cap in zip(every, caps, strict=True))
    lines = [_line(draft, full) for full in every]
    there = _within(draft, every, lines, most)
    for_lines = sum(lines[number].size for number in there)
    for number in sorted(there, key=lambda number: every[number].size):
        entry, part, line = every[number].entry, parts[number], lines[number]
        for_lines -= line.size
        item = part if part.size <= min(most - for_lines, every[number].size) else line
        if entry and item.size <= most - for_lines:
            placed[entry] = item
            most -= item.size
    return placed


def _within(draft: PageDraft, every: Sequence[Item], lines: Sequence[Item], most: int) -> list[int]:
    """Numbers of those whose lines have room together: without the longest ones, and with the newest as long as any."""
    newest = draft.recall.view.row_of(draft.recall.trigger.id)
    there = [number for number, line in enumerate(lines) if line.size <= most]
    there.sort(key=lambda number: (newest not in _rows(every[number]), lines[number].size))
    while there and sum(lines[number].size for number in there) > most:
        there.pop()
    return there


def _rows(item: Item) -> Sequence[int]:
    return item.entry.rows if item.entry else ()


def _part(draft: PageDraft, full: Item, cap: int) -> Item:
    part = full if full.size <= cap or not full.entry else draft.writer.entry(full.entry, cap=cap)
    return part if part.is_useful else _line(draft, full)


def _line(draft: PageDraft, full: Item) -> Item:
    """The call with a line for each result; whole where that is shorter."""
    if full.entry is None or full.size <= MIN_PART_TOKENS // 2:
        return full
    line = draft.writer.entry(full.entry, "folded", cap=MAX_LINE_TOKENS)
    return line if line.size < full.size else full
