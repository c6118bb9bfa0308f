"""Where the conversation of a page may begin: at marks that depend on the history alone, so its beginning moves in jumps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.recall.index.view import View

LABEL_TOKENS = 4
"""Tokens of a speaker's name and a line end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMarks:
    """A mark stands wherever the tokens of all that came before fill another step."""

    rows: NDArray[np.int64]
    """Of the session, in place order."""
    ends: NDArray[np.float64]
    """Tokens up to and including each row, by stored counts."""
    step: float
    """Tokens."""

    def next(self, row: int) -> int:
        """The first row at or behind this one at which a mark stands."""
        number = int(np.searchsorted(self.rows, row))
        before = float(self.ends[number - 1]) if number else 0.0
        if not before:
            return row
        mark = self.step * np.ceil(before / self.step)
        begin = int(np.searchsorted(self.ends, mark)) + 1
        return int(self.rows[begin]) if begin < len(self.rows) else int(self.rows[-1]) + 1

    def reached(self, row: int, room: float) -> int:
        """The row with which a window of so many tokens came to begin at the mark in front of this row; 0 for the first one."""
        number = int(np.searchsorted(self.rows, row))
        before = float(self.ends[number - 1]) if number else 0.0
        for mark in range(int(before // self.step), 0, -1):
            begin = int(np.searchsorted(self.ends, (mark - 1) * self.step + room, side="right"))
            if begin < len(self.rows):
                return int(self.rows[begin])
        return 0


def window_marks(view: View, step: float, *, results: bool) -> WindowMarks:
    """The marks of what people and agents said, or of what tools answered. All versions count, so that none moves later."""
    rows, marks = view.rows, view.history.breadcrumbs
    counted = view.dialogue[rows] & (marks.by_tool.head(view.size)[rows] == results)
    tokens = np.where(counted, LABEL_TOKENS + marks.tokens.head(view.size)[rows].astype(np.float64), 0.0)
    return WindowMarks(rows=rows, ends=np.cumsum(tokens), step=max(step, 1.0))
