"""Arrays and an inverted index that only grow, so that "as of" is a prefix; of earlier rows only what `put` links changes."""

from array import array
from bisect import bisect_left
from collections import Counter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


class GrowingArray(Generic[Scalar]):
    """A flat array, or one of rows of `width` numbers, with room to append."""

    __slots__ = ("_data", "_size")

    def __init__(self, dtype: type[Scalar], width: int = 0) -> None:
        self._data: NDArray[Scalar] = np.zeros((8, width) if width else 8, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, value: Any) -> None:
        """Add one row."""
        if self._size == len(self._data):
            grown = np.zeros((2 * self._size, *self._data.shape[1:]), self._data.dtype)
            grown[: self._size] = self._data
            self._data = grown
        self._data[self._size] = value
        self._size += 1

    def put(self, row: int, value: Any) -> None:
        """Overwrite one row (links to a later row are only known once that row has come)."""
        self._data[row] = value

    @property
    def last(self) -> Any:
        """The row that was appended last."""
        return self._data[self._size - 1]

    def head(self, size: int) -> NDArray[Scalar]:
        """The first `size` rows, without a copy."""
        return self._data[:size]


class Postings:
    """term → rows and counts, rows ascending. Rows are passages, numbered in place order."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, row: int, terms: list[str]) -> None:
        """Append a passage; `row` must be above every row before it."""
        entries = self._entries
        for term, count in Counter(terms).items():
            entry = entries.get(term)
            if entry is None:
                entries[term] = (array("q", (row,)), array("l", (count,)))
            else:
                entry[0].append(row)
                entry[1].append(count)

    def holding(self, term: str, end: int) -> int:
        """How many rows below `end` hold the term."""
        return bisect_left(self._entries[term][0], end) if term in self._entries else 0

    def of(self, term: str, end: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows below `end` that hold the term, and how often. Copies, because a view would pin the growing buffer."""
        if term not in self._entries:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        rows, counts = self._entries[term]
        rows_holding = np.array(rows, np.int64)
        cut = int(np.searchsorted(rows_holding, end))
        return rows_holding[:cut], np.array(counts, np.float32)[:cut]
