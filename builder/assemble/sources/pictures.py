"""The pictures that have room beside what is on the page anyway: the newest; of the others there is their line."""

from dataclasses import replace

from builder.assemble.budget.limits import MIN_ROOM
from builder.assemble.draft import PageDraft
from builder.assemble.items.writer import Item


def put_pictures(draft: PageDraft, excess: int = 0) -> None:
    """Of the messages to answer, of the results to answer from, and of a conversation that is whole.

    excess: tokens by which the page was counted too long.
    """
    for source in ("trigger", "turn", *(("window",) if draft.whole else ())):
        rule, items = draft.rule(source), list(draft.items(source))
        if rule is None or not items or draft.writer.profile.chat_format == "none":
            continue
        room = draft.ledger.remaining - excess - (0 if source == "window" else MIN_ROOM) + sum(item.pictures for item in items)
        pictured: list[Item] = []
        for item in map(draft.writer.with_pictures, reversed(items)):
            room -= item.pictures
            pictured.append(item if room >= 0 else replace(item, pictures=0))
        draft.ledger.put(rule.name, reversed(pictured), draft.ledger.reasons[rule.name])
