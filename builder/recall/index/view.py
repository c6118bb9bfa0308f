"""A history as of a place."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.recall.index.arrays import GrowingArray, Scalar
from builder.recall.index.attributes import CONVERSATION
from builder.recall.index.history import Floats, History

Ints = NDArray[np.int64]
Value = TypeVar("Value")
Terms = Callable[[str], str]
"""Text → stemmed terms joined by spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The first `size` breadcrumbs and their `passages` passages of a history. Arrays are views; nobody writes to them.

    session: code of the session that is asked in, -1 when nothing of it is held.
    current: breadcrumbs that may be shown: no later version or tombstone has replaced them, and the consumer may see them,
    shape (size,).
    audience_rows: breadcrumbs of which this consumer's conversation is made, shape (size,); None = all of them (`heard.py`).
    crumb: passage → breadcrumb, shape (passages,).
    """

    history: History
    session: int
    size: int
    passages: int
    current: NDArray[np.bool_]
    crumb: Ints
    audience_rows: NDArray[np.bool_] | None = None
    _known: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def before(self) -> Ints:
        """Passage → the one before it in its session, -1 where there is none, shape (passages,)."""
        return self.history.before.head(self.passages)

    @property
    def after(self) -> Ints:
        """Passage → the one after it in its session, -1 where there is none yet, shape (passages,)."""
        after = self.history.after.head(self.passages)
        return np.where(after < self.passages, after, -1)

    @property
    def vectors(self) -> Floats | None:
        """Shape (passages, width), zero rows where no vector is stored; None when there are none at all."""
        return None if self.history.vector is None else self.history.vector.head(self.passages)

    @property
    def has_vector(self) -> NDArray[np.bool_]:
        """Which passages have one, shape (passages,)."""
        return self.history.has_vector.head(self.passages)

    @property
    def lacks_vectors(self) -> bool:
        """Whether any passage with words has none; one without words lacks nothing."""
        return bool((~self.has_vector & (self.history.length.head(self.passages) > 0)).any())

    @property
    def own(self) -> Sequence[int]:
        """All rows that the history holds of the session, in place order; the first `own_count` of them are in this view."""
        return self.history.rows_of[self.session] if self.session >= 0 else ()

    @property
    def rows(self) -> Ints:
        """Those of them that are in this view, shape (own_count,)."""
        return np.array(self.own, np.int64)[: self.own_count]

    @property
    def own_count(self) -> int:
        """Breadcrumbs of the session."""
        return bisect_left(self.own, self.size)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """Messages and parts of tool exchanges that this consumer hears, shape (size,)."""
        rows = self.history.attributes.spoken.head(self.size)
        return rows if self.audience_rows is None else rows & self.audience_rows

    @property
    def conversation_rows(self) -> Ints:
        """Rows of the session that this consumer hears, in place order."""
        rows = self.rows
        return rows if self.audience_rows is None else rows[self.audience_rows[rows]]

    @property
    def turn(self) -> int:
        """Number of the trigger among what people said in the session, from 1."""
        return 1 + int(np.count_nonzero(self.history.by_person.head(self.size)[self.rows]))

    @property
    def units(self) -> int:
        """Units of the session's conversation, as far as this consumer hears it."""
        if not self.own_count:
            return 0
        if self.audience_rows is None:
            return int(self.history.units.head(self.size)[self.own[self.own_count - 1]])
        begun = np.zeros(self.size, np.bool_)
        begun[self.heads[self.rows[self.spoken[self.rows]]]] = True
        return int(np.count_nonzero(begun))

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Breadcrumbs that no later version or tombstone has replaced, whoever may see them, shape (size,)."""
        return _kept(self.history, self.size)

    @property
    def heads(self) -> Ints:
        """The row that heads each row's unit, shape (size,)."""
        unit = self.history.unit.head(self.size)
        later = [head for head in self.history.joined if head < self.size]
        if not later:
            return unit
        roots = np.arange(self.size)
        roots[later] = [self.unit_of(head) for head in later]
        return roots[unit]

    def unit_of(self, row: int) -> int:
        """The row that heads the unit of this row."""
        head, joined = int(self.history.unit.head(self.size)[row]), self.history.joined
        while head in joined and joined[head][1] < self.size:
            head = joined[head][0]
        return head

    def members(self, row: int) -> tuple[int, ...]:
        """All rows of this row's unit, in place order."""
        head, held = self.unit_of(row), self.history.members
        others = (other for other in self.history.absorbed.get(head, ()) if other < self.size and self.unit_of(other) == head)
        return tuple(sorted(member for each in (head, *others) for member in held[each] if member < self.size))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who has spoken by then, in the order of their first words."""
        heard = int(self.history.speaker.head(self.size).max()) + 1 if self.size else 0
        return tuple(self.history.speakers)[:heard]

    def row_of(self, breadcrumb: str) -> int:
        """The row of the newest version of this breadcrumb, -1 when it is not in this view."""
        known = bisect_left(self.history.versions.get(breadcrumb, ()), self.size)
        return self.history.newest[breadcrumb][known - 1] if known else -1

    def first_passage(self, row: int) -> int | None:
        """Number of the first passage of a breadcrumb; None for small talk, which has none."""
        first = self.history.first_passage(row)
        return first if first < self.history.first_passage(row + 1) else None

    def day(self, row: int) -> str:
        """The day on which the row's sitting began, as "8 May 2023"."""
        return self.history.sitting_dates[self._episode(row)]

    def _episode(self, row: int) -> int:
        return int(self.history.episode.head(self.size)[row])

    def in_conversation(self, row: int) -> bool:
        """Whether it is a message or part of a tool exchange, and this consumer hears it."""
        return self.history.rows[row].breadcrumb.role in CONVERSATION and (
            self.audience_rows is None or bool(self.audience_rows[row])
        )

    def repeats(self, row: int) -> tuple[int, ...]:
        """Rows in which the same one said the same, this one included, in place order."""
        rows = self.history.rows
        same, by = self.history.fingerprints[rows[row].fingerprint], _who(rows[row].breadcrumb)
        held = (other for other in same[: bisect_left(same, self.size)] if self.current[other] or other == row)
        return tuple(other for other in held if _who(rows[other].breadcrumb) == by)

    def vector_of(self, passage: int) -> bytes:
        """The stored vector of a passage as float16 bytes; empty when it has none."""
        if self.history.vector is None or not self.has_vector[passage]:
            return b""
        return bytes(self.history.vector.head(self.passages)[passage].astype("<f2").tobytes())

    def cosines(self, vector: bytes) -> Floats:
        """Cosine of a float16 vector and each passage's, shape (passages,), once a view; NaN where either is missing."""
        return self.once(vector, lambda: self._cosines(vector))

    def once(self, name: object, make: Callable[[], Value]) -> Value:
        """What `make` gives for this view, made once: for whatever several parts of a build ask of the same passages."""
        if name not in self._known:
            self._known[name] = make()
        held: Value = self._known[name]
        return held

    def _cosines(self, vector: bytes) -> Floats:
        vectors, asked = self.vectors, np.frombuffer(vector, "<f2").astype(np.float32)
        if vectors is None or not len(asked):
            return np.full(self.passages, np.nan, np.float32)
        cosines = np.asarray(vectors @ asked, np.float32)
        return cosines if self.has_vector.all() else np.where(self.has_vector, cosines, np.float32(np.nan))

    def of_breadcrumb(self, values: GrowingArray[Scalar]) -> NDArray[Scalar]:
        """A breadcrumb array spread over the passages, shape (passages,)."""
        return values.head(self.size)[self.crumb]


def as_of(history: History, until: Place, session: str) -> View:
    """The rows below `until`, as if nothing later had come, seen from a session."""
    size = bisect_left(history.rows, until, key=lambda row: row.breadcrumb.place)
    passages = history.first_passage(size)
    return View(
        history=history,
        session=history.sessions.get(session, -1),
        size=size,
        passages=passages,
        current=_kept(history, size),
        crumb=history.crumb.head(passages),
    )


def _kept(history: History, size: int) -> NDArray[np.bool_]:
    later = history.superseded_by.head(size)
    return np.asarray((later < 0) | (later >= size))


def _who(crumb: Breadcrumb) -> tuple[str, str, str, str]:
    """Who says it: a person is known by the sender's id, everybody else only inside a session."""
    return crumb.role, crumb.speaker, crumb.user_id, "" if crumb.user_id else crumb.session
