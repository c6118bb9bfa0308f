"""What of a view one consumer may see: its own conversation, nothing that is excluded and nothing that has ended."""

from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.summary import SUMMARY
from builder.pipeline.view import View

Rows = NDArray[np.bool_]

SUMMARIES = Selector(schemas=(SUMMARY,))
"""Whose they are is known by their recipe."""


def heard(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...]) -> View:
    """The view as this consumer sees it at the trigger; the same view when there is nothing to hide.

    excluded: what the blacklist names, each selector by itself (features D18). No unit is split by any of it (A8): one that is
    partly this consumer's is wholly so, and with an excluded or ended part of an exchange go its calls and results.
    """
    mine = _mine(view, profile, trigger.task)
    gone = _gone(view, excluded, trigger.received_at)
    if mine is None and gone is None:
        return view
    current = view.current if mine is None else view.current & mine
    return replace(view, current=current if gone is None else current & ~gone, heard_by=mine)


def _mine(view: View, profile: Profile, task: str) -> Rows | None:
    """What the profile `hears` (features A5), of the trigger's task only (A12); None = everything."""
    if profile.hears is None and not profile.own_task:
        return None
    marks = view.history.marks
    rows = np.ones(view.size, np.bool_)
    if profile.hears is not None:
        rows &= marks.selected(profile.hears, view.history.rows, view.size)
    if profile.own_task:
        rows &= marks.task.head(view.size) == marks.tasks.get(task, -1)
    return _whole_units(view, rows) | marks.selected(SUMMARIES, view.history.rows, view.size)


def _gone(view: View, excluded: tuple[Selector, ...], now: datetime) -> Rows | None:
    """What is excluded or has ended by now, with the calls and results of its exchange; None = nothing."""
    marks = view.history.marks
    rows = np.zeros(view.size, np.bool_)
    if marks.ending:
        rows |= marks.expires.head(view.size) <= now.timestamp()
    for selector in excluded:
        rows |= marks.selected(selector, view.history.rows, view.size)
    rows &= view.current  # an older version that has ended takes nothing with it
    if not rows.any():
        return None
    return rows | (_whole_units(view, rows) & marks.by_tool.head(view.size))


def _whole_units(view: View, rows: Rows) -> Rows:
    """Every row of the units of these rows."""
    unit = view.history.unit.head(view.size).copy()
    for head in view.history.joined:
        if head < view.size:
            unit[unit == head] = view.unit_of(head)
    held = np.zeros(view.size, np.bool_)
    held[unit[rows]] = True
    return np.asarray(held[unit])
