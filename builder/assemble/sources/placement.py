"""From what was bought to the items of the page, in the order of time."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from builder.assemble.budget.limits import OLD_TURNS
from builder.assemble.budget.plan import MIN_PART
from builder.assemble.budget.purchases import Plan
from builder.assemble.draft import PageDraft, limited
from builder.assemble.items.forms import RenderForm, Spans
from builder.assemble.items.pending import each
from builder.assemble.items.runs import run_item
from builder.assemble.items.speakers import is_later, without_label
from builder.assemble.items.writer import Item
from builder.assemble.sources.choice import Choice
from builder.assemble.sources.conversation import NEWEST
from builder.assemble.sources.finds import MAX_CALL_TOKENS, found_item, reason_of_find
from builder.domain.breadcrumb import SUMMARY
from builder.domain.context import PASSAGES
from builder.language.sentences import with_lead
from builder.recall.index.conversation import Entry, turn_of
from builder.recall.search.candidates import Find

SMALL_TOKENS = 8
"""A message that is shown instead of a hole has at most so many."""
OFTEN = 12
"""Times that words were said, from which they fold with the calls that they stand beside."""
FIND = "found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The items that a plan puts on the page."""

    conversation: tuple[Item, ...]
    apart: tuple[Item, ...]
    """Finds in a section of their own."""
    in_runs: tuple[Entry, ...]
    """Entries that lines on runs of calls stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """An entry that is shown."""

    entry: Entry
    number: int
    """-1 = it comes along with its message."""
    place: tuple[int, int]
    is_bare: bool
    """A call of which nothing but its line is shown."""
    fills: bool = False
    """It stands instead of a hole, so nothing is missing before and after it."""


def placement(draft: PageDraft, choice: Choice, plan: Plan) -> Placement:
    """Render what was bought."""
    pieces = _without_small_holes(_pieces(draft, choice, plan), draft)
    joining = _joining(pieces, draft)
    others = [piece for piece, joins in zip(pieces, joining, strict=True) if not joins]
    rendered = iter(each(partial(_rendered, piece, choice, plan, draft) for piece in others))
    items: list[Item] = []
    run: list[Entry] = []
    before: _Piece | None = None
    for piece, joins in zip(pieces, joining, strict=True):
        follows = before is not None and _follows(before, piece, draft)
        if run and not (joins and follows):
            items.append(run_item(run, draft.writer))
            run = []
        if piece.is_bare:
            run.append(piece.entry)
        if not joins:
            item = next(rendered)
            items.append(without_label(item, items[-1], draft.writer) if follows else item)
        before = piece
    items += [run_item(run, draft.writer)] if run else []
    in_runs = tuple(piece.entry for piece, joins in zip(pieces, joining, strict=True) if joins)
    return Placement(conversation=tuple(items), apart=_apart(draft, choice, plan, pieces), in_runs=in_runs)


def is_elsewhere(draft: PageDraft, row: int) -> bool:
    """Whether it is no part of the conversation, or of one that is whole but for what a limit of results cut."""
    view = draft.recall.view
    return draft.whole or bool(view.session_of[row] != view.session or not view.dialogue[row])


def _is_apart(draft: PageDraft, choice: Choice, plan: Plan, number: int) -> bool:
    """Whether it stands in the section for what was found."""
    if not draft.ledger.is_one:
        entry, edge = choice.order[number], choice.order[plan.newest - 1].origin if plan.newest else -1
        is_edge = entry.origin == edge and all(entry != other for other, _ in draft.limits.left_out)
        return number >= plan.newest and (number in choice.observations or not is_edge)
    return number not in choice.observations and is_elsewhere(draft, choice.order[number].row)


def _pieces(draft: PageDraft, choice: Choice, plan: Plan) -> list[_Piece]:
    """Everything that stands in the conversation, with the calls of its messages, in the order of time."""
    pieces: dict[tuple[int, str], _Piece] = {}
    others: list[_Piece] = []
    numbers = sorted({*plan.whole, *plan.short, *plan.parts})
    for number in numbers:
        entry = choice.order[number]
        if _is_apart(draft, choice, plan, number):
            continue
        if number in choice.observations:
            others.append(_piece(entry, number, draft, is_bare=False))
            continue
        is_more = number in plan.parts or number in plan.caps or (number in plan.whole and number not in choice.folded)
        is_bare = bool(entry.request) and (entry in draft.repeated or not is_more)
        pieces[entry.origin, entry.request] = _piece(entry, number, draft, is_bare=is_bare)
    edge = choice.order[plan.newest - 1].origin if plan.newest else -1
    return sorted((*_with_calls(pieces, edge, draft), *others), key=lambda piece: piece.place)


def _with_calls(pieces: Mapping[tuple[int, str], _Piece], edge: int, draft: PageDraft) -> list[_Piece]:
    """With the calls of their messages, and the words of the calls at the edge. edge: row of the oldest of the newest part."""
    view = draft.recall.view
    with_calls = dict(pieces)
    apart = _apart_from_calls(draft)
    for origin in {origin for origin, _ in pieces if view.breadcrumb(origin).calls}:
        for entry in turn_of(view, origin):
            key = (entry.origin, entry.request)
            if (entry.request or origin == edge) and key not in with_calls and key not in apart:
                with_calls[key] = _piece(entry, -1, draft, is_bare=bool(entry.request))
    return [*with_calls.values()]


def _apart_from_calls(draft: PageDraft) -> set[tuple[int, str]]:
    """Entries elsewhere on the page, and calls that the limit of tool turns takes."""
    there = (item.entry for source in ("window", "turn") for item in draft.items(source) if item.entry)
    entries = [*draft.questions, *(entry for entry in there if draft.whole or entry in draft.recall.turn)]
    entries += [entry for entry, reason in draft.limits.left_out if reason.startswith(OLD_TURNS)]
    return {(entry.origin, entry.request) for entry in entries}


def _without_small_holes(pieces: Sequence[_Piece], draft: PageDraft) -> list[_Piece]:
    """With the message that a hole would hide for hardly fewer tokens."""
    view, every = draft.recall.view, draft.ledger.units
    units = [view.unit_of(piece.entry.origin) for piece in pieces]
    firsts = np.searchsorted(every, units[:-1], side="right").tolist()
    lasts = np.searchsorted(every, units[1:]).tolist()
    there = {piece.entry for piece in pieces}
    whole, apart = list(pieces), {*draft.questions, *(entry for entry, _ in draft.limits.left_out)}
    for first, last in zip(firsts, lasts, strict=True):
        if last - first != 1 or float(view.tokens[every[first]]) > SMALL_TOKENS:
            continue
        turn = turn_of(view, int(every[first]))
        if len(turn) == 1 and not turn[0].request and turn[0] not in apart and turn[0] not in there:
            whole.append(replace(_piece(turn[0], -1, draft, is_bare=False), fills=True))
    return sorted(whole, key=lambda piece: piece.place)


def _piece(entry: Entry, number: int, draft: PageDraft, *, is_bare: bool) -> _Piece:
    calls = draft.recall.view.breadcrumb(entry.row).call_names
    return _Piece(
        entry=entry,
        number=number,
        place=(entry.origin, 1 + calls.index(entry.request) if entry.request in calls else 0),
        is_bare=is_bare,
    )


def _follows(before: _Piece, piece: _Piece, draft: PageDraft) -> bool:
    """Whether nothing is missing between them, no time has passed, and no heading of the running turn stands there."""
    first, last = before.entry.origin, piece.entry.origin
    if first == last:
        return True
    is_next = before.fills or piece.fills or (before.number >= 0 and before.number == piece.number + 1)
    if not is_next or any(first < question.origin < last for question in draft.questions):
        return False
    if _is_unit_between(first, last, draft) or is_later(first, last, draft.writer):
        return False
    return draft.is_of_turn(before.entry) == draft.is_of_turn(piece.entry)


def _is_unit_between(first: int, last: int, draft: PageDraft) -> bool:
    """Whether a limit of the profile leaves something out between two rows."""
    units = draft.ledger.units
    between = units[units.searchsorted(first, "right") : units.searchsorted(last)]
    return any(head != draft.recall.view.unit_of(last) for head in between[:2].tolist())


def _joining(pieces: Sequence[_Piece], draft: PageDraft) -> list[bool]:
    """Whether each is a part of a run: a call, or words that were often said beside calls."""
    joining: list[bool] = []
    for piece, after in zip(pieces, (*pieces[1:], None), strict=False):
        is_beside = after is not None and after.is_bare and after.entry.origin == piece.entry.origin
        is_often = is_beside and not piece.entry.request and len(draft.recall.view.repeats(piece.entry.row)) >= OFTEN
        joining.append(piece.is_bare or is_often)
    return joining


def _rendered(piece: _Piece, choice: Choice, plan: Plan, draft: PageDraft) -> Item:
    number = piece.number
    form = (number in plan.whole, number in plan.pictured, plan.caps.get(number, 0), number < plan.newest)
    key = (piece.entry, number, *form, *plan.parts.get(number, ()))
    if key not in choice.items:
        choice.items[key] = _item(piece, choice, plan, draft)
    return choice.items[key]


def _item(piece: _Piece, choice: Choice, plan: Plan, draft: PageDraft) -> Item:
    writer, entry, number = draft.writer, piece.entry, piece.number
    finds = [choice.finds[find] for find in plan.parts.get(number, ())]
    if number in choice.observations:
        return _item_of_find(choice.observations[number], draft)
    if number in plan.whole and not (finds and number in choice.folded):
        item = limited(entry, draft.limits, writer)
        item = writer.with_pictures(item) if number in plan.pictured else item
        return replace(item, reason=NEWEST if number < plan.newest else _reason(choice, number, draft))
    if number in plan.caps:
        return replace(writer.entry(entry, cap=plan.caps[number] + sum(find.tokens for find in finds)), reason=NEWEST)
    if entry.request:
        return replace(_call_with_finds(entry, finds, draft), reason=_reason(choice, number, draft))
    if number < 0:
        return replace(writer.entry(entry, cap=MIN_PART), reason=NEWEST)
    return replace(_passages(entry, finds, draft), reason=_reason(choice, number, draft))


def _reason(choice: Choice, number: int, draft: PageDraft) -> str:
    """Why an entry was found."""
    find = choice.find_of.get(number)
    return reason_of_find(draft, find) if find else FIND


def _passages(entry: Entry, finds: Sequence[Find], draft: PageDraft) -> Item:
    crumb, writer = draft.recall.view.breadcrumb(entry.row), draft.writer
    spans = _joined(finds, crumb.text)
    if not spans:
        return writer.entry(entry)
    lead = with_lead(crumb.text, spans) if crumb.role == "assistant" else spans
    fragment = replace(writer.fragment(crumb, RenderForm(spans=lead)), reduced=PASSAGES)
    return writer.for_copy(Item(origin=entry.origin, fragments=(fragment,), entry=entry, spans=spans))


def _call_with_finds(entry: Entry, finds: Sequence[Find], draft: PageDraft) -> Item:
    """A call with what was found of its results, in place."""
    writer, view = draft.writer, draft.recall.view
    fragments = [writer.fragment(view.breadcrumb(entry.row), RenderForm(call=entry.request), MAX_CALL_TOKENS)]
    rows = [row for row in entry.results if any(find.row == row for find in finds)]
    for row in rows:
        crumb = view.breadcrumb(row)
        of_row = [find for find in finds if find.row == row]
        spans = _joined(of_row, crumb.text) if all(find.spans for find in of_row) else ()
        fragment = writer.fragment(crumb, replace(writer.old_result_form(crumb), spans=spans))
        fragments.append(replace(fragment, reduced=PASSAGES) if spans and not fragment.reduced else fragment)
    answer = replace(entry, results=tuple(rows))
    return writer.for_copy(Item(origin=entry.origin, fragments=tuple(fragments), entry=answer))


def _joined(finds: Sequence[Find], text: str) -> Spans:
    """The passages in order, those joined that nothing but white space is between; () = all of the text."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted({span for find in finds for span in find.spans}):
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    is_all = len(joined) == 1 and not (text[: joined[0][0]] + text[joined[0][1] :]).strip()
    return () if is_all else tuple(joined)


