"""The conversation on the page: first what it has a right to, at the end all that has room, the newest first."""

from functools import partial

from builder.assemble.budget.ledger import dialogue_rows
from builder.assemble.budget.shares import COUNT_TOLERANCE_TOKENS, LARGE_SHARE, Shares
from builder.assemble.draft import PageDraft
from builder.assemble.items.rendering import LINE_REASONS, MIN_PART_TOKENS, Line, each, even_caps
from builder.assemble.items.speakers import labels_once
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import OLDER, OVER_BUDGET
from builder.language.sentences import is_follow_up
from builder.recall.index.conversation import Entry

MAX_LINE_TOKENS = 96
"""Of a call with a line for each result."""
Placed = dict[Entry, Item]
"""What is on the page of each entry."""


def is_result(full: Item) -> bool:
    """Whether it is a call with its results, or a result by itself."""
    return full.entry is not None and (bool(full.entry.request) or full.first.role == "tool")


def line_of(full: Item, writer: Writer, line: Line = "folded") -> Item:
    """The call with a line for each result; whole where that is shorter. A failure is no line."""
    if full.entry is None or _line_reason(full) or full.size <= MIN_PART_TOKENS // 2:
        return full
    is_never_folded = line == "folded" and writer.profile.tool_output.fold_at is None
    short = writer.entry(full.entry, "" if is_never_folded else line, cap=MAX_LINE_TOKENS)
    return short if short.size < full.size else full


def part_of(full: Item, writer: Writer, cap: int) -> Item | None:
    """All, or a part, within `cap` tokens; None when no useful part fits."""
    if full.size <= cap:
        return full
    if full.entry is None or cap < MIN_PART_TOKENS:
        return None
    part = writer.entry(full.entry, _line_reason(full), cap=cap)
    return part if part.size <= cap and part.is_useful else None


def _line_reason(full: Item) -> Line:
    """Why its results are lines already; "" = they are not."""
    reasons = {fragment.reduced for fragment in full.fragments}
    return next((line for line, reason in LINE_REASONS.items() if line and reason in reasons), "")


SHORT_TOKENS = 16
"""Of a short message: what is free below it fills nothing."""
NEWEST_MESSAGES = 3
"""Messages that are on every page, in part at least."""
FITS, NEWEST = "the conversation, which fits", "the newest part of the conversation"
LIMITED = "what the profile's `window` leaves of the conversation"


def put_conversation(draft: PageDraft, shares: Shares) -> None:
    """Put on the page what the conversation has a right to."""
    put_entries(draft, {full.entry: full for full in draft.full if full.entry} if shares.whole else _rights(draft, shares))
    if (not draft.whole or draft.limits.left_out) and (rule := draft.rule("window")):
        number, phrases = draft.recall.view.units, draft.writer.rendering.phrases
        draft.ledger.put_note(rule.name, phrases.counted("message_not_shown", "messages_not_shown", number))  # until it is known
    for entry, reason in draft.limits.left_out:
        draft.omissions.add(reason, entry.rows)


def grow(draft: PageDraft) -> bool:
    """Give the room that is left to the conversation, the newest first; returns whether any of it was used.

    A large result leaves room for what is older, and takes what that does not use.
    """
    before = draft.placed()
    placed, free = _extended(draft, dict(before), draft.room())
    if free >= SHORT_TOKENS:
        placed = _completed(draft, placed, free)
    grown = [item for entry, item in placed.items() if entry not in before or item.size > before[entry].size]
    draft.take_off_finds([find for item in grown for find in draft.finds_of(item)])
    if grown:
        put_entries(draft, placed)
        draft.note_what_is_missing()
    return bool(grown)


def leave_out_older(draft: PageDraft) -> None:
    """Say why the rest of the conversation is not on the page."""
    view, placed = draft.recall.view, draft.placed()
    draft.omissions.add(OVER_BUDGET, [row for entry in draft.recall.turn if entry not in placed for row in entry.rows])
    older = dialogue_rows(view)
    draft.omissions.add(OLDER, older, older[::-1].tolist())


def put_entries(draft: PageDraft, placed: Placed) -> None:
    """Put the entries into their sections in page order."""
    reason = NEWEST if not draft.whole else LIMITED if draft.limits.left_out else FITS
    order = [placed[full.entry] for full in reversed(draft.full) if full.entry in placed]
    for source in ("window", "turn"):
        if rule := draft.rule(source):
            items = [item for item in order if draft.is_running(item) == (source == "turn")]
            draft.ledger.put(rule.name, labels_once(items, draft.writer) if draft.is_planned else items, reason)


def _rights(draft: PageDraft, shares: Shares) -> Placed:
    running = [full for full in draft.full if draft.is_running(full)]
    triggering = [full for full in running if full.entry in draft.recall.turn]
    rest = max(draft.rest - COUNT_TOLERANCE_TOKENS, 0)
    placed = evenly(draft, triggering, shares.results(rest), rest)
    free = max(min(draft.room() - COUNT_TOLERANCE_TOKENS, rest - _size(placed)), 0)
    rounds = _newest_lines(draft, running[len(triggering) :], min(shares.rounds, free))
    free -= _size(rounds)
    dialogue = [full for full in draft.full if not draft.is_running(full)] if draft.rule("window") else []
    last: Placed = {}
    follows = is_follow_up(draft.writer.question, draft.recall.terms)
    answer = next((full for full in dialogue if not is_result(full) and full.first.role == "assistant"), None)
    if answer and answer.entry and (part := part_of(answer, draft.writer, shares.answer(free, answer.size, follows=follows))):
        last = {answer.entry: part}
        free -= part.size + draft.writer.date_tokens(draft.date(part))
    return placed | rounds | last | _recent(draft, dialogue, last, shares.recent, free)


