"""The beginning of a history, and what follows from it alone: computed once for all searches until something comes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from builder.language.words import words_of
from builder.recall.index.breadcrumb_table import BreadcrumbTable, Floats, Ints, Rows
from builder.recall.index.passage_table import PassageTable


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The passages beside each in its session, -1 = none. Shape (passages,)."""

    before: Ints
    after: Ints


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Passages, and how often each has a term."""

    passages: Ints
    counts: Floats


NOWHERE = Occurrences(np.empty(0, np.int64), np.empty(0, np.float32))


class Prefix:
    """The first `size` breadcrumbs and their passages, shared by all views of them. Nobody writes into its arrays."""

    def __init__(self, breadcrumbs: BreadcrumbTable, table: PassageTable, size: int) -> None:
        self.size = size
        self.passages = end = table.first(size)
        self.crumb = table.crumb[:end]
        """Passage → row of its breadcrumb, shape (passages,)."""
        self.length = table.length[:end]
        """Terms of each passage, shape (passages,)."""
        self.has_vector = table.has_vector[:end]
        by = breadcrumbs.superseded_by[:size]
        self.latest = (by < 0) | (by >= size)
        """Breadcrumbs that nothing has replaced, shape (size,)."""
        self.speakers = tuple(breadcrumbs.speakers)[: int(breadcrumbs.speaker[:size].max(initial=-1)) + 1]
        """Who has spoken, in the order of their first words."""
        self._breadcrumbs = breadcrumbs
        self._table = table
        self._cosines = (b"", -1), NOWHERE.counts
        self._occurrences: dict[str, Occurrences] = {}

    @property
    def vectors(self) -> Floats | None:
        """Shape (passages, width), zeros where missing; None = none at all. They may come while the prefix is in use."""
        return None if self._table.vector is None else self._table.vector[: self.passages]

    @cached_property
    def neighbours(self) -> Neighbours:
        """The passages next to each, shape (passages,)."""
        after = self._table.after[: self.passages]
        return Neighbours(self._table.before[: self.passages], np.where(after < self.passages, after, -1))

    @cached_property
    def context(self) -> Neighbours:
        """The neighbours that tell what a passage is about, shape (passages,).

        Where one alone has spoken nobody answers anybody, as in a list of facts: only passages of one breadcrumb are context.
        """
        sides = self.neighbours.before, self.neighbours.after
        return Neighbours(*(np.where(self._talk | (self.crumb[side] == self.crumb), side, -1) for side in sides))

    @cached_property
    def session(self) -> Ints:
        """Code of the session of each passage, shape (passages,)."""
        return self._breadcrumbs.session[self.crumb]

    @cached_property
    def _talk(self) -> Rows:
        """Passages of sessions in which several have spoken."""
        session, speaker = self.session, self._breadcrumbs.speaker[self.crumb]
        sessions = np.full(int(session.max(initial=-1)) + 1, -1)
        sessions[session] = speaker
        return np.bincount(session[speaker != sessions[session]], minlength=len(sessions))[session] > 0

    @cached_property
    def of_several(self) -> Ints:
        """Passages of breadcrumbs that have several."""
        return np.flatnonzero(np.bincount(self.crumb)[self.crumb] > 1)

    @cached_property
    def of_form(self) -> Ints:
        """How many parts of its result have its form, shape (passages,)."""
        form = self._table.form[: self.passages]
        return np.bincount(form)[form]

    @cached_property
    def speaker_words(self) -> frozenset[str]:
        """The words of the speakers' names."""
        return frozenset(word for speaker in self.speakers for word in words_of(speaker))

    def cosines(self, vector: bytes) -> Floats:
        """With a float16 vector, shape (passages,); NaN where either is missing. Those of the last vector are kept."""
        key = vector, int(np.count_nonzero(self.has_vector))
        if self._cosines[0] != key:
            query, cosines = np.frombuffer(vector, "<f2").astype(np.float32), np.full(self.passages, np.nan, np.float32)
            if self.vectors is not None and len(query):
                cosines = np.where(self.has_vector, np.asarray(self.vectors @ query, np.float32), np.float32(np.nan))
            self._cosines = key, cosines
        return self._cosines[1]

    def occurrences(self, term: str) -> Occurrences:
        """Where a term is."""
        if term not in self._occurrences:
            passages, counts = self._table.postings.of(term, self.passages)
            if not len(passages):
                return NOWHERE
            self._occurrences[term] = Occurrences(passages, counts)
        return self._occurrences[term]

    def postings(self, terms: Sequence[str]) -> tuple[Ints, Ints, Floats]:
        """Where several terms are, one after the other: numbers of the terms, passages, counts."""
        each = (NOWHERE, *map(self.occurrences, terms))
        numbers = np.repeat(np.arange(-1, len(terms)), [len(one.passages) for one in each])
        return numbers, np.concatenate([one.passages for one in each]), np.concatenate([one.counts for one in each])

    def holding(self, terms: Iterable[str]) -> Rows:
        """Passages that hold any of these terms, shape (passages,)."""
        holds = np.zeros(self.passages, np.bool_)
        for term in terms:
            holds[self.occurrences(term).passages] = True
        return holds