def _apart(draft: PageDraft, choice: Choice, plan: Plan, pieces: Sequence[_Piece]) -> tuple[Item, ...]:
    """The finds in the order of time, and a line on the calls beside each that are not shown."""
    makes: list[Callable[[], Item]] = []
    entries: list[Entry] = []
    numbers = (number for number in {*plan.whole, *plan.parts} if _is_apart(draft, choice, plan, number))
    for number in sorted(numbers, key=lambda number: _piece(choice.order[number], number, draft, is_bare=False).place):
        finds = [choice.finds[find] for find in plan.parts.get(number, ())] or [choice.find_of[number]]
        for row in dict.fromkeys(find.row for find in finds):
            own = [find for find in finds if find.row == row]
            spans = _joined(own, draft.recall.view.breadcrumb(row).text) if all(find.spans for find in own) else ()
            makes.append(partial(_item_of_find, replace(own[0], spans=spans), draft))
            entries.append(choice.order[number])
    others = {(entry.origin, entry.request) for entry in (*entries, *(piece.entry for piece in pieces))}
    return _with_other_calls(each(makes), entries, others | _apart_from_calls(draft), draft)


def _item_of_find(find: Find, draft: PageDraft) -> Item:
    return replace(found_item(find, draft.writer), reason=reason_of_find(draft, find))


def _with_other_calls(
    items: Sequence[Item], entries: Sequence[Entry], others: Collection[tuple[int, str]], draft: PageDraft
) -> tuple[Item, ...]:
    """others: calls that need no line."""
    view, last = draft.recall.view, {entry.origin: number for number, entry in enumerate(entries)}
    with_calls: list[Item] = []
    for number, (item, entry) in enumerate(zip(items, entries, strict=True)):
        turn = turn_of(view, entry.origin) if last[entry.origin] == number and item.first.schema != SUMMARY else ()
        calls = [call for call in turn if call.request and (call.origin, call.request) not in others]
        line = run_item(calls, draft.writer).fragments if calls else ()
        with_calls.append(replace(item, fragments=(*item.fragments, *line)))
    return tuple(with_calls)
