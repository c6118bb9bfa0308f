"""A hot window that is longer than its section begins later, and moves in jumps all the same (features A1, H4)."""

import numpy as np
from numpy.typing import NDArray

from builder.domain.profile import Profile, SectionRule
from builder.pipeline.units import Unit
from builder.pipeline.view import View

Floats = NDArray[np.float64]

SPEAKER = 4
"""Tokens of a speaker's name and a line end."""
LAYOUT = 1.15
"""A rendered message has up to so many times the tokens of its text: further lines are indented."""


def fitting(hot: tuple[Unit, ...], view: View, profile: Profile) -> tuple[Unit, ...]:
    """The newest units of the hot window (newest first) for which there is room; the others may be found like older ones."""
    rule = next((rule for rule in profile.sections if rule.source == "hot"), None)
    if rule is None:
        return hot
    first = _first_row(view, profile, rule)
    least = min(profile.window.min_recent, len(hot))
    return hot[:least] + tuple(unit for unit in hot[least:] if unit[0].row >= first)


def _first_row(view: View, profile: Profile, rule: SectionRule) -> int:
    """The row at which the window begins: everything from there on fits, and from turn to turn it seldom moves.

    All tokens that were ever said are marked off in steps; the window begins at the first mark behind which there is no more
    than the section holds. A pure function of the history, whoever builds and whenever.
    """
    window, room = profile.window, rule.ceiling * profile.allowance
    own = np.array(view.own[: view.heard], np.int64)
    said = ~view.history.marks.by_tool.head(view.size)[own] & view.spoken[own]
    ends = np.cumsum(np.where(said, _tokens(view, own, window.message_share * room), 0.0))
    if not len(ends) or ends[-1] <= room:
        return 0
    step = max((1 - window.keep_share) * room, 1.0)
    mark = step * np.ceil((ends[-1] - room) / step)
    begins = np.searchsorted(ends, mark, side="left") + 1
    return int(own[begins]) if begins < len(own) else view.size


def _tokens(view: View, own: NDArray[np.int64], longest: float) -> Floats:
    """About how many tokens each of these breadcrumbs has on the page, shape (rows,)."""
    return np.minimum(SPEAKER + LAYOUT * view.history.marks.tokens.head(view.size)[own].astype(np.float64), longest)
