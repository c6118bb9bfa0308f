"""Arrays that grow by doubling; of the first n rows only what `put` links to later rows changes."""

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
