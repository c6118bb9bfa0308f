"""One row a breadcrumb: what it is, which version of it counts, and what decides whether a consumer sees it."""

from array import array
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.selector import Selector
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.language.names import whole_look
from builder.language.words import is_filler, words_of
from builder.recall.index.arrays import GrowingArray

CONVERSATION = frozenset({"user", "assistant", "tool"})
"""Roles of what is said in a conversation."""
PAUSE = timedelta(minutes=30)
EPISODE_GAP = timedelta(hours=6)


class BreadcrumbTable:
    """Columns of one value a row; grows by `append`. Names are stored as codes, numbered from 0 as they come."""

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
        self.session.append(session)
        self.speaker.append(_code(self.speakers, crumb.speaker))
        self.schema.append(_code(self.schemas, crumb.schema))
        self.task.append(_code(self.tasks, crumb.task))
        if crumb.role == "assistant":
            self.agents.setdefault(whole_look(crumb.speaker), index)
        self._link_versions(index, crumb)
        if crumb.answers:
            self.answers.setdefault(crumb.answers, []).append(index)
        for pointer in crumb.pointers:
            self.keywords.setdefault(" ".join(words_of(pointer)), []).append(index)
        self.fingerprints.setdefault(row.fingerprint, []).append(index)
        self.by_person.append(crumb.role == "user")
        self.by_tool.append(crumb.role == "tool")
        self.in_conversation.append(crumb.role in CONVERSATION)
        self.filler.append(is_filler(crumb.text))
        self.private.append(crumb.private)
        self.parts.append(len(row.passages) if crumb.schema != SUMMARY else 1)
        self.tokens.append(sum(passage.tokens for passage in row.passages))
        self.day.append((crumb.created_at.year, crumb.created_at.month, crumb.created_at.day))
        episode, stretch = self._times_of(session, index, min(crumb.created_at, crumb.received_at))
        self.episode.append(episode)
        self.stretch.append(stretch)
        self.expires.append(crumb.expires_at.timestamp() if crumb.expires_at else np.inf)
        self.can_expire |= crumb.expires_at is not None

    def matching(self, selector: Selector, size: int) -> NDArray[np.bool_]:
        """Which of the first `size` rows a selector matches, shape (size,); each row is matched once a selector."""
        matches = self._matches.setdefault(selector, GrowingArray(np.bool_))
        for row in range(len(matches), size):
            matches.append(selector.matches(self._crumbs[row]))
        return matches.head(size)

    def _link_versions(self, index: int, crumb: Breadcrumb) -> None:
        """Mark what this row supersedes: its older version, or what it removes in its own session (of no session: in any).

        An older version that comes late supersedes nothing and is never current.
        """
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
        """The first replacement stands: a second tombstone must not bring the row back for a view from between them."""
        if self.superseded_by.head(row + 1)[row] < 0:
            self.superseded_by.put(row, by)

    def _times_of(self, session: int, index: int, moment: datetime) -> tuple[int, int]:
        """Episode, which ends with a gap, and first row after the last pause; a sender's clock that goes back ends neither."""
        latest, episode, stretch = self._clocks.get(session, (moment, -1, index))
        stretch = index if moment - latest > PAUSE else stretch
        if episode < 0 or moment - latest > EPISODE_GAP:
            episode = len(self.episode_dates)
            self.episode_dates.append(f"{moment.day} {moment:%B %Y}")
        self._clocks[session] = (max(latest, moment), episode, stretch)
        return episode, stretch


def _code(codes: dict[str, int], name: str) -> int:
    return codes.setdefault(name, len(codes))
