"""An entry of the conversation whole, in part, or with its results in a line."""

from builder.assemble.items.forms import LINE_REASONS, MIN_PART_TOKENS, Line
from builder.assemble.items.writer import Item, Writer
from builder.recall.index.conversation import Entry

MAX_LINE_TOKENS = 96
"""Of a call with a line for each result."""
Placed = dict[Entry, Item]
"""What is on the page of each entry."""


def is_result(full: Item) -> bool:
    """Whether it is a call with its results, or a result by itself."""
    return full.entry is not None and (bool(full.entry.request) or full.first.role == "tool")


def line_of(full: Item, writer: Writer, line: Line = "folded") -> Item:
    """The call with a line for each result; a failure is no line. What is shorter than its line is whole.

    A profile that folds nothing has the ends of each result instead.
    """
    if full.entry is None or _line_reason(full) or full.size <= MIN_PART_TOKENS // 2:
        return full
    is_never_folded = line == "folded" and writer.profile.tool_output.fold_at is None
    short = writer.entry(full.entry, "" if is_never_folded else line, cap=MAX_LINE_TOKENS)
    return short if short.size < full.size else full


def part_of(full: Item, writer: Writer, cap: int) -> Item | None:
    """All of it, or a part, within `cap` tokens; None when no useful part has room."""
    if full.size <= cap:
        return full
    if full.entry is None or cap < MIN_PART_TOKENS:
        return None
    part = writer.entry(full.entry, _line_reason(full), cap=cap)
    return part if part.size <= cap and part.is_useful else None


def _line_reason(full: Item) -> Line:
    """Why its results are lines already; "" = they are not."""
    reasons = {fragment.reduced for fragment in full.fragments}
    return next((line for line, reason in LINE_REASONS.items() if line and reason in reasons), "")
