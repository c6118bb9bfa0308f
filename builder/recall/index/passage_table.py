"""The table of passages: their words, their vectors, and the passages next to them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from builder.domain.recall import StoredBreadcrumb
from builder.recall.index.breadcrumb_table import GrowingArray, Postings, Table, flags, floats, ints

PAUSE_PASSAGES = 32
"""Passages after which `append` pauses."""


@dataclass(slots=True)
class PassageTable(Table):
    """One row a passage. Vectors that come later are written in place."""

    crumb: GrowingArray[np.int64] = field(default_factory=ints)
    before: GrowingArray[np.int64] = field(default_factory=ints)
    after: GrowingArray[np.int64] = field(default_factory=ints)
    """The passages next to it in its session; -1 = none, or none yet."""
    postings: Postings = field(default_factory=Postings)
    length: GrowingArray[np.float32] = field(default_factory=floats)
    """Terms."""
    tokens: GrowingArray[np.float32] = field(default_factory=floats)
    traits: GrowingArray[np.int64] = field(default_factory=ints)
    is_blank: GrowingArray[np.bool_] = field(default_factory=flags)
    """Without any text: it never has a vector."""
    vector: GrowingArray[np.float32] | None = None
    """Shape (passages, width), zeros where there is none; None until the first one comes."""
    has_vector: GrowingArray[np.bool_] = field(default_factory=flags)
    cosine_one_back: GrowingArray[np.float32] = field(default_factory=floats)
    cosine_two_back: GrowingArray[np.float32] = field(default_factory=floats)
    """With the vectors of the two passages before it: the length of a window follows from them."""
    _first: list[int] = field(default_factory=list)
    _last_of_session: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.crumb)

    def append(self, row: int, session: int, stored: StoredBreadcrumb, *, filler: bool) -> Iterator[None]:
        """Append the passages of one breadcrumb, with pauses. filler: small talk, which has no passages and is never found."""
        self._first.append(len(self))
        for passage in () if filler else stored.passages:
            if len(self) % PAUSE_PASSAGES == 0:
                yield
            terms = passage.terms.split()
            self.postings.add(len(self), terms)
            before = self._last_of_session.get(session, -1)
            if before >= 0:
                self.after[before] = len(self)
            self._last_of_session[session] = len(self)
            self._add(before=before, after=-1, has_vector=False, cosine_one_back=0.0, cosine_two_back=0.0)
            if self.vector is not None:
                self.vector.append(0.0)
            if passage.vector:
                self._put_vector(len(self), passage.vector)
            self._add(
                length=len(terms),
                tokens=passage.tokens,
                traits=passage.traits,
                is_blank=not stored.breadcrumb.text[passage.start : passage.end].strip(),
                crumb=row,
            )

    def first(self, row: int) -> int:
        """Number of its first passage; small talk has none: that of the next breadcrumb."""
        return self._first[row] if row < len(self._first) else len(self)

    def lacks_vector(self, row: int) -> bool:
        """Whether a passage of the breadcrumb has text and no vector."""
        start, end = self.first(row), self.first(row + 1)
        return not (self.has_vector[start:end] | self.is_blank[start:end]).all()

    def put_vectors(self, row: int, vectors: tuple[bytes, ...]) -> None:
        """Write float16 vectors of its passages, in order; b"" writes none."""
        for passage, vector in enumerate(vectors, self.first(row)):
            if vector:
                self._put_vector(passage, vector)

    def _put_vector(self, passage: int, vector: bytes) -> None:
        values = np.frombuffer(vector, "<f2").astype(np.float32)
        if self.vector is None:
            self.vector = GrowingArray(np.float32, len(values))
            for _ in range(len(self.has_vector)):
                self.vector.append(0.0)
        self.vector[passage] = values
        self.has_vector[passage] = True
        following = int(self.after[passage])
        for changed in (passage, following, int(self.after[following]) if following >= 0 else -1):
            one = int(self.before[changed]) if changed >= 0 else -1
            if one >= 0:
                self.cosine_one_back[changed] = float(self.vector[one] @ self.vector[changed])
                if self.before[one] >= 0:
                    self.cosine_two_back[changed] = float(self.vector[int(self.before[one])] @ self.vector[changed])
