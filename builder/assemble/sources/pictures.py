"""The pictures that have room beside what is on the page anyway: the newest; of the others there is their line."""

from builder.assemble.budget.limits import MIN_ROOM
from builder.assemble.draft import PageDraft


def put_pictures(draft: PageDraft, excess: int = 0) -> None:
    """Of the messages to answer, of the results to answer from, and of a conversation that is whole.

    excess: tokens by which the page was counted too long.
    """
    for source in ("trigger", "turn", *(("window",) if draft.whole else ())):
        rule, items = draft.rule(source), list(draft.items(source))
        if rule is None or not items or draft.writer.profile.chat_format == "none":
            continue
        room = draft.ledger.remaining - excess - (0 if source == "window" else MIN_ROOM)
        for number in reversed(range(len(items))):
            item = items[number] if items[number].pictures else draft.writer.with_pictures(items[number])
            room -= item.pictures - items[number].pictures
            if room < 0:
                break
            items[number] = item
        draft.ledger.put(rule.name, items, draft.ledger.reasons[rule.name])
