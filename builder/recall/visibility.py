"""What of a view one consumer may see: its own conversation, nothing that is excluded and nothing that has ended."""

from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.summary import SUMMARY
from builder.recall.index.view import View

Rows = NDArray[np.bool_]

SUMMARIES = Selector(schemas=(SUMMARY,))
"""Whose they are is known by their recipe."""


def visible_to(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...]) -> View:
    """The view as this consumer sees it at the trigger; the same view when there is nothing to hide.

    No unit is split by any of it: one that is partly this consumer's is wholly so, and with an excluded or ended part of an
    exchange go its calls and results.
    """
    return without_expired(
        of_audience(view, profile.audience, trigger.task if profile.scope_to_task else None), excluded, trigger.received_at
    )


def of_audience(view: View, audience: Selector | None, task: str | None) -> View:
    """Only what a consumer's `audience` matches, and of one task if any is named; None = everything."""
    if audience is None and task is None:
        return view
    attributes = view.history.attributes
    rows = np.ones(view.size, np.bool_)
    if audience is not None:
        rows &= attributes.selected(audience, view.history.rows, view.size)
    if task is not None:
        rows &= attributes.task.head(view.size) == attributes.tasks.get(task, -1)
    mine = _whole_units(view, rows) | attributes.selected(SUMMARIES, view.history.rows, view.size)
    return replace(view, current=view.current & mine, audience_rows=mine)


def without_expired(view: View, excluded: tuple[Selector, ...], now: datetime) -> View:
    """Without what has ended by now, and what the blacklist names, each selector by itself."""
    attributes = view.history.attributes
    rows = np.zeros(view.size, np.bool_)
    if attributes.ending:
        rows |= attributes.expires.head(view.size) <= now.timestamp()
    for selector in excluded:
        rows |= attributes.selected(selector, view.history.rows, view.size)
    rows &= view.current  # an older version that has ended takes nothing with it
    if not rows.any():
        return view
    gone = rows | (_whole_units(view, rows) & attributes.by_tool.head(view.size))
    return replace(view, current=view.current & ~gone)


def _whole_units(view: View, rows: Rows) -> Rows:
    """Every row of the units of these rows."""
    unit = view.heads
    held = np.zeros(view.size, np.bool_)
    held[unit[rows]] = True
    return np.asarray(held[unit])
