"""Arrays and an inverted index that only grow, so "as of" is a prefix; and the table of breadcrumbs."""

import json
from array import array
from collections import defaultdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import NO_SESSION, SUMMARY, Breadcrumb
from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.language.names import whole_look
from builder.language.words import is_filler, words_of

Scalar = TypeVar("Scalar", bound=np.generic)
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.bool_]
"""Which rows; True = it is one."""
Codes = dict[str, int]
"""Name → code, numbered from 0 as they come."""


class GrowingArray(Generic[Scalar]):
    """A flat array, or rows of `width` numbers, with room to append. A slice is no copy.

    What came since the last slice is a list, because NumPy takes a list of values many times faster than one after the other.
    """

    __slots__ = ("_data", "_size", "_tail", "append")

    def __init__(self, dtype: type[Scalar], width: int = 0) -> None:
        self._data: NDArray[Scalar] = np.zeros((8, width) if width else 8, dtype)
        self._size = 0
        self._tail: list[Any] = []
        self.append = self._tail.append
        """Add one row."""

    def __len__(self) -> int:
        return self._size + len(self._tail)

    @overload
    def __getitem__(self, rows: int) -> Any: ...

    @overload
    def __getitem__(self, rows: slice | NDArray[Any]) -> NDArray[Scalar]: ...

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, int) and rows >= 0:
            return self._data[rows] if rows < self._size else self._tail[rows - self._size]
        return self._whole()[rows]

    def __setitem__(self, row: int, value: Any) -> None:
        if row < self._size:
            self._data[row] = value
        else:
            self._tail[row - self._size] = value

    def _whole(self) -> NDArray[Scalar]:
        if self._tail:
            size = len(self)
            if size > len(self._data):
                grown = np.zeros((2 * size, *self._data.shape[1:]), self._data.dtype)
                grown[: self._size] = self._data[: self._size]
                self._data = grown
            self._data[self._size : size] = self._tail
            self._size = size
            self._tail.clear()
        return self._data[: self._size]


IntColumn = GrowingArray[np.int64]
FlagColumn = GrowingArray[np.bool_]
FloatColumn = GrowingArray[np.float32]
ints, flags, floats = partial(IntColumn, np.int64), partial(FlagColumn, np.bool_), partial(FloatColumn, np.float32)


class Table:
    """Growing arrays side by side, one value a row in each."""

    def _add(self, **values: Any) -> None:
        for name, value in values.items():
            getattr(self, name).append(value)


def idf(holding: NDArray[Any], total: int) -> Doubles:
    """How much a term says that so many of all texts hold; never negative, as in Lucene's BM25."""
    return np.log(1 + (total - holding + 0.5) / (holding + 0.5))


