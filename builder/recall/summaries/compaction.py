"""What `compact` summarises, and which words it keeps."""

from builder.recall.index.view import View
from builder.recall.summaries.plan import WaitingUnit


def units_to_compact(view: View, units: tuple[WaitingUnit, ...], keep: int) -> tuple[WaitingUnit, ...]:
    """All but the last `keep` units or more: the rest begins with what a person said, never with the answer of a tool."""
    number = max(len(units) - keep, 0)
    while 0 < number < len(units) and view.breadcrumb(units[number][0]).role != "user":
        number -= 1
    return units[:number]


def is_from_person(view: View, row: int) -> bool:
    """Whether a person said something there."""
    crumb = view.breadcrumb(row)
    return crumb.role == "user" and bool(crumb.text.strip())
