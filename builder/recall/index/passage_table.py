"""The table of passages: their words, their vectors, and the passages next to them."""

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.breadcrumb_table import FlagColumn, FloatColumn, IntColumn, Postings, Table, flags, floats, ints

Floats = NDArray[np.float32]

PAUSE_PASSAGES = 32
"""Passages after which `append` pauses."""


@dataclass(slots=True)
class PassageTable(Table):
    """One row a passage. Vectors that come later are written in place."""

    crumb: IntColumn = field(default_factory=ints)
    before: IntColumn = field(default_factory=ints)
    after: IntColumn = field(default_factory=ints)
    """The passages next to it in its session; -1 = none, or none yet."""
    postings: Postings = field(default_factory=Postings)
    length: FloatColumn = field(default_factory=floats)
    """Terms."""
    tokens: FloatColumn = field(default_factory=floats)
    traits: IntColumn = field(default_factory=ints)
    form: IntColumn = field(default_factory=ints)
    """The first passage of the same result that has the same words, numbers left out: lines of a log often have one form."""
    is_blank: FlagColumn = field(default_factory=flags)
    """Without any text: it never has a vector."""
    vector: FloatColumn | None = None
    """Shape (passages, width), zeros where there is none; None until the first one comes."""
    has_vector: FlagColumn = field(default_factory=flags)
    _cosines: tuple[FloatColumn, FloatColumn] = field(default_factory=lambda: (floats(), floats()))
    _unmeasured: list[int] = field(default_factory=list)
    """Passages of which the cosines have to be computed."""
    _first: list[int] = field(default_factory=list)
    _last_of_session: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.crumb)

    def append(self, row: int, session: int, stored: StoredBreadcrumb, *, filler: bool) -> Generator[None, None, bool]:
        """Append the passages of one breadcrumb, with pauses; returns whether one with text lacks its vector.

        filler: small talk, which has no passages and is never found.
        """
        self._first.append(len(self))
        lacks_vector = False
        firsts: dict[frozenset[str], int] = {}
        for passage in () if filler else stored.passages:
            number = len(self)
            if number % PAUSE_PASSAGES == 0:
                self._measure()
                yield
            terms = passage.terms.split()
            is_blank = not stored.breadcrumb.text[passage.start : passage.end].strip()
            before = self._last_of_session.get(session, -1)
            if before >= 0:
                self.after[before] = number
            self._last_of_session[session] = number
            self._append_vector(passage.vector)
            self.postings.add(number, terms)
            self._add(before=before, after=-1, length=len(terms), tokens=passage.tokens, traits=passage.traits)
            form = number
            if stored.breadcrumb.role == "tool":
                form = firsts.setdefault(frozenset(term for term in terms if not any(map(str.isdigit, term))), number)
            self._add(is_blank=is_blank, has_vector=bool(passage.vector), crumb=row, form=form)
            lacks_vector |= not (passage.vector or is_blank)
        return lacks_vector

    def first(self, row: int) -> int:
        """Number of its first passage; small talk has none: that of the next breadcrumb."""
        return self._first[row] if row < len(self._first) else len(self)

    def put_vectors(self, row: int, vectors: tuple[bytes, ...]) -> None:
        """Write float16 vectors of its passages, in order; b"" writes none."""
        for passage, vector in enumerate(vectors, self.first(row)):
            if vector:
                self._room(vector)[passage] = np.frombuffer(vector, "<f2")
                self.has_vector[passage] = True
                following = self.after[passage]
                self._unmeasured += [passage, following, self.after[following]] if following >= 0 else [passage]
        self._measure()

    def cosines_back(self, end: int) -> tuple[Floats, Floats]:
        """Cosines of each of the first passages with the one before it and the one before that, shape (end,); 0 = none.

        The length of a window follows from them.
        """
        self._measure()
        one, two = self._cosines
        return one[:end], two[:end]

    def _append_vector(self, vector: bytes) -> None:
        if vector or self.vector is not None:
            vectors = self._room(vector)
            vectors.append(np.frombuffer(vector, "<f2") if vector else np.zeros_like(vectors[0]))
            self._unmeasured.append(len(self))
        for cosines in self._cosines:
            cosines.append(0.0)

    def _room(self, vector: bytes) -> FloatColumn:
        """The vectors; of this width, where none came yet, and of the passages up to now zeros."""
        if self.vector is None:
            self.vector = floats(len(vector) // 2)
            for _ in range(len(self)):
                self.vector.append(np.zeros(len(vector) // 2, np.float32))
        return self.vector

    def _measure(self) -> None:
        if self._unmeasured and self.vector is not None:
            passages, vectors, before = np.unique(self._unmeasured), self.vector[:], self.before[:]
            self._unmeasured = []
            passages = passages[passages >= 0]
            one = before[passages]
            for cosines, earlier in zip(self._cosines, (one, np.where(one >= 0, before[one], -1)), strict=True):
                there, those = passages[earlier >= 0], earlier[earlier >= 0]
                cosines[:][there] = np.einsum("ij,ij->i", vectors[those], vectors[there])
