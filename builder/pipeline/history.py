"""One session in place order: everything that depends on more than one breadcrumb is derived here, by new rows only.

"As of" a place is a prefix of every array (`View`), so recall as of a place is the same before and after anything
later arrives (design §1).
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.facts import Remembered
from builder.pipeline.growing import Growing, Scalar
from builder.pipeline.instructed import Instructed
from builder.pipeline.postings import Postings
from builder.pipeline.words import is_filler

SITTING_GAP = timedelta(hours=6)
CONVERSATION = frozenset({"user", "assistant", "tool"})

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


class History:
    """Grows by `extend`; read through `view`."""

    def __init__(self) -> None:
        self.rows: list[Remembered] = []
        self.postings = Postings()
        self.instructed = Instructed()
        self.superseded_by = Growing(np.int64)
        self.sitting = Growing(np.int64)
        self.unit = Growing(np.int64)
        self.units_before = Growing(np.int64)
        self.filler = Growing(np.bool_)
        self.by_person = Growing(np.bool_)
        self.parts = Growing(np.float32)
        self.fingerprints: dict[bytes, list[int]] = {}
        self.members: dict[int, list[int]] = {}
        self.speaker = Growing(np.int64)
        self.schema = Growing(np.int64)
        self.crumb = Growing(np.int64)
        self.length = Growing(np.float32)
        self.tokens = Growing(np.float32)
        self.traits = Growing(np.int64)
        self.day = Growing(np.int64, 3)
        self.beside = Growing(np.float32)
        self.across = Growing(np.float32)
        self.vector: Growing[np.float32] | None = None
        self.speakers: dict[str, int] = {}
        self.schemas: dict[str, int] = {}
        self.sitting_dates: list[str] = []
        self.versions: dict[str, list[int]] = {}
        self.answers: dict[str, list[int]] = {}
        self.joined: dict[int, tuple[int, int]] = {}
        self.absorbed: dict[int, list[int]] = {}
        self._heads: dict[str, int] = {}
        self._units = 0
        self._clock = datetime.min.replace(tzinfo=UTC)
        self._first_passage: list[int] = []

    @property
    def place(self) -> Place:
        """The last place held; ORIGIN when empty."""
        return self.rows[-1].breadcrumb.place if self.rows else ORIGIN

    @property
    def passages(self) -> int:
        """Passages held: the measure of what this history costs in memory."""
        return len(self.crumb)

    def extend(self, rows: tuple[Remembered, ...]) -> None:
        """Append rows; each place must be above `place`."""
        for row in rows:
            index = len(self.rows)
            self.rows.append(row)
            self._link(index, row)
            self._first_passage.append(len(self.crumb))
            for passage in row.passages:
                terms = passage.terms.split()
                self.postings.add(len(self.crumb), terms)
                self.crumb.append(index)
                self.length.append(len(terms))
                self.tokens.append(passage.tokens)
                self.traits.append(passage.traits)
                self._append_vector(passage.vector)

    def view(self, until: Place) -> "View":
        """The rows below `until`, as if nothing later had come."""
        low, high = 0, len(self.rows)
        while low < high:
            middle = (low + high) // 2
            if self.rows[middle].breadcrumb.place < until:
                low = middle + 1
            else:
                high = middle
        passages = self._first_passage[low] if low < len(self.rows) else len(self.crumb)
        later = self.superseded_by.head(low)
        return View(history=self, size=low, passages=passages, current=np.asarray((later < 0) | (later >= low)))

    def first_passage(self, row: int) -> int:
        """Number of the first passage of a breadcrumb."""
        return self._first_passage[row]

    def units_at(self, size: int) -> int:
        """Units of the conversation among the first `size` breadcrumbs."""
        return int(self.units_before.head(size + 1)[size]) if size < len(self.rows) else self._units

    def _link(self, index: int, row: Remembered) -> None:
        crumb = row.breadcrumb
        self.units_before.append(self._units)
        self.superseded_by.append(-1)
        for known in {crumb.id, crumb.removes} & self.versions.keys():
            self._supersede(self.versions[known][-1], index)
        if crumb.removes:
            self._supersede(index, index)
        older = self.versions.setdefault(crumb.id, [])
        head = self._head(index, crumb.calls, older)
        older.append(index)
        if crumb.answers:
            self.answers.setdefault(crumb.answers, []).append(index)
        self.sitting.append(self._sitting(min(crumb.created_at, crumb.received_at)))
        self.day.append((crumb.created_at.year, crumb.created_at.month, crumb.created_at.day))
        self.unit.append(head)
        self.members.setdefault(head, []).append(index)
        self._units += head == index and crumb.role in CONVERSATION
        self.filler.append(is_filler(crumb.text))
        self.fingerprints.setdefault(row.fingerprint, []).append(index)
        self.by_person.append(crumb.role == "user")
        self.parts.append(len(row.passages))
        self.speaker.append(self.speakers.setdefault(crumb.speaker, len(self.speakers)))
        self.schema.append(self.schemas.setdefault(crumb.schema, len(self.schemas)))

    def _supersede(self, row: int, by: int) -> None:
        """The first one to replace a row did it: a second tombstone must not bring it back for who looks from between them."""
        if self.superseded_by.head(row + 1)[row] < 0:
            self.superseded_by.put(row, by)

    def _head(self, index: int, calls: tuple[str, ...], older: list[int]) -> int:
        """The row that heads this row's unit. An edit opens none; what shares a call, however late, becomes one unit by it."""
        known = {self._heads[call] for call in calls if call in self._heads}
        head, *others = sorted(known | {self._root(int(self.unit.head(index)[row])) for row in older[-1:]}) or [index]
        for other in others:
            self.joined[other] = (head, index)
            self.absorbed.setdefault(head, []).extend((other, *self.absorbed.get(other, ())))
            self._units -= self.rows[other].breadcrumb.role in CONVERSATION
        for call, held in self._heads.items() if others else ():
            self._heads[call] = head if held in others else held
        self._heads.update(dict.fromkeys(calls, head))
        return head

    def _root(self, head: int) -> int:
        while head in self.joined:
            head = self.joined[head][0]
        return head

    def _sitting(self, moment: datetime) -> int:
        if not self.sitting_dates or moment - self._clock > SITTING_GAP:
            self.sitting_dates.append(f"{moment.day} {moment:%B %Y}")
        self._clock = max(self._clock, moment)
        return len(self.sitting_dates) - 1

    def _append_vector(self, vector: bytes) -> None:
        """Also keeps how alike it is to the two before it: a window's length follows from that without a second matrix."""
        held = np.frombuffer(vector, "<f2").astype(np.float32)
        row = len(self.crumb) - 1
        if self.vector is None and len(held):
            self.vector = Growing(np.float32, len(held))
            for _ in range(row):
                self.vector.append(0.0)
        alike = [0.0, 0.0]
        if self.vector is not None:
            self.vector.append(held if len(held) else 0.0)
            if len(held):
                alike = [float(self.vector.head(row)[row - back] @ held) if row >= back else 0.0 for back in (1, 2)]
        self.beside.append(alike[0])
        self.across.append(alike[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The first `size` breadcrumbs and their `passages` passages of a history. Arrays are views; nobody writes to them.

    current: breadcrumbs that no later version or tombstone has replaced, shape (size,).
    """

    history: History
    size: int
    passages: int
    current: NDArray[np.bool_]
    _cosines: dict[bytes, Floats] = field(default_factory=dict, repr=False, compare=False)

    @property
    def crumb(self) -> Ints:
        """Passage → breadcrumb, shape (passages,)."""
        return self.history.crumb.head(self.passages)

    @property
    def vectors(self) -> Floats | None:
        """Shape (passages, width), zero rows where no vector is stored; None when there are none at all."""
        return None if self.history.vector is None else self.history.vector.head(self.passages)

    @property
    def units(self) -> int:
        """Units of the conversation."""
        return self.history.units_at(self.size)

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
        """The newest row with this breadcrumb id, -1 when it is not in this view."""
        rows = self.history.versions.get(breadcrumb, [])
        return ([-1, *rows])[bisect_left(rows, self.size)]

    def date(self, row: int) -> str:
        """The day on which the row's sitting began, as "8 May 2023"; nothing for what belongs to no sitting."""
        if row < 0:
            return ""
        return self.history.sitting_dates[int(self.history.sitting.head(self.size)[row])]

    def in_conversation(self, row: int) -> bool:
        """Whether it is a message or part of a tool exchange."""
        return self.history.rows[row].breadcrumb.role in CONVERSATION

    def repeats(self, row: int) -> tuple[int, ...]:
        """Rows in which the same speaker said the same, this one included, in place order."""
        same, speaker = self.history.fingerprints[self.history.rows[row].fingerprint], self.history.speaker.head(self.size)
        held = (other for other in same[: bisect_left(same, self.size)] if self.current[other] or other == row)
        return tuple(other for other in held if speaker[other] == speaker[row])

    def cosines(self, vector: bytes) -> Floats:
        """Cosine of a float16 vector and each passage's, computed once a view; 0 where either is missing."""
        if vector not in self._cosines:
            vectors, asked = self.vectors, np.frombuffer(vector, "<f2").astype(np.float32)
            self._cosines[vector] = (
                np.zeros(self.passages, np.float32)
                if vectors is None or not len(asked)
                else np.asarray(vectors @ asked, np.float32)
            )
        return self._cosines[vector]

    def of_breadcrumb(self, values: Growing[Scalar]) -> NDArray[Scalar]:
        """A breadcrumb array spread over the passages, shape (passages,)."""
        return values.head(self.size)[self.crumb]
