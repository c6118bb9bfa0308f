"""The first rows of a history, visible or not, and what is computed of them once.

Consumers with different visibility share it, so nothing in it may depend on what one of them sees (`View` holds that).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from builder.language.words import words_of
from builder.recall.index.history import History

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The passages next to each in its session, -1 where there is none, and their lengths, 0 there. Shape (passages,)."""

    before: Ints
    after: Ints
    length_before: Floats
    length_after: Floats


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Passages, and how often each has a term."""

    passages: Ints
    counts: Floats


class Prefix:
    """The first `size` breadcrumbs and their `passages` passages. Its arrays are views of the history's and are read only."""

    def __init__(self, history: History, size: int) -> None:
        self.history = history
        self.size = size
        self.passages = history.passages.first(size)
        self._cosines: dict[bytes, Floats] = {}
        self._occurrences: dict[str, tuple[Occurrences, Occurrences, Occurrences]] = {}

    @cached_property
    def crumb(self) -> Ints:
        """Passage → row of its breadcrumb, shape (passages,)."""
        return self.history.passages.crumb.head(self.passages)

    @cached_property
    def latest(self) -> Rows:
        """Breadcrumbs that no later version or tombstone has replaced, shape (size,)."""
        by = self.history.breadcrumbs.superseded_by.head(self.size)
        return np.asarray((by < 0) | (by >= self.size))

    @cached_property
    def has_vector(self) -> Rows:
        """Which passages have a vector, shape (passages,)."""
        return self.history.passages.has_vector.head(self.passages)

    @property
    def vectors(self) -> Floats | None:
        """Shape (passages, width), zero rows where there is none; None when there are none at all."""
        table = self.history.passages.vector
        return None if table is None else table.head(self.passages)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The passages next to each, shape (passages,)."""
        table = self.history.passages
        before, after = table.before.head(self.passages), table.after.head(self.passages)
        after = np.where(after < self.passages, after, -1)
        length = np.append(table.length.head(self.passages), np.float32(0))
        return Neighbours(before, after, length[before], length[after])

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Who has spoken, in the order of their first words."""
        speaker = self.history.breadcrumbs.speaker.head(self.size)
        return tuple(self.history.breadcrumbs.speakers)[: int(speaker.max()) + 1 if self.size else 0]

    @cached_property
    def speaker_words(self) -> frozenset[str]:
        """The words of the speakers' names."""
        return frozenset(word for speaker in self.speakers for word in words_of(speaker))

    def cosines(self, vector: bytes) -> Floats:
        """Cosine of a float16 vector and each passage's, shape (passages,); NaN where either is missing."""
        if vector not in self._cosines:
            self._cosines[vector] = self._compute_cosines(np.frombuffer(vector, "<f2").astype(np.float32))
        return self._cosines[vector]

    def occurrences(self, term: str) -> tuple[Occurrences, Occurrences, Occurrences]:
        """Where a term stands, where it stands in the passage before, and where in the passage behind."""
        if term not in self._occurrences:
            passages, counts = self.history.passages.postings.of(term, self.passages)
            after, before = self.neighbours.after[passages], self.neighbours.before[passages]
            self._occurrences[term] = (
                Occurrences(passages, counts),
                Occurrences(after[after >= 0], counts[after >= 0]),
                Occurrences(before[before >= 0], counts[before >= 0]),
            )
        return self._occurrences[term]

    def _compute_cosines(self, query: Floats) -> Floats:
        if self.vectors is None or not len(query):
            return np.full(self.passages, np.nan, np.float32)
        cosines = np.asarray(self.vectors @ query, np.float32)
        return cosines if self.has_vector.all() else np.where(self.has_vector, cosines, np.float32(np.nan))
