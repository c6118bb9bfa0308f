"""The parts that no page is without: the profile's own words and the current message."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.items.forms import MIN_PART_TOKENS, even_caps
from builder.assemble.items.writer import Item
from builder.assemble.sources.reminders import reminder_texts
from builder.domain.control_text import visible
from builder.domain.errors import Rejected

TO_ANSWER, OF_TURN = "the message to answer", "part of the tool calls to answer from"
OWN_WORDS = {"system": "the system prompt", "reminder": "a reminder of the profile"}
"""Source of a section → what of the profile or of the agent's definition it says word for word."""


def put_fixed(draft: Draft, _: Shares) -> None:
    """Put the profile's own words on an empty page: the system prompt whole, reminders as far as the message leaves them room.

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


def put_current(draft: Draft, shares: Shares) -> None:
    """Put the current message on the page, whole or within its share, after a note on what was answered since."""
    questions, phrases = draft.recall.questions, draft.writer.rendering.phrases
    if questions.answered and questions.ids and draft.rest > 2 * MIN_PART_TOKENS:
        note = phrases.counted("message_answered", "messages_answered", questions.answered)
        draft.ledger.put_note(draft.trigger_rule.name, note)
    _put_current(draft, shares.current(draft.ledger))
    if not shares.whole:
        shares.aim(draft.ledger, draft.recall.profile.aim // 2)


def complete_current(draft: Draft) -> None:
    """Let a current message that is cut have the room that nothing else uses."""
    name, ledger = draft.trigger_rule.name, draft.ledger
    items = ledger.items.get(name, ())
    if ledger.remaining >= MIN_PART_TOKENS and (len(items) < len(draft.questions) or any(item.is_cut for item in items)):
        _put_current(draft, ledger.remaining + ledger.spent[name])


def _put_current(draft: Draft, share: int) -> None:
    name, ledger, items = draft.trigger_rule.name, draft.ledger, current_items(draft)
    if not items:
        return
    room = min(share, ledger.remaining + ledger.spent[name]) - _frame(draft, items)
    room = max(room, min(_size(items), MIN_PART_TOKENS))
    if _size(items) > room:
        items = _newest(items, room)
        items = current_items(draft, even_caps([item.size for item in items], room - sum(max(item.extra, 0) for item in items)))
        draft.whole = False
    ledger.put(name, items, TO_ANSWER)


def _newest(items: tuple[Item, ...], room: int) -> tuple[Item, ...]:
    """As many of the newest as `room` tokens have a useful part of each for, one at least."""
    needs = accumulate(min(item.size, MIN_PART_TOKENS) + max(item.extra, 0) for item in reversed(items))
    return items[-max(sum(need <= room for need in needs), 1) :]


def current_items(draft: Draft, caps: Sequence[int] = ()) -> tuple[Item, ...]:
    """The messages to answer, oldest first; none on the page of a tool's answer that answers nobody.

    caps: tokens of each of the newest; () = all of them whole.
    """
    writer, recall = draft.writer, draft.recall
    limits = caps or repeat(None)
    if recall.turn:
        return tuple(
            writer.entry(question, cap=cap) for question, cap in zip(draft.questions[-len(caps) :], limits, strict=False)
        )
    return (writer.for_messages(writer.message(recall.trigger, recall.view.size, cap=next(iter(limits)))),)


def _size(items: Iterable[Item]) -> int:
    return sum(item.size for item in items)


def _frame(draft: Draft, items: Sequence[Item]) -> int:
    """Tokens of the heading, the note and the date lines."""
    name, ledger = draft.trigger_rule.name, draft.ledger
    note = draft.writer.rendering.count(f"{ledger.notes[name]}\n") if ledger.notes.get(name) else 0
    return ledger.cost(name, items) + note - sum(item.tokens for item in items)