class Postings:
    """Term → rows (passages in place order, ascending), each as often as it has the term."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))

    def add(self, row: int, terms: list[str]) -> None:
        """Append a passage; `row` must be the highest."""
        for term in terms:
            self._entries[term].append(row)

    def of(self, term: str, end: int) -> tuple[Ints, Floats]:
        """Rows below `end` with the term, and counts, as copies."""
        occurrences = np.array(self._entries.get(term, ()), np.int64)
        rows, counts = np.unique(occurrences[: occurrences.searchsorted(end)], return_counts=True)
        return rows, counts.astype(np.float32)


CONVERSATION = frozenset({"user", "assistant", "system", "tool"})
"""Roles of what is said in a conversation."""
SPEAKERS = CONVERSATION - {"tool"}
RETRY = timedelta(minutes=5)
"""Between a message and its retry, by the arrival; by `created_at` for imports."""
POINTERS = frozenset({"trigger_event_id", "questions", "step"})
"""Fields of a body that say what it answers."""
PAUSE = timedelta(minutes=30)
EPISODE_GAP = timedelta(hours=6)


class BreadcrumbTable(Table):
    """One row a breadcrumb. Names are stored as codes, numbered from 0 as they come."""

    def __init__(self) -> None:
        self.session = ints()
        self.speaker = ints()
        self.schema = ints()
        self.task = ints()
        self.sessions: Codes = {}
        self.speakers: Codes = {}
        self.schemas: Codes = {}
        self.tasks: Codes = {}
        self.agents: dict[str, int] = {}
        """Looks of the names of speakers in the assistant's role → the row in which each spoke first."""

        self.superseded_by = ints()
        """The first row that replaced or removed it; -1 = none."""
        self.again = ints()
        """The message right behind it that is a retry of it; -1 = none."""
        self.versions: dict[str, list[int]] = {}
        self.newest: dict[str, list[int]] = {}
        """Id → for each of its rows the row of the highest version up to it."""
        self.answers: dict[str, list[int]] = {}
        """Id → the rows that name it as what they answer."""
        self.keywords: dict[str, list[int]] = {}
        """Keyword or tag in one spelling → the rows that have it."""
        self.fingerprints: dict[bytes, list[int]] = {}
        self.rows_of: list[array[int]] = []
        """Session → its rows; arrays, because every build makes a NumPy array of them."""

        self.by_person = flags()
        self.by_tool = flags()
        self.in_conversation = flags()
        self.filler = flags()
        self.private = flags()
        self.parts = floats()
        """Passages of the whole text; 1 for a summary, whose passages have nothing to do with each other."""
        self.tokens = floats()
        self.day = ints(3)
        """Year, month, day."""
        self.episode = ints()
        self.stretch = ints()
        """The row of its session that came first after the last pause."""
        self.episode_dates: list[str] = []
        """Episode → the day on which it began, as "8 May 2023"."""
        self.expires = GrowingArray[np.float64](np.float64)
        """Seconds since 1970; inf = never."""
        self.can_expire = False

        self._crumbs: list[Breadcrumb] = []
        self._ends: dict[int, int] = {}
        """Session → the last row of its conversation."""
        self._clocks: dict[int, tuple[datetime, int, int]] = {}
        self._matches: dict[Selector, FlagColumn] = {}

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
        self._link_retry(session, index, crumb)
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

    def matching(self, selector: Selector, size: int) -> Rows:
        """Which of the first `size` rows match, shape (size,); computed once per row."""
        matches = self._matches.setdefault(selector, flags())
        for row in range(len(matches), size):
            matches.append(selector.matches(self._crumbs[row]))
        return matches[:size]

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
        if self.superseded_by[row] < 0:
            self.superseded_by[row] = by

    def _link_retry(self, session: int, index: int, crumb: Breadcrumb) -> None:
        self.again.append(-1)
        if crumb.role in CONVERSATION:
            before = self._ends.get(session, -1)
            if before >= 0 and is_retry(self._crumbs[before], crumb):
                self.again[before] = index
            self._ends[session] = index

    def _times_of(self, session: int, index: int, moment: datetime) -> tuple[int, int]:
        latest, episode, stretch = self._clocks.get(session, (moment, -1, index))
        stretch = index if moment - latest > PAUSE else stretch
        if episode < 0 or moment - latest > EPISODE_GAP:
            episode = len(self.episode_dates)
            self.episode_dates.append(f"{moment.day} {moment:%B %Y}")
        self._clocks[session] = (max(latest, moment), episode, stretch)
        return episode, stretch


def is_retry(crumb: Breadcrumb, later: Breadcrumb) -> bool:
    """Whether its sender sent the same once more; calls are made as often as they are sent."""
    is_same = crumb.text == later.text and crumb.id != later.id and later.answers in ("", crumb.answers)
    if not is_same or crumb.role not in SPEAKERS or crumb.calls or later.calls or not crumb.text.strip():
        return False
    if crumb.body != later.body and _content(crumb.body) != _content(later.body):
        return False
    who = ((each.role, each.speaker, each.agent, each.user_id, each.session, each.version) for each in (crumb, later))
    return len({*who}) == 1 and _said_at(later) - _said_at(crumb) <= RETRY


def _content(body: str) -> dict[str, Any]:
    """The body without what it answers: of two copies of an answer the second may name no question."""
    fields: dict[str, Any] = json.loads(body)
    return {name: value for name, value in fields.items() if name not in POINTERS}


def _said_at(crumb: Breadcrumb) -> datetime:
    return crumb.created_at if crumb.replay else crumb.received_at


def _code(codes: Codes, name: str) -> int:
    return codes.setdefault(name, len(codes))
