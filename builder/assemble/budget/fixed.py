"""What no page is without: the profile's own words and the current message."""

from builder.assemble.budget.ledger import Ledger
from builder.assemble.page.draft import Item, Writer
from builder.assemble.request import Request
from builder.domain.errors import Rejected
from builder.pipeline.reminders import own_texts

USEFUL = 64
"""Tokens below which a part of a message says nothing."""


def put_fixed(ledger: Ledger, request: Request) -> bool:
    """Put them on an empty page; the words are cut, and then the current message, when they leave no room for each other.

    Returns whether the words were cut. Raises `Rejected` when there is no room for a useful part of the message.
    """
    profile, rule = request.profile, next(rule for rule in request.profile.sections if rule.source == "trigger")
    texts = own_texts(profile, request.system_prompt, request.trigger.breadcrumb, request.view)
    message = trigger_item(ledger.writer, request)
    least = ledger.cost(rule.name, (message,)) - max(message.tokens - USEFUL, 0)
    cut = False
    for name, text in texts.items():
        cost = ledger.heading(name) + ledger.writer.rendering.count(text + "\n")
        if cost <= ledger.left - least:
            ledger.put_text(name, text)
        else:
            cut = True
            room = ledger.left - least - ledger.heading(name)
            if shortened := ledger.writer.rendering.shortened(text, room):
                ledger.put_text(name, shortened)
    room = ledger.left - ledger.cost(rule.name, (message,)) + message.tokens
    if message.size > room:
        message = trigger_item(ledger.writer, request, room - max(message.extra, 0))
    if not message.text or message.tokens > room or (message.tokens < USEFUL and message.fragments[-1].reduced):
        raise Rejected(
            f"the budget of {ledger.allowance} tokens is too small for the system prompt and a useful part of the current "
            f"message, {max(room, 0)} are left for it; raise `budget` in the profile {profile.consumer!r}"
        )
    ledger.put(rule.name, (message,))
    return cut


def trigger_item(writer: Writer, request: Request, cap: int | None = None) -> Item:
    """The current message; a tool's answer stands below its call. cap: most tokens; None = whole."""
    return writer.for_messages(writer.message(request.trigger.breadcrumb, request.view.size, cap=cap))