def _recent(draft: PageDraft, dialogue: list[Item], placed: Placed, share: int, free: int) -> Placed:
    recent: Placed = {}
    dates = {draft.date(item) for item in placed.values()}
    tokens = messages = 0
    for full in dialogue:
        if full.entry is None or (tokens >= share and messages >= NEWEST_MESSAGES):
            break
        is_message, date = not is_result(full), draft.date(full)
        item = placed.get(full.entry)
        if item is None:
            line = 0 if date in dates else draft.writer.date_tokens(date)
            least = MIN_PART_TOKENS if messages < NEWEST_MESSAGES and is_message else 0
            item = _part(draft, full, min(max(share - tokens, least), free - line))
            if item is None and is_message:
                break
            if item is None:
                continue
            recent[full.entry] = item
            dates.add(date)
            free -= item.size + line
        tokens, messages = tokens + item.size, messages + is_message
    return recent


def _part(draft: PageDraft, full: Item, room: int) -> Item | None:
    if not is_result(full):
        return part_of(full, draft.writer, room)
    line = _line(draft, full)
    return line if line.size <= room else None


def _newest_lines(draft: PageDraft, rounds: list[Item], room: int) -> Placed:
    placed: Placed = {}
    for full in rounds:
        short = _line(draft, full)
        if short.size > room or not full.entry:
            break
        placed[full.entry] = short
        room -= short.size
    return placed


def evenly(draft: PageDraft, triggering: list[Item], room: int, most: int) -> Placed:
    """The results that triggered, each with an even part of the room.

    most: tokens that they may have where `room` is too small for a line of each.
    """
    placed: Placed = {}
    caps = even_caps([full.size for full in triggering], min(room, most))
    parts = each(partial(_useful_part, draft, full, cap) for full, cap in zip(triggering, caps, strict=True))
    lines = [line_of(full, draft.writer) for full in triggering]
    for_lines = sum(line.size for line in lines)
    for full, part, line in sorted(zip(triggering, parts, lines, strict=True), key=lambda of: of[0].size):
        for_lines -= line.size
        item = part if part.size <= most - for_lines else line
        if full.entry and item.size <= most - for_lines:
            placed[full.entry] = item
            most -= item.size
    return placed


def _useful_part(draft: PageDraft, full: Item, cap: int) -> Item:
    part = full if full.size <= cap or not full.entry else draft.writer.entry(full.entry, cap=cap)
    return part if part.is_useful else line_of(full, draft.writer)


def _extended(draft: PageDraft, placed: Placed, free: int) -> tuple[Placed, int]:
    room = free + _size(placed)
    dates = {draft.date(item) for item in placed.values()}
    is_open = True
    for full, target in _targets(draft, room):
        before = placed.get(full.entry) if full.entry else None
        if full.entry is None or before is full or (before is None and not is_open):
            continue
        size = before.size if before else 0
        date = draft.date(full)
        free -= draft.writer.date_tokens(date) if before is None and date not in dates else 0
        item: Item | None = target
        freed = draft.tokens_of_finds(full) if target is full else 0
        if target.size - size > free + freed:
            is_open = False
            item = None if freed and not size else part_of(full, draft.writer, size + free)  # what was found of it is its part
        if item is None or item.size <= size:
            continue
        dates.add(date)
        placed[full.entry] = item
        free += size - item.size + (freed if item is full else 0)
    return placed, free


def _targets(draft: PageDraft, room: int) -> list[tuple[Item, Item]]:
    rules, writer = draft.recall.profile.tool_output, draft.writer
    others = [full for full in draft.full if full.entry not in draft.recall.turn]
    lines = each(partial(_line, draft, full) for full in others)
    words = sum(line.size for line in lines)
    for_results = room if rules.fold_at is None else room - min(words, int((1 - rules.fold_at) * room))
    targets: list[tuple[Item, Item]] = []
    for number, (full, line) in enumerate(zip(others, lines, strict=True)):
        target = line
        is_kept = number < rules.fold_keep or for_results >= full.size - line.size
        if full.entry not in draft.repeated and is_result(full) and is_kept:
            target = part_of(full, writer, int(LARGE_SHARE * room)) or line
            for_results -= target.size - line.size
        targets.append((full, target))
    return targets


def _completed(draft: PageDraft, placed: Placed, free: int) -> Placed:
    triggering = [full for full in draft.full if full.entry in draft.recall.turn]
    size = sum(placed[full.entry].size for full in triggering if full.entry in placed)
    even = evenly(draft, triggering, size + free, size + free)
    placed |= {entry: item for entry, item in even.items() if entry not in placed or item.size > placed[entry].size}
    free += size - sum(placed[full.entry].size for full in triggering if full.entry in placed)
    for full in draft.full:
        before = placed.get(full.entry) if full.entry else None
        if before is None or full.entry is None or before is full or full.entry in draft.repeated or free < SHORT_TOKENS:
            continue
        item = part_of(full, draft.writer, before.size + free)
        if item and item.size > before.size:
            placed[full.entry] = item
            free += before.size - item.size
    return placed


def _line(draft: PageDraft, full: Item) -> Item:
    return (
        full if not is_result(full) else line_of(full, draft.writer, "superseded" if full.entry in draft.repeated else "folded")
    )


def _size(placed: Placed) -> int:
    return sum(item.size for item in placed.values())
