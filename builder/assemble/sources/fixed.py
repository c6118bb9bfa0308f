"""Parts of every page: the profile's own words, the current message, pinned breadcrumbs and instructions in force."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat

from builder.assemble.budget.limits import COUNT_TOLERANCE_TOKENS
from builder.assemble.draft import PageDraft
from builder.assemble.items.forms import MIN_PART_TOKENS, RenderForm, even_caps
from builder.assemble.items.writer import Item, Writer
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import OPENING, OVER_BUDGET, Omission
from builder.domain.control_text import visible
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule
from builder.domain.selector import Pinned
from builder.domain.stored import StoredBreadcrumb
from builder.language.dates import depends_on_day
from builder.recall.index.view import View
from builder.recall.search.candidates import Find


def reminder_texts(profile: Profile, trigger: Breadcrumb, view: View) -> dict[str, str]:
    """Section → the reminders in it that are due on this turn."""
    texts: dict[str, list[str]] = {}
    for reminder in profile.reminders:
        is_meant = reminder.when is None or reminder.when.matches(trigger)
        if is_meant and (reminder.every == 1 or view.turn % reminder.every == 0):
            texts.setdefault(reminder.section, []).append(reminder.text)
    return {name: visible("\n".join(parts)) for name, parts in texts.items()}


CURRENT_SHARE = 0.5
"""The current message's share of what the profile's own words leave."""
TO_ANSWER, OF_TURN = "the message to answer", "part of the tool calls to answer from"
OWN_WORDS = {"system": "the system prompt", "reminder": "a reminder of the profile"}
"""Source of a section → what of the profile or of the agent's definition it says word for word."""


def put_fixed(draft: PageDraft) -> None:
    """Put the profile's own words on an empty page: the system prompt whole, reminders as far as the message leaves room.

    Raises `Rejected` when the prompt leaves no room for a useful part of the message.
    """
    ledger, recall = draft.ledger, draft.recall
    current = current_items(draft)
    least = min(_size(current), MIN_PART_TOKENS) + _frame(draft, current) if current else 0
    rule = draft.rule("system")
    if rule and recall.system_prompt:
        ledger.put_text(rule.name, visible(recall.system_prompt))
    if ledger.remaining < least:
        prompt = "the system prompt and " if rule and recall.system_prompt else ""
        raise Rejected(
            f"the budget of {ledger.allowance} tokens is too small for {prompt}a useful part of the current message, "
            f"{max(ledger.remaining, 0)} are left for it; raise `budget` in the profile {recall.profile.consumer!r}"
        )
    for name, text in reminder_texts(recall.profile, recall.trigger, recall.view).items():
        room = ledger.remaining - least - ledger.heading(name)
        part = text if draft.writer.rendering.count(text + "\n") <= room else draft.writer.rendering.shortened(text, room)
        if part:
            ledger.put_text(name, part)


def put_current(draft: PageDraft) -> None:
    """Put the current message on the page, whole or within its share."""
    questions, phrases = draft.recall.questions, draft.writer.rendering.phrases
    if questions.answered and questions.ids and draft.rest > 2 * MIN_PART_TOKENS:
        note = phrases.counted("message_answered", "messages_answered", questions.answered)
        draft.ledger.put_note(draft.trigger_rule.name, note)
    remaining = draft.ledger.remaining
    _put_current(draft, remaining if draft.whole else int(CURRENT_SHARE * remaining) + COUNT_TOLERANCE_TOKENS)


def complete_current(draft: PageDraft, excess: int) -> None:
    """Give a cut current message the room that is left. excess: tokens by which the page was counted too long."""
    name, ledger = draft.trigger_rule.name, draft.ledger
    items, free = ledger.items.get(name, ()), ledger.remaining - excess
    if free >= MIN_PART_TOKENS and (len(items) < len(draft.questions) or any(item.is_cut for item in items)):
        _put_current(draft, free + ledger.spent[name])


def _put_current(draft: PageDraft, share: int) -> None:
    name, ledger, items = draft.trigger_rule.name, draft.ledger, current_items(draft)
    if not items:
        return
    room = min(share, ledger.remaining + ledger.spent[name])
    if _size(items) > max(room - _frame(draft, items), MIN_PART_TOKENS):
        while len(items) > 1 and _least(items) > room - _frame(draft, items):
            items = items[1:]
        rest = max(room - _frame(draft, items), MIN_PART_TOKENS) - sum(max(item.extra, 0) for item in items)
        items = current_items(draft, even_caps([item.size for item in items], rest))
        draft.whole = False
    ledger.put(name, items, TO_ANSWER)


