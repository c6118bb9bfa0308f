"""Messages that were sent again because no answer came: the last of a row that says the same stands."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.recall.index.breadcrumb_table import is_retry
from builder.recall.index.view import View


def without_retries(view: View, trigger: Breadcrumb) -> View:
    """The view without the messages that were sent again right behind them, or as the trigger."""
    again = view.history.breadcrumbs.again[: view.size]
    is_sent_again = (again >= 0) & (again < view.size)
    gone = np.zeros(view.size, np.bool_)
    gone[is_sent_again] = view.current[again[is_sent_again]]
    gone[list(_tries(view, trigger))] = True
    return replace(view, current=view.current & ~gone) if gone.any() else view


def _tries(view: View, trigger: Breadcrumb) -> Iterator[int]:
    """Rows at the end of the conversation that say what the trigger says."""
    later = trigger
    for row in map(int, view.rows[::-1]):
        if view.shows(row):
            crumb = view.breadcrumb(row)
            if crumb.id == trigger.id or not is_retry(crumb, later):
                return
            yield row
            later = crumb
