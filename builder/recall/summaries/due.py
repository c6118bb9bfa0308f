"""When units are summarised, and which."""

from collections.abc import Sequence

from builder.domain.page_settings import Summaries
from builder.recall.index.view import View
from builder.recall.summaries.plan import WaitingUnit


def is_due(view: View, settings: Summaries, units: Sequence[WaitingUnit]) -> bool:
    """Whether more units wait than the profile allows."""
    if len(units) <= settings.keep:
        return False
    if settings.max_pending is not None and len(units) > settings.max_pending:
        return True
    return settings.tokens is not None and sum(tokens(view, rows) for _, rows in units) > settings.tokens


def units_until_due(settings: Summaries, units: int) -> int:
    """Messages that must come before `is_due` has to be asked again."""
    if settings.max_pending is None or settings.tokens is not None:
        return max(min((settings.max_pending or settings.batch) - units + 1, settings.batch), 1)
    return max(settings.max_pending - units + 1, settings.keep - units + 1, 1)


def tokens(view: View, rows: tuple[int, ...]) -> int:
    """Tokens of these rows, by their passages."""
    return sum(passage.tokens for row in rows for passage in view.history.rows[row].passages)


def units_to_compact(view: View, units: tuple[WaitingUnit, ...], keep: int) -> tuple[WaitingUnit, ...]:
    """All but the last `keep` units or more; the rest begins with a person's message."""
    number = max(len(units) - keep, 0)
    while 0 < number < len(units) and view.breadcrumb(units[number][0]).role != "user":
        number -= 1
    return units[:number]
