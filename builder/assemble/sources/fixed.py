"""The parts that no page is without: the profile's own words and the current message."""

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.items.forms import MIN_PART_TOKENS
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
    current = current_item(draft)
    least = (
        min(current.size, MIN_PART_TOKENS) + ledger.cost(draft.trigger_rule.name, (current,)) - current.tokens if current else 0
    )
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
    """Put the current message on the page, whole or within its share."""
    _put_current(draft, shares.current(draft.ledger))
    if not shares.whole:
        shares.aim(draft.ledger, draft.recall.profile.aim // 2)


def complete_current(draft: Draft) -> None:
    """Let a current message that is cut have the room that nothing else uses."""
    name, ledger = draft.trigger_rule.name, draft.ledger
    if ledger.remaining >= MIN_PART_TOKENS and any(item.is_cut for item in ledger.items.get(name, ())):
        _put_current(draft, ledger.remaining + ledger.spent[name])


def _put_current(draft: Draft, share: int) -> None:
    name, ledger, item = draft.trigger_rule.name, draft.ledger, current_item(draft)
    if item is None:
        return
    heading = ledger.cost(name, (item,)) - item.tokens
    room = max(min(share, ledger.remaining + ledger.spent[name]) - heading, min(item.size, MIN_PART_TOKENS))
    if item.size > room:
        item = current_item(draft, room - max(item.extra, 0)) or item
        draft.whole = False
    ledger.put(name, (item,), TO_ANSWER)


def current_item(draft: Draft, cap: int | None = None) -> Item | None:
    """The message to answer; None on the page of a tool's answer that answers nobody."""
    writer, recall = draft.writer, draft.recall
    if recall.turn:
        return writer.entry(draft.question, cap=cap) if draft.question else None
    return writer.for_messages(writer.message(recall.trigger, recall.view.size, cap=cap))
