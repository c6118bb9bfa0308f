"""A compact index of the passages of a workspace: the signs of vectors and the hashes of terms, 48 and 4 bytes each with ours.

It answers which passages are worth reading, for workspaces too large to read whole (`recall.workspace`). What it gives is exact
for what it compares, so every worker gives the same.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Place
from builder.domain.stored import PassageFacts
from builder.recall.index.breadcrumb_table import Codes, Floats, Ints, Rows, idf

K1, B = 0.9, 0.4
"""BM25 as in `search.signals`; a sketch knows whether a passage has a term, not how often."""
SEGMENT_PASSAGES = 65_536
"""Up to which segments are merged: their arrays stay in the processor's cache."""
_BUCKET_BITS = 16
MAX_TERMS = 10_000
"""Terms whose hashes are kept: most passages have the same words."""


@dataclass(frozen=True, slots=True)
class Key:
    """The breadcrumb of a passage."""

    session: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which passages count."""

    until: Place
    """Exclusive."""
    schemas: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """Passages in the order in which they were read. Shapes are (passages,) where nothing else is said."""

    session: NDArray[np.int32]
    schema: NDArray[np.int32]
    incarnation: Ints
    sequence: Ints
    ordinal: NDArray[np.int32]
    has_vector: Rows
    signs: NDArray[np.uint64]
    """Shape (passages, words of 64 bits)."""
    number: NDArray[np.int32]
    """Number of its different terms."""
    terms: NDArray[np.uint32]
    """Hashes of the different terms of all passages, one after the other."""

    @classmethod
    def of(cls, rows: Sequence[PassageFacts], sessions: Codes, schemas: Codes) -> Self:
        """Names get the codes of the two dictionaries, or new ones."""
        longest = max((len(row.vector) for row in rows), default=0)
        terms = [frozenset(row.terms.split()) for row in rows]
        return cls(
            session=np.array([sessions.setdefault(row.session, len(sessions)) for row in rows], np.int32),
            schema=np.array([schemas.setdefault(row.schema, len(schemas)) for row in rows], np.int32),
            incarnation=np.array([row.place.incarnation for row in rows], np.int64),
            sequence=np.array([row.place.sequence for row in rows], np.int64),
            ordinal=np.array([row.ordinal for row in rows], np.int32),
            has_vector=np.array([bool(row.vector) for row in rows], np.bool_),
            signs=_signs([row.vector or bytes(longest) for row in rows]),
            number=np.array([len(each) for each in terms], np.int32),
            terms=_hashes(chain.from_iterable(terms)),
        )

    def __len__(self) -> int:
        return len(self.session)

    def with_rows(self, other: "_Segment") -> "_Segment":
        """Both, this one first."""
        width = max(self.signs.shape[1], other.signs.shape[1])  # a segment without vectors has none
        signs = [np.pad(each.signs, ((0, 0), (0, width - each.signs.shape[1]))) for each in (self, other)]
        names = [each.name for each in fields(self) if each.name != "signs"]
        arrays = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return replace(self, **arrays, signs=np.concatenate(signs))

    def subset(self, rows: Rows) -> "_Segment":
        """Only these rows."""
        of_rows = {each.name: getattr(self, each.name)[rows] for each in fields(self) if each.name != "terms"}
        return replace(self, **of_rows, terms=self.terms[np.repeat(rows, self.number)])

    def belonging(self, sessions: list[int], place: Place | None) -> Rows:
        """The rows of sessions. place: only those at it."""
        rows = np.isin(self.session, sessions)
        return rows if place is None else rows & (self.incarnation == place.incarnation) & (self.sequence == place.sequence)

    def counting(self, filtering: Filter, schemas: Codes) -> Rows:
        """The rows that count."""
        codes = [schemas[name] for name in filtering.schemas if name in schemas]
        incarnation, sequence = filtering.until
        before = (self.incarnation < incarnation) | ((self.incarnation == incarnation) & (self.sequence < sequence))
        return np.asarray(before & np.isin(self.schema, codes))

    def occurrences(self, codes: NDArray[np.uint32], counts: Rows) -> tuple[Ints, Ints]:
        """Each row that counts and has a term, and the number of the term in `codes`, which are sorted."""
        table = np.zeros(1 << _BUCKET_BITS, np.bool_)
        table[codes >> _BUCKET_BITS] = True
        hits = np.flatnonzero(table[self.terms >> _BUCKET_BITS])
        numbers = np.minimum(np.searchsorted(codes, self.terms[hits]), len(codes) - 1)
        is_term = codes[numbers] == self.terms[hits]
        rows = np.searchsorted(np.cumsum(self.number), hits[is_term], side="right")
        there = counts[rows]
        return rows[there], numbers[is_term][there]

    def likeness(self, signs: NDArray[np.uint64]) -> Floats:
        """How many signs are those of a vector; -1 without one."""
        if len(signs) != self.signs.shape[1]:
            return np.full(len(self), -1, np.float32)
        different = np.bitwise_count(self.signs ^ signs).sum(axis=1, dtype=np.int32)
        return np.where(self.has_vector, 64 * len(signs) - different, -1).astype(np.float32)


class Sketches:
    """Grows by pages of passages, in any order."""

    def __init__(self) -> None:
        self._sessions: Codes = {}
        self._names: list[str] = []
        self._schemas: Codes = {}
        self._segments: list[_Segment] = []

    def __len__(self) -> int:
        return sum(map(len, self._segments))

    def add(self, rows: Sequence[PassageFacts]) -> None:
        """Append passages that it lacks."""
        if rows:
            self._segments.append(_Segment.of(rows, self._sessions, self._schemas))
            self._names.extend(list(self._sessions)[len(self._names) :])
        while len(self._segments) > 1 and len(self._segments[-2]) <= min(2 * len(self._segments[-1]), SEGMENT_PASSAGES):
            last = self._segments.pop()
            self._segments[-1] = self._segments[-1].with_rows(last)

    def drop(self, sessions: frozenset[str], place: Place | None = None) -> None:
        """Drop the passages of sessions. place: only those at it."""
        codes = [self._sessions[name] for name in sessions if name in self._sessions]
        self._segments = [each.subset(~each.belonging(codes, place)) for each in self._segments]

    def keys(self, number: int) -> tuple[Key, ...]:
        """Its first breadcrumbs."""
        keys: dict[Key, None] = {}
        for segment in self._segments:
            if len(keys) < number:
                keys.update(dict.fromkeys(self._keys(segment, np.arange(min(len(segment), 4 * number)))))
        return tuple(keys)[:number]

    def nearest(self, vector: bytes, number: int, filtering: Filter) -> tuple[Key, ...]:
        """The breadcrumbs whose vectors have most signs of a float16 vector, the nearest first."""
        if not vector:
            return ()
        signs = _signs([vector])[0]
        scores = (np.where(each.counting(filtering, self._schemas), each.likeness(signs), -1) for each in self._segments)
        return self._best(scores, number)

    def holding(self, terms: Iterable[str], number: int, filtering: Filter) -> tuple[Key, ...]:
        """The breadcrumbs with the rarest of these terms, the best first (BM25)."""
        codes = np.unique(_hashes(terms))
        if not len(codes):
            return ()
        total = length = 0
        holding, occurrences = np.zeros(len(codes), np.int64), []
        for each in self._segments:
            counts = each.counting(filtering, self._schemas)
            rows, numbers = each.occurrences(codes, counts)
            total += int(np.count_nonzero(counts))
            length += int(each.number[counts].sum())
            holding += np.bincount(numbers, minlength=len(codes))
            occurrences.append((each, rows, numbers))
        weights, mean = idf(holding, total), length / max(total, 1)
        scores = (
            np.bincount(rows, weights[numbers], len(each)) * (K1 + 1) / (1 + K1 * (1 - B + B * each.number / max(mean, 1)))
            for each, rows, numbers in occurrences
        )
        return self._best(scores, number)

    def _best(self, scores_by_segment: Iterable[NDArray[Any]], number: int) -> tuple[Key, ...]:
        """Ties go to the later passage. What has no score is left out."""
        parts: list[tuple[float, Place, int, Key]] = []
        for segment, scores in zip(self._segments, scores_by_segment, strict=True):
            rows = np.flatnonzero(scores > 0)
            if len(rows) > number:
                rows = rows[scores[rows] >= np.partition(scores[rows], -number)[-number]]
            for row, key in zip(rows.tolist(), self._keys(segment, rows), strict=True):
                parts.append((float(scores[row]), key.place, int(segment.ordinal[row]), key))
        parts.sort(key=lambda part: (part[:3], part[3].session), reverse=True)
        return tuple(dict.fromkeys(key for *_, key in parts[:number]))

    def _keys(self, segment: _Segment, rows: Ints) -> Iterator[Key]:
        columns = (segment.session, segment.incarnation, segment.sequence)
        for session, *place in zip(*(column[rows].tolist() for column in columns), strict=True):
            yield Key(self._names[session], Place(*place))


def _signs(vectors: list[bytes]) -> NDArray[np.uint64]:
    """Which numbers of float16 vectors are positive, one bit each, shape (vectors, words of 64 bits)."""
    bits = np.packbits(np.frombuffer(b"".join(vectors), "<f2").reshape(len(vectors), -1) > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)


def _hashes(terms: Iterable[str]) -> NDArray[np.uint32]:
    return np.fromiter(map(_hash, terms), np.uint32)


@lru_cache(MAX_TERMS)
def _hash(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))
