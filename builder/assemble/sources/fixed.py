"""What no page is without: the profile's own words and the current message."""

from functools import partial

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import MIN_PART_TOKENS
from builder.assemble.items.layout import each
from builder.assemble.sources.reminders import own_texts
from builder.domain.errors import Rejected
from builder.recall.recall import ConsumerRecall


def put_fixed(ledger: Ledger, recall: ConsumerRecall) -> bool:
    """Put them on an empty page; the words are cut, and then the current message, when they leave no room for each other.

    Returns whether the words were cut. Raises `Rejected` when there is no room for a useful part of the message.
    """
    profile, rule = recall.profile, next(rule for rule in recall.profile.sections if rule.source == "trigger")
    texts = own_texts(profile, recall.system_prompt, recall.trigger, recall.view)
    current = current_items(ledger.writer, recall)
    tokens, size = sum(item.tokens for item in current), sum(item.size for item in current)
    least = ledger.cost(rule.name, current) - tokens + min(size, MIN_PART_TOKENS)
    cut = False
    for name, text in texts.items():
        room = ledger.remaining - least - ledger.heading(name)
        part = text if ledger.writer.rendering.count(text + "\n") <= room else ledger.writer.rendering.shortened(text, room)
        cut |= part != text
        if part:
            ledger.put_text(name, part)
    room = ledger.remaining - ledger.cost(rule.name, current) + tokens
    current = _fit(current, room, ledger.writer, recall)
    tokens = sum(item.tokens for item in current)
    if (
        tokens > room
        or not any(item.text for item in current)
        or (room < MIN_PART_TOKENS and any(item.is_cut for item in current))
    ):
        raise Rejected(
            f"the budget of {ledger.allowance} tokens is too small for the system prompt and a useful part of the current "
            f"message, {max(room, 0)} are left for it; raise `budget` in the profile {profile.consumer!r}"
        )
    ledger.put(rule.name, current)
    return cut


def current_items(writer: Writer, recall: ConsumerRecall) -> tuple[Item, ...]:
    """The current message, or the calls of a turn with what the tools answered."""
    if recall.turn:
        return each(partial(writer.entry, entry) for entry in recall.turn)
    return (_message(writer, recall),)


def _message(writer: Writer, recall: ConsumerRecall, cap: int | None = None) -> Item:
    return writer.for_messages(writer.message(recall.trigger, recall.view.size, cap=cap))


def _fit(items: tuple[Item, ...], room: int, writer: Writer, recall: ConsumerRecall) -> tuple[Item, ...]:
    """The items within `room` tokens: the largest one is cut first, each once."""
    fitted = list(items)
    for number in sorted(range(len(items)), key=lambda number: -items[number].size):
        excess = sum(item.size for item in fitted) - room
        if excess <= 0:
            break
        item = fitted[number]
        cap = max(item.size - excess, min(MIN_PART_TOKENS, item.size))
        fitted[number] = writer.entry(item.entry, cap=cap) if item.entry else _message(writer, recall, cap - max(item.extra, 0))
    return tuple(fitted)
