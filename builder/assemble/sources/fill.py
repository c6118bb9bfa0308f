"""The room that nothing uses goes back to the conversation."""

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.sources.conversation import SHORT_TOKENS, grow, leave_out_older
from builder.assemble.sources.fixed import complete_current
from builder.assemble.sources.instructions import leave_out_instructions, put_instructions
from builder.assemble.sources.summary import leave_out_shown_lines, put_summary

MAX_ROUNDS = 4
"""Times that it grows: each time what it shows of other sections makes room."""


def put_fill(draft: Draft, shares: Shares) -> None:
    """Let the conversation grow as long as it can, then the current message; instructions and summary yield what it shows."""
    as_noted = draft.items("instructions")
    if not draft.whole:
        put_instructions(draft, shares)
    leave_out_instructions(draft)
    leave_out_shown_lines(draft)
    if not draft.whole:
        for _ in range(MAX_ROUNDS if draft.recall.profile.fill else 0):
            if draft.room() < SHORT_TOKENS or not grow(draft):
                break
            as_noted = draft.items("instructions")
            put_instructions(draft, shares)
            put_summary(draft, shares)
        if draft.recall.profile.fill:
            complete_current(draft)
        if draft.items("instructions") != as_noted:
            draft.note_what_is_missing()
        leave_out_older(draft)
