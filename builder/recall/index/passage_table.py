"""The table of passages: their words, their vectors, and the passages next to them."""

from collections.abc import Generator

import numpy as np

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.breadcrumb_table import FloatColumn, Floats, Postings, Table, flags, floats, ints

PAUSE_PASSAGES = 32
"""Passages after which `append` pauses."""


class PassageTable(Table):
    """One row a passage. Vectors that come later are written in place."""

    def __init__(self) -> None:
        self.crumb = ints()
        self.before = ints()
        self.after = ints()
        """The passages next to it in its session; -1 = none, or none yet."""
        self.postings = Postings()
        self.length = floats()
        """Terms."""
        self.tokens = floats()
        self.traits = ints()
        self.form = ints()
        """The first passage of the same result that has the same words, numbers left out: lines of a log often have one form."""
        self.vector: FloatColumn | None = None
        """Shape (passages, width), zeros where there is none; None until the first one comes."""
        self.has_vector = flags()
        self._cosines: tuple[FloatColumn, FloatColumn] = (floats(), floats())
        self._unmeasured: list[int] = []
        """Passages of which the cosines have to be computed."""
        self._first: list[int] = []
        self._last_of_session: dict[int, int] = {}

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
            before = self._last_of_session.get(session, -1)
            if before >= 0:
                self.after[before] = number
            self._last_of_session[session] = number
            self._append_vector(passage.vector)
            self.postings.add(number, terms)
            form = number
            if stored.breadcrumb.role == "tool":
                form = firsts.setdefault(frozenset(term for term in terms if not any(map(str.isdigit, term))), number)
            self._add(
                crumb=row,
                before=before,
                after=-1,
                length=len(terms),
                tokens=passage.tokens,
                traits=passage.traits,
                form=form,
                has_vector=bool(passage.vector),
            )
            is_blank = not stored.breadcrumb.text[passage.start : passage.end].strip()
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
