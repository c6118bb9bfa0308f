"""How far back the hot window reaches: bound by units or by tokens, it moves in jumps (features A1, H4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.domain.profile import Profile
from builder.pipeline.units import window_size
from builder.pipeline.view import View

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SPEAKER = 4
"""Tokens of a speaker's name and a line end."""
LAYOUT = 1.15
"""A rendered message has up to so many times the tokens of its text: further lines are indented."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back the hot window reaches. units: most of them. first: row at which it begins at the earliest.

    moved: the row with which it came to begin there, 0 when it never moved.
    """

    units: int
    first: int
    moved: int


def reach(view: View, profile: Profile) -> Reach:
    """Bound by units, or by tokens where the section holds fewer than `trigger` of them. It moves in jumps in either case.

    Tokens: all that were ever said are marked off in steps; the window begins at the first mark behind which there is no more
    than the section holds. A pure function of the history, whoever builds and whenever.
    """
    window = profile.window
    rule = profile.section("hot")
    room = rule.most(profile.allowance) if rule else np.inf
    own = view.rows
    ends = _ends(view, own, window.message_share * room)
    if not len(ends) or ends[-1] <= room or _units(view, own[ends > ends[-1] - room]) > window.max_units:
        return Reach(window_size(view.units, window), 0, _jumped(view, profile))
    step = max((1 - window.keep_share) * room, 1.0)
    mark = step * np.ceil((ends[-1] - room) / step)
    begins = int(np.searchsorted(ends, mark, side="left")) + 1
    moved = min(int(np.searchsorted(ends, mark - step + room, side="right")), len(own) - 1)
    return Reach(window.max_units, int(own[begins]) if begins < len(own) else view.size, int(own[moved]))


def _ends(view: View, own: Ints, longest: float) -> Floats:
    """About how many tokens everything said up to each of these breadcrumbs has on a page, shape (rows,)."""
    marks = view.history.marks
    tokens = SPEAKER + LAYOUT * marks.tokens.head(view.size)[own].astype(np.float64)
    said = ~marks.by_tool.head(view.size)[own] & view.spoken[own]
    return np.cumsum(np.where(said, np.minimum(tokens, longest), 0.0))


def _units(view: View, rows: Ints) -> int:
    """How many units begin there."""
    return int(np.count_nonzero(view.spoken[rows] & (view.history.unit.head(view.size)[rows] == rows)))


def _jumped(view: View, profile: Profile) -> int:
    """The row that heads the unit with which the window was last trimmed to `trim_to` units."""
    window, units = profile.window, view.units
    if units <= window.max_units:
        return 0
    since = (units - window.max_units - 1) % (window.max_units - window.trim_to + 1)
    heads: set[int] = set()
    for number in range(view.heard - 1, -1, -1):
        row = view.own[number]
        if view.in_conversation(row):
            heads.add(view.unit_of(row))
            if len(heads) > since:
                return row
    return 0
