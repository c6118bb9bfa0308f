"""The room that nothing uses goes back to the conversation."""

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.items.forms import MIN_PART_TOKENS
from builder.assemble.sources.conversation import grow, leave_out_older
from builder.assemble.sources.fixed import complete_current
from builder.assemble.sources.instructions import leave_out_instructions, put_instructions
from builder.assemble.sources.summary import put_summary


def put_fill(draft: Draft, shares: Shares) -> None:
    """Let the conversation grow as long as it can, then the current message; instructions and summary yield what it shows."""
    leave_out_instructions(draft)
    if not draft.whole:
        is_growing = draft.recall.profile.fill
        while is_growing and grow(draft):
            put_instructions(draft, shares)
            put_summary(draft, shares)
            is_growing = draft.room() >= MIN_PART_TOKENS
        if draft.recall.profile.fill:
            complete_current(draft)
        draft.note_what_is_missing()
        leave_out_older(draft)
