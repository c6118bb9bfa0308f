"""Which units `compact` takes, and what it keeps of them."""

from builder.recall.index.view import View
from builder.recall.summaries.plan import Waiting


def older(view: View, units: tuple[Waiting, ...], keep: int) -> tuple[Waiting, ...]:
    """All but the kept tail, which begins with what a person said and never with the answer of a tool."""
    number = max(len(units) - keep, 0)
    while 0 < number < len(units) and view.breadcrumb(units[number][0]).role != "user":
        number -= 1
    return units[:number]


def is_said(view: View, row: int) -> bool:
    """Whether a person said something there."""
    crumb = view.breadcrumb(row)
    return crumb.role == "user" and bool(crumb.text.strip())
