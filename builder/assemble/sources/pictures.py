"""The pictures that have room beside what is on the page anyway: the newest; of the others there is their line."""

from builder.assemble.budget.limits import MIN_ROOM
from builder.assemble.draft import PageDraft
from builder.assemble.items.writer import Item
from builder.assemble.sources.results import least_results


def put_pictures(draft: PageDraft, excess: int = 0) -> None:
    """Pictures of the messages to answer, of the results to answer from, and of a conversation that is whole.

    excess: tokens by which the page was counted too long.
    """
    owed = 0 if draft.whole or draft.items("turn") else least_results(draft)
    for source in ("trigger", "turn", *(("window",) if draft.whole else ())):
        rule, items = draft.rule(source), list(draft.items(source))
        if rule is None or not items or draft.writer.profile.chat_format is None:
            continue
        free = draft.ledger.remaining - excess - owed
        more = free if source == "window" else max(free - MIN_ROOM, min(free, 0))  # what has a picture keeps it on a full page
        room = more + sum(item.pictures for item in items)
        pictured: list[Item] = []
        for item in reversed(items):
            pictured.append(draft.writer.with_pictures(item, room))
            room -= pictured[-1].pictures
        draft.ledger.put(rule.name, reversed(pictured), draft.ledger.reasons[rule.name])
