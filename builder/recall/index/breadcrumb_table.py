"""Arrays and an inverted index that only grow, so "as of" is a prefix; and the table of breadcrumbs."""

from array import array
from bisect import bisect_left
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import NO_SESSION, SUMMARY, Breadcrumb
from builder.domain.recall import StoredBreadcrumb
from builder.domain.selector import Selector
from builder.language.words import is_filler, whole_look, words_of

Scalar = TypeVar("Scalar", bound=np.generic)


class GrowingArray(Generic[Scalar]):
    """A flat array, or rows of `width` numbers, with room to append."""

    __slots__ = ("_data", "_size")

    def __init__(self, dtype: type[Scalar], width: int = 0) -> None:
        self._data: NDArray[Scalar] = np.zeros((8, width) if width else 8, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, value: Any) -> None:
        """Add one row."""
        if self._size == len(self._data):
            grown = np.zeros((2 * self._size, *self._data.shape[1:]), self._data.dtype)
            grown[: self._size] = self._data
            self._data = grown
        self._data[self._size] = value
        self._size += 1

    def put(self, row: int, value: Any) -> None:
        """Overwrite one row: some links are known only later."""
        self._data[row] = value

    @property
    def last(self) -> Any:
        """The row that was appended last."""
        return self._data[self._size - 1]

    def head(self, size: int) -> NDArray[Scalar]:
        """The first `size` rows, without a copy."""
        return self._data[:size]


class Table:
    """Growing arrays side by side, one value a row in each."""

    def _add(self, **values: Any) -> None:
        """Append one value to each of these columns."""
        for name, value in values.items():
            column: GrowingArray[Any] = getattr(self, name)
            column.append(value)


class Postings:
    """Term → rows (passages in place order, ascending) and counts."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, row: int, terms: list[str]) -> None:
        """Append a passage; `row` must be the highest."""
        entries = self._entries
        for term, count in Counter(terms).items():
            entry = entries.get(term)
            if entry is None:
                entries[term] = (array("q", (row,)), array("l", (count,)))
            else:
                entry[0].append(row)
                entry[1].append(count)

    def holding(self, term: str, end: int) -> int:
        """How many rows below `end` hold the term."""
        return bisect_left(self._entries[term][0], end) if term in self._entries else 0

    def of(self, term: str, end: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows below `end` with the term, and counts, as copies."""
        if term not in self._entries:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        rows, counts = self._entries[term]
        rows_holding = np.array(rows, np.int64)
        cut = int(np.searchsorted(rows_holding, end))
        return rows_holding[:cut], np.array(counts, np.float32)[:cut]


CONVERSATION = frozenset({"user", "assistant", "tool"})
"""Roles of what is said in a conversation."""
PAUSE = timedelta(minutes=30)
EPISODE_GAP = timedelta(hours=6)


