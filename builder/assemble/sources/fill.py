"""The room that nothing uses goes back to the conversation."""

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.sources.conversation import grow, leave_out_older
from builder.assemble.sources.instructions import leave_out_instructions, put_instructions
from builder.assemble.sources.summary import put_summary

SHORT_TOKENS = 16
"""Of a short message: what is left below it fills nothing."""


def put_fill(draft: Draft, shares: Shares) -> None:
    """Let the conversation grow as long as it can; instructions and summary yield what it shows of them."""
    leave_out_instructions(draft)
    if not draft.whole:
        is_growing = draft.recall.profile.fill
        while is_growing and grow(draft):
            put_instructions(draft, shares)
            put_summary(draft, shares)
            is_growing = draft.room() >= SHORT_TOKENS
        leave_out_older(draft)