def current_items(draft: PageDraft, caps: Sequence[int] = ()) -> tuple[Item, ...]:
    """The messages to answer, oldest first; () for a tool result that answers nobody.

    caps: tokens of each of the newest; () = all of them whole.
    """
    writer, recall = draft.writer, draft.recall
    limits = caps or repeat(None)
    if recall.turn:
        return tuple(
            writer.entry(question, cap=cap) for question, cap in zip(draft.questions[-len(caps) :], limits, strict=False)
        )
    return (writer.for_copy(writer.message(recall.trigger, recall.view.size, cap=next(iter(limits)))),)


def _size(items: Iterable[Item]) -> int:
    return sum(item.size for item in items)


def _least(items: Iterable[Item]) -> int:
    """Tokens of a useful part of each."""
    return sum(min(item.size, MIN_PART_TOKENS) + max(item.extra, 0) for item in items)


def _frame(draft: PageDraft, items: Sequence[Item]) -> int:
    name, ledger = draft.trigger_rule.name, draft.ledger
    note = draft.writer.rendering.count(f"{ledger.notes[name]}\n") if ledger.notes.get(name) else 0
    return ledger.cost(name, items) + note - sum(item.tokens for item in items)


def _room(draft: PageDraft, rule: SectionRule) -> int:
    """Tokens that a section may have."""
    remaining = draft.ledger.remaining
    return remaining - draft.reserve if draft.whole else min(rule.max_tokens(draft.recall.profile.allowance), remaining)


def put_pinned(draft: PageDraft) -> None:
    """Fill each section with source pinned within its share."""
    recall, ledger = draft.recall, draft.ledger
    for rule in recall.profile.sections:
        if rule.source != "pinned":
            continue
        rows = section_rows(recall.profile, recall.pinned, rule)
        room = _room(draft, rule) - ledger.heading(rule.name)
        items = pinned_items([row for row, _ in rows], draft.writer, room)
        kinds = {row.breadcrumb.id: f"pinned: {_kind_name(kind)}" for row, kind in rows}
        ledger.put(rule.name, [replace(item, reason=kinds[item.first.id]) for item in items], "pinned")
        draft.omissions.name(Omission(id=row.breadcrumb.id, reason=OVER_BUDGET) for row, _ in rows)


def section_rows(
    profile: Profile, pinned: tuple[tuple[StoredBreadcrumb, ...], ...], rule: SectionRule
) -> list[tuple[StoredBreadcrumb, Pinned]]:
    """The breadcrumbs of this section, each with its kind, in the profile's order, none twice.

    pinned: for each of the profile's kinds what was recalled.
    """
    default = profile.section("pinned")
    own: list[tuple[StoredBreadcrumb, Pinned]] = []
    ids: set[str] = set()
    for kind, rows in zip(profile.pinned, pinned, strict=True):
        is_here = (kind.section or (default.name if default else "")) == rule.name
        for row in rows:
            if row.breadcrumb.id not in ids and is_here:
                own.append((row, kind))
            ids.add(row.breadcrumb.id)
    return own


def pinned_items(rows: Sequence[StoredBreadcrumb], writer: Writer, room: int) -> tuple[Item, ...]:
    """The items of a section within `room` tokens, in place order: whole, or cut to a useful part."""
    items: list[Item] = []
    for row in rows:
        item = writer.message(row.breadcrumb, -1)
        if item.tokens > room:
            item = writer.message(row.breadcrumb, -1, cap=room)
        if item.text and item.tokens <= room and (not item.is_cut or item.tokens >= MIN_PART_TOKENS):
            items.append(item)
            room -= item.tokens
    return tuple(sorted(items, key=lambda item: item.first.place))


def _kind_name(kind: Pinned) -> str:
    selector = kind.selector
    conditions = {
        "": selector.schemas,
        "id ": selector.ids,
        "any tag of ": selector.any_tags,
        "all tags of ": selector.all_tags,
        "no tag of ": selector.none_tags,
    }
    words = "; ".join(f"{name}{', '.join(values)}" for name, values in conditions.items() if values)
    number = kind.keep if isinstance(kind.keep, str) else f"the newest {kind.keep}"
    return f"{'the latest' if number == 'latest' else number} {'' if selector.schemas else 'with '}{words}"


HOLDS = "an instruction that still holds"
MAX_IDS = 5
"""The note on instructions that have no room."""