class BreadcrumbTable(Table):
    """One row a breadcrumb. Names are stored as codes, numbered from 0 as they come."""

    def __init__(self) -> None:
        self.session = GrowingArray(np.int64)
        self.speaker = GrowingArray(np.int64)
        self.schema = GrowingArray(np.int64)
        self.task = GrowingArray(np.int64)
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.schemas: dict[str, int] = {}
        self.tasks: dict[str, int] = {}
        self.agents: dict[str, int] = {}
        """Looks of the names of speakers in the assistant's role → the row in which each spoke first."""

        self.superseded_by = GrowingArray(np.int64)
        """The first row that replaced or removed it; -1 = none."""
        self.versions: dict[str, list[int]] = {}
        """Id → its rows."""
        self.newest: dict[str, list[int]] = {}
        """Id → for each of its rows the row of the highest version up to it."""
        self.answers: dict[str, list[int]] = {}
        """Id → the rows that name it as what they answer."""
        self.keywords: dict[str, list[int]] = {}
        """Keyword or tag in one spelling → the rows that have it."""
        self.fingerprints: dict[bytes, list[int]] = {}
        self.rows_of: list[array[int]] = []
        """Session → its rows; arrays, because every build makes a NumPy array of them."""

        self.by_person = GrowingArray(np.bool_)
        self.by_tool = GrowingArray(np.bool_)
        self.in_conversation = GrowingArray(np.bool_)
        self.filler = GrowingArray(np.bool_)
        self.private = GrowingArray(np.bool_)
        self.parts = GrowingArray(np.float32)
        """Passages of the whole text; 1 for a summary, whose passages have nothing to do with each other."""
        self.tokens = GrowingArray(np.float32)
        self.day = GrowingArray(np.int64, 3)
        """Year, month, day."""
        self.episode = GrowingArray(np.int64)
        self.stretch = GrowingArray(np.int64)
        """Row → the row of its session that came first after the last pause."""
        self.episode_dates: list[str] = []
        """Episode → the day on which it began, as "8 May 2023"."""
        self.expires = GrowingArray(np.float64)
        """Seconds since 1970; inf = never."""
        self.can_expire = False

        self._crumbs: list[Breadcrumb] = []
        self._clocks: dict[int, tuple[datetime, int, int]] = {}
        self._matches: dict[Selector, GrowingArray[np.bool_]] = {}

    def append(self, row: StoredBreadcrumb) -> None:
        """Append one breadcrumb."""
        crumb, index = row.breadcrumb, len(self._crumbs)
        self._crumbs.append(crumb)
        session = _code(self.sessions, row.joins or crumb.session)
        if session == len(self.rows_of):
            self.rows_of.append(array("q"))
        self.rows_of[session].append(index)
        if crumb.role == "assistant":
            self.agents.setdefault(whole_look(crumb.speaker), index)
        self._link_versions(index, crumb)
        if crumb.answers:
            self.answers.setdefault(crumb.answers, []).append(index)
        for pointer in crumb.pointers:
            self.keywords.setdefault(" ".join(words_of(pointer)), []).append(index)
        self.fingerprints.setdefault(row.fingerprint, []).append(index)
        episode, stretch = self._times_of(session, index, min(crumb.created_at, crumb.received_at))
        self.can_expire |= crumb.expires_at is not None
        self._add(
            session=session,
            speaker=_code(self.speakers, crumb.speaker),
            schema=_code(self.schemas, crumb.schema),
            task=_code(self.tasks, crumb.task),
            by_person=crumb.role == "user",
            by_tool=crumb.role == "tool",
            in_conversation=crumb.role in CONVERSATION,
            filler=is_filler(crumb.text),
            private=crumb.private,
            parts=len(row.passages) if crumb.schema != SUMMARY else 1,
            tokens=sum(passage.tokens for passage in row.passages),
            day=(crumb.created_at.year, crumb.created_at.month, crumb.created_at.day),
            episode=episode,
            stretch=stretch,
            expires=crumb.expires_at.timestamp() if crumb.expires_at else np.inf,
        )

    def matching(self, selector: Selector, size: int) -> NDArray[np.bool_]:
        """Which of the first `size` rows match, shape (size,); computed once per row."""
        matches = self._matches.setdefault(selector, GrowingArray(np.bool_))
        for row in range(len(matches), size):
            matches.append(selector.matches(self._crumbs[row]))
        return matches.head(size)

    def _link_versions(self, index: int, crumb: Breadcrumb) -> None:
        """An older version that comes late supersedes nothing and is never current."""
        self.superseded_by.append(-1)
        for identity in {crumb.id, crumb.removes} & self.newest.keys():
            newest = self._crumbs[self.newest[identity][-1]]
            if crumb.session in {NO_SESSION, newest.session}:
                is_late = identity == crumb.id and crumb.version < newest.version
                self._supersede(index if is_late else self.newest[identity][-1], index)
        if crumb.removes:
            self._supersede(index, index)
        self.versions.setdefault(crumb.id, []).append(index)
        newest_rows = self.newest.setdefault(crumb.id, [])
        is_late = bool(newest_rows) and self._crumbs[newest_rows[-1]].version > crumb.version
        newest_rows.append(newest_rows[-1] if is_late else index)

    def _supersede(self, row: int, by: int) -> None:
        if self.superseded_by.head(row + 1)[row] < 0:
            self.superseded_by.put(row, by)

    def _times_of(self, session: int, index: int, moment: datetime) -> tuple[int, int]:
        latest, episode, stretch = self._clocks.get(session, (moment, -1, index))
        stretch = index if moment - latest > PAUSE else stretch
        if episode < 0 or moment - latest > EPISODE_GAP:
            episode = len(self.episode_dates)
            self.episode_dates.append(f"{moment.day} {moment:%B %Y}")
        self._clocks[session] = (max(latest, moment), episode, stretch)
        return episode, stretch


def _code(codes: dict[str, int], name: str) -> int:
    return codes.setdefault(name, len(codes))
