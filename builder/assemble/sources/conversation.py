"""The conversation where all of it is on the page."""

from builder.assemble.draft import PageDraft
from builder.assemble.items.speakers import labels_once

FITS, NEWEST = "the conversation, which fits", "the newest part of the conversation"
LIMITED = "what the profile's `window` leaves of the conversation"


def put_conversation(draft: PageDraft) -> None:
    """Put all that the profile's limits leave into its sections, in page order."""
    reason = LIMITED if draft.limits.left_out else FITS
    for source in ("window", "turn"):
        if rule := draft.rule(source):
            items = [item for item in reversed(draft.full) if draft.is_running(item) == (source == "turn")]
            draft.ledger.put(rule.name, items if draft.limits.left_out else labels_once(items, draft.writer), reason)
