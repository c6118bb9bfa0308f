"""One row a passage: its words, its vector, and the passages next to it in its session."""

from collections.abc import Iterator
from typing import cast

import numpy as np

from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.arrays import GrowingArray, Postings

PAUSE_PASSAGES = 32
"""Passages after which `append` pauses."""


class PassageTable:
    """Columns of one value a passage; grows by `append`. Vectors that come later are written in place."""

    def __init__(self) -> None:
        self.crumb = GrowingArray(np.int64)
        """Row of its breadcrumb."""
        self.before = GrowingArray(np.int64)
        self.after = GrowingArray(np.int64)
        """The passages next to it in its session; -1 = none, or none yet."""
        self.postings = Postings()
        self.length = GrowingArray(np.float32)
        """Terms."""
        self.tokens = GrowingArray(np.float32)
        self.traits = GrowingArray(np.int64)
        self.is_blank = GrowingArray(np.bool_)
        """Without any text: it never has a vector."""
        self.vector: GrowingArray[np.float32] | None = None
        """Shape (passages, width), zeros where there is none; None until the first one comes."""
        self.has_vector = GrowingArray(np.bool_)
        self.cosine_one_back = GrowingArray(np.float32)
        self.cosine_two_back = GrowingArray(np.float32)
        """With the vectors of the two passages before it: the length of a window follows from them."""
        self._first: list[int] = []
        self._last_of_session: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.crumb)

    def append(self, row: int, session: int, stored: StoredBreadcrumb, *, filler: bool) -> Iterator[None]:
        """Append the passages of one breadcrumb, with pauses.

        filler: it is small talk, which is never found: it has no passage, so it separates no question from its answer.
        """
        self._first.append(len(self))
        for passage in () if filler else stored.passages:
            if len(self) % PAUSE_PASSAGES == 0:
                yield
            terms = passage.terms.split()
            self.postings.add(len(self), terms)
            self._link(session)
            self._append_vector(passage.vector)
            self.length.append(len(terms))
            self.tokens.append(passage.tokens)
            self.traits.append(passage.traits)
            self.is_blank.append(not stored.breadcrumb.text[passage.start : passage.end].strip())
            self.crumb.append(row)

    def first(self, row: int) -> int:
        """Number of the first passage of a breadcrumb; of small talk, which has none, that of the next breadcrumb."""
        return self._first[row] if row < len(self._first) else len(self)

    def lacks_vector(self, row: int) -> bool:
        """Whether a passage of the breadcrumb has text and no vector."""
        start, end = self.first(row), self.first(row + 1)
        return bool((~self.has_vector.head(end)[start:] & ~self.is_blank.head(end)[start:]).any())

    def put_vectors(self, row: int, vectors: tuple[bytes, ...]) -> None:
        """Write float16 vectors of the breadcrumb's passages, in order; b"" writes none."""
        for passage, vector in enumerate(vectors, self.first(row)):
            if vector:
                self._put_vector(passage, vector)

    def _link(self, session: int) -> None:
        passage, before = len(self), self._last_of_session.get(session, -1)
        self.before.append(before)
        self.after.append(-1)
        if before >= 0:
            self.after.put(before, passage)
        self._last_of_session[session] = passage

    def _append_vector(self, vector: bytes) -> None:
        self.has_vector.append(False)
        self.cosine_one_back.append(0.0)
        self.cosine_two_back.append(0.0)
        if self.vector is not None:
            self.vector.append(0.0)
        if vector:
            self._put_vector(len(self), vector)

    def _put_vector(self, passage: int, vector: bytes) -> None:
        values = np.frombuffer(vector, "<f2").astype(np.float32)
        if self.vector is None:
            self.vector = GrowingArray(np.float32, len(values))
            for _ in range(len(self.has_vector)):
                self.vector.append(0.0)
        self.vector.put(passage, values)
        self.has_vector.put(passage, True)
        after = self.after.head(len(self.after))
        following = int(after[passage])
        for changed in (passage, following, int(after[following]) if following >= 0 else -1):
            if changed >= 0:
                self._compare(changed)

    def _compare(self, passage: int) -> None:
        vectors, before = cast("GrowingArray[np.float32]", self.vector).head(passage + 1), self.before.head(passage + 1)
        one = int(before[passage])
        two = int(before[one]) if one >= 0 else -1
        for cosines, other in ((self.cosine_one_back, one), (self.cosine_two_back, two)):
            if other >= 0:
                cosines.put(passage, float(vectors[other] @ vectors[passage]))
