"""One session in place order: everything that depends on more than one breadcrumb is derived here, by new rows only.

"As of" a place is a prefix of every array (`View`), so recall as of a place is the same before and after anything
later arrives (design §1).
"""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.facts import Remembered
from builder.pipeline.growing import Growing, Scalar
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
        self.superseded_by = Growing(np.int64)
        self.sitting = Growing(np.int64)
        self.unit = Growing(np.int64)
        self.units_before = Growing(np.int64)
        self.filler = Growing(np.bool_)
        self.fingerprints: dict[bytes, list[int]] = {}
        self.members: dict[int, list[int]] = {}
        self.speaker = Growing(np.int64)
        self.schema = Growing(np.int64)
        self.crumb = Growing(np.int64)
        self.length = Growing(np.float32)
        self.tokens = Growing(np.float32)
        self.question = Growing(np.float32)
        self.vector: Growing[np.float32] | None = None
        self.speakers: dict[str, int] = {}
        self.schemas: dict[str, int] = {}
        self.sitting_dates: list[str] = []
        self.latest: dict[str, int] = {}
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
                self.question.append(row.breadcrumb.text[passage.start : passage.end].rstrip().endswith(("?", "？", "؟")))
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
        return View(history=self, size=low, passages=passages)

    def first_passage(self, row: int) -> int:
        """Number of the first passage of a breadcrumb."""
        return self._first_passage[row]

    def units_at(self, size: int) -> int:
        """Units of the conversation among the first `size` breadcrumbs."""
        return int(self.units_before.head(size + 1)[size]) if size < len(self.rows) else self._units

    def _link(self, index: int, row: Remembered) -> None:
        crumb = row.breadcrumb
        self.superseded_by.append(-1)
        for older in {crumb.id, crumb.removes} & self.latest.keys():
            self.superseded_by.put(self.latest[older], index)
        if crumb.removes:
            self.superseded_by.put(index, index)
        self.latest[crumb.id] = index
        self.sitting.append(self._sitting(min(crumb.created_at, crumb.received_at)))
        head = next((self._heads[call] for call in crumb.calls if call in self._heads), index)
        for call in crumb.calls:
            self._heads.setdefault(call, head)
        self.unit.append(head)
        self.members.setdefault(head, []).append(index)
        self.units_before.append(self._units)
        self._units += head == index and crumb.role in CONVERSATION
        self.filler.append(is_filler(crumb.text))
        self.fingerprints.setdefault(row.fingerprint, []).append(index)
        self.speaker.append(self.speakers.setdefault(crumb.speaker, len(self.speakers)))
        self.schema.append(self.schemas.setdefault(crumb.schema, len(self.schemas)))

    def _sitting(self, moment: datetime) -> int:
        if not self.sitting_dates or moment - self._clock > SITTING_GAP:
            self.sitting_dates.append(f"{moment.day} {moment:%B %Y}")
        self._clock = max(self._clock, moment)
        return len(self.sitting_dates) - 1

    def _append_vector(self, vector: bytes) -> None:
        held = np.frombuffer(vector, "<f2").astype(np.float32)
        if self.vector is None and len(held):
            self.vector = Growing(np.float32, len(held))
            for _ in range(len(self.crumb) - 1):
                self.vector.append(0.0)
        if self.vector is not None:
            self.vector.append(held if len(held) else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The first `size` breadcrumbs and their `passages` passages of a history. Arrays are views; nobody writes to them."""

    history: History
    size: int
    passages: int

    @property
    def crumb(self) -> Ints:
        """Passage → breadcrumb, shape (passages,)."""
        return self.history.crumb.head(self.passages)

    @property
    def current(self) -> NDArray[np.bool_]:
        """Breadcrumbs that no later version or tombstone has replaced, shape (size,)."""
        later = self.history.superseded_by.head(self.size)
        return np.asarray((later < 0) | (later >= self.size))

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
        return int(self.history.unit.head(self.size)[row])

    def members(self, row: int) -> tuple[int, ...]:
        """All rows of this row's unit, in place order."""
        return tuple(member for member in self.history.members[self.unit_of(row)] if member < self.size)

    def row_of(self, breadcrumb: str) -> int:
        """The newest row with this breadcrumb id, -1 when it is not in this history."""
        row = self.history.latest.get(breadcrumb, -1)
        return row if row < self.size else -1

    def date(self, row: int) -> str:
        """The day on which the row's sitting began, as "8 May 2023"; nothing for what belongs to no sitting."""
        if row < 0:
            return ""
        return self.history.sitting_dates[int(self.history.sitting.head(self.size)[row])]

    def in_conversation(self, row: int) -> bool:
        """Whether it is a message or part of a tool exchange."""
        return self.history.rows[row].breadcrumb.role in CONVERSATION

    def repeats(self, row: int) -> tuple[int, ...]:
        """Rows with the same normalised text, this one included, in place order."""
        same = self.history.fingerprints[self.history.rows[row].fingerprint]
        return tuple(same[: bisect_left(same, self.size)])

    def of_breadcrumb(self, values: Growing[Scalar]) -> NDArray[Scalar]:
        """A breadcrumb array spread over the passages, shape (passages,)."""
        return values.head(self.size)[self.crumb]
