"""An inverted index that only grows, so that "as of" is a prefix of every array."""

from array import array
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


class Postings:
    """term → rows and counts, rows ascending. Rows are passages, numbered in place order."""

    __slots__ = ("_counts", "_rows")

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}

    def add(self, row: int, terms: list[str]) -> None:
        """Append a passage; `row` must be above every row before it."""
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        for term, count in counts.items():
            if term not in self._rows:
                self._rows[term] = array("q")
                self._counts[term] = array("l")
            self._rows[term].append(row)
            self._counts[term].append(count)

    def holding(self, term: str, end: int) -> int:
        """How many rows below `end` hold the term."""
        return bisect_left(self._rows.get(term, ()), end)

    def of(self, term: str, end: int) -> tuple[Rows, Floats]:
        """Rows below `end` that hold the term, and how often. Copies, because a view would pin the growing buffer."""
        rows = self._rows.get(term)
        if rows is None:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        held = np.array(rows, np.int64)
        cut = int(np.searchsorted(held, end))
        return held[:cut], np.array(self._counts[term], np.float32)[:cut]