def put_instructions(draft: PageDraft) -> None:
    """Within their share, the newest; a line says how many others there are."""
    rule, ledger = draft.rule("instructions"), draft.ledger
    if rule is None or not draft.active.instructions:
        return
    ledger.put(rule.name, (), HOLDS)
    ledger.put_note(rule.name)
    room, due = _room(draft, rule), _due(draft)
    ledger.rules[rule.name] = (
        replace(rule, dates="day") if rule.dates == "none" and any(_needs_date(draft, find) for find in due) else rule
    )
    items = {find.row: _instruction_item(find, draft) for find in due}
    if ledger.cost(rule.name, [*items.values()]) > room:
        room -= draft.writer.rendering.count(f"{_instructions_left_out([*items], draft)}\n")
        within = _within(draft, rule, due, items, room)
        rows_left_out = [row for row, item in items.items() if within.get(row) is not item]
        ledger.put_note(rule.name, _instructions_left_out(rows_left_out, draft))
        items = {row: within[row] for row in sorted(within)}
    ledger.put(rule.name, [*items.values()], HOLDS)


def _due(draft: PageDraft) -> list[Find]:
    """Those that no message of the page says, the oldest first."""
    view, rows = draft.recall.view, draft.whole_rows()
    ordered = sorted(draft.active.instructions, key=lambda find: find.row)
    return [find for find in ordered if view.session_of[find.row] != view.session or find.row not in rows]


def _instruction_item(find: Find, draft: PageDraft) -> Item:
    crumb = draft.recall.view.breadcrumb(find.row)
    return draft.writer.message(crumb, find.row, RenderForm(spans=find.spans, is_bare=True))


def _within(draft: PageDraft, rule: SectionRule, due: Sequence[Find], items: dict[int, Item], room: int) -> dict[int, Item]:
    """Rules that words make have the room first, then those of lists. items: of the whole messages, by row."""
    words = {find.row: _of_words(find, items[find.row], draft) for find in due}
    sentences = {row: item for row, item in words.items() if item}
    rows = _newest_within(draft, rule, sentences, room)
    within = {row: item for row, item in sentences.items() if row in rows}
    for row in reversed(items):
        more = within | {row: items[row]}
        if words[row] is not items[row] and draft.ledger.cost(rule.name, [more[each] for each in sorted(more)]) <= room:
            within = more
    return within


def _of_words(find: Find, item: Item, draft: PageDraft) -> Item | None:
    """The item without the rules that only a list makes; the same where it has none of these, None where it has no others."""
    spans = tuple(span for span in find.spans if (find.row, *span) not in draft.active.items)
    if spans == find.spans:
        return item
    return _instruction_item(replace(find, spans=spans), draft) if spans else None


def _newest_within(draft: PageDraft, rule: SectionRule, items: dict[int, Item], room: int) -> set[int]:
    """Rows of the newest that have room, each with the rules that it limits and the permissions that limit it."""
    within = set[int]()
    for row in reversed(items):
        permissions = (permission for permission, rules in draft.active.rules.items() if row in rules)
        added = {row, *within, *draft.active.rules[row], *permissions}
        if draft.ledger.cost(rule.name, [item for other, item in items.items() if other in added]) <= room:
            within = added
    return within


def _instructions_left_out(rows: Sequence[int], draft: PageDraft) -> str:
    ids = [draft.recall.view.breadcrumb(row).id for row in reversed(rows)]
    listed = ", ".join(ids[:MAX_IDS]) + (f", {OPENING}" if len(ids) > MAX_IDS else "")
    name = "instruction_left_out" if len(ids) == 1 else "instructions_left_out"
    return draft.writer.rendering.phrases(name, number=len(ids), ids=listed)


def leave_out_instructions(draft: PageDraft) -> None:
    """Say why the others are not on the page."""
    view = draft.recall.view
    draft.omissions.name(draft.active.omissions)
    for find in draft.active.instructions:
        draft.omissions.name([Omission(id=view.breadcrumb(find.row).id, reason=OVER_BUDGET, tokens=find.tokens)])


def _needs_date(draft: PageDraft, find: Find) -> bool:
    crumb, day_of = draft.recall.view.breadcrumb(find.row), draft.writer.day_of
    spans = find.spans or ((0, len(crumb.text)),)
    return day_of(crumb) != day_of(draft.recall.trigger) and any(depends_on_day(crumb.text[start:end]) for start, end in spans)
