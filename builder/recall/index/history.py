"""Breadcrumbs of one session or of several in place order: all that depends on more than one of them, by new rows only.

"As of" a place is a prefix of every array (`View`), so recall as of a place is the same before and after anything
later arrives. Neighbours, sittings and units are a session's own, whoever else speaks in between; what joins a
session by its request id is one of its own.
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.language.instructions.log import InstructionLog
from builder.language.words import is_filler
from builder.recall.index.arrays import GrowingArray
from builder.recall.index.attributes import CONVERSATION, Attributes
from builder.recall.index.postings import Postings
from builder.recall.index.summary_chains import Chains
from builder.recall.index.tool_exchanges import ToolExchanges

STEP = 32
"""Passages after which `extending` pauses."""
EPISODE_GAP = timedelta(hours=6)

Floats = NDArray[np.float32]


class History:
    """Grows by `extend`; read through `View`.

    A passage's `before` and `after` are the passages next to it in its session, -1 where there is none (yet).
    versions: id → its rows in place order. newest: id → for each of these the row of the highest version up to it.
    blank: passages without any text, which never have a vector.
    lacking: rows of which another passage has no vector yet; `fill` takes them off.
    agents: names of speakers in the assistant's role, case-folded → row in which each first spoke.
    is_whole: whether no `extending` is under way; one that was given up leaves half of a row, and this False.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.is_whole = True
        self.rows: list[StoredBreadcrumb] = []
        self.postings = Postings()
        self.instructed = InstructionLog()
        self.chains = Chains()
        self.attributes = Attributes()
        self.exchanges = ToolExchanges()
        self.agents: dict[str, int] = {}
        self.superseded_by = GrowingArray(np.int64)
        self.session = GrowingArray(np.int64)
        self.episode = GrowingArray(np.int64)
        self.unit = GrowingArray(np.int64)
        self.units = GrowingArray(np.int64)
        self.filler = GrowingArray(np.bool_)
        self.by_person = GrowingArray(np.bool_)
        self.parts = GrowingArray(np.float32)
        self.speaker = GrowingArray(np.int64)
        self.schema = GrowingArray(np.int64)
        self.day = GrowingArray(np.int64, 3)
        self.crumb = GrowingArray(np.int64)
        self.before = GrowingArray(np.int64)
        self.after = GrowingArray(np.int64)
        self.length = GrowingArray(np.float32)
        self.tokens = GrowingArray(np.float32)
        self.traits = GrowingArray(np.int64)
        self.beside = GrowingArray(np.float32)
        self.across = GrowingArray(np.float32)
        self.has_vector = GrowingArray(np.bool_)
        self.vector: GrowingArray[np.float32] | None = None
        self.fingerprints: dict[bytes, list[int]] = {}
        self.members: dict[int, list[int]] = {}
        self.speakers: dict[str, int] = {}
        self.schemas: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.rows_of: list[array[int]] = []  # arrays, because every build makes one NumPy array of them all
        self.sitting_dates: list[str] = []
        self.versions: dict[str, list[int]] = {}
        self.newest: dict[str, list[int]] = {}
        self.answers: dict[str, list[int]] = {}
        self.lacking: list[int] = []
        self.blank = GrowingArray(np.bool_)
        self.joined: dict[int, tuple[int, int]] = {}
        self.absorbed: dict[int, list[int]] = {}
        self._heads: dict[tuple[int, str], int] = {}
        self._units: list[int] = []
        self._clocks: list[tuple[datetime, int]] = []
        self._last_passage: list[int] = []
        self._first_passage: list[int] = []

    @property
    def place(self) -> Place:
        """The last place held; ORIGIN when empty."""
        return self.rows[-1].breadcrumb.place if self.rows else ORIGIN

    @property
    def passages(self) -> int:
        """Passages held, small talk counted as one each: the measure of what this history costs in memory."""
        return max(len(self.crumb), len(self.rows))

    def extend(self, rows: tuple[StoredBreadcrumb, ...]) -> None:
        """Append rows; each place must be above `place`."""
        for _ in self.extending(rows):
            pass

    def extending(self, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append rows, and pause after every STEP passages, so that nothing else waits long; nobody else may extend meanwhile."""
        self.is_whole = False
        for row in rows:
            index = len(self.rows)
            self._first_passage.append(len(self.crumb))
            # Words and vectors go into the arrays; held twice they would be most of the memory.
            self.rows.append(replace(row, passages=tuple(replace(held, terms="", vector=b"") for held in row.passages)))
            session = self._session(row.joins or row.breadcrumb.session)
            self._link(index, session, row)
            # Small talk is never found, so it takes no place between a question and its answer either.
            for passage in () if self.filler.head(index + 1)[index] else row.passages:
                if len(self.crumb) % STEP == 0:
                    yield
                terms = passage.terms.split()
                self.postings.add(len(self.crumb), terms)
                self._neighbour(session)
                self._append_vector(passage.vector)
                self.crumb.append(index)
                self.length.append(len(terms))
                self.blank.append(not row.breadcrumb.text[passage.start : passage.end].strip())
                self.tokens.append(passage.tokens)
                self.traits.append(passage.traits)
            if self.lacks(index):
                self.lacking.append(index)
        self.is_whole = True

    def lacks(self, row: int) -> bool:
        """Whether a passage of the row that is not blank has no vector."""
        start, end = self.first_passage(row), self.first_passage(row + 1)
        return bool((~self.has_vector.head(end)[start:] & ~self.blank.head(end)[start:]).any())

    def fill(self, found: Mapping[int, tuple[bytes, ...]]) -> bool:
        """Write vectors in the place of none; returns whether there were any.

        found: rows of `lacking` → float16 bytes of each of their passages, or nothing yet: such rows go to the end of `lacking`.
        """
        for row, vectors in found.items():
            for passage, vector in enumerate(vectors, self.first_passage(row)):
                if vector:
                    self._put_vector(passage, np.frombuffer(vector, "<f2").astype(np.float32))
        waiting = [row for row in found if not found[row]]
        self.lacking = [*(row for row in self.lacking if row not in found), *waiting]
        return len(waiting) < len(found)

    def first_passage(self, row: int) -> int:
        """Number of the first passage of a breadcrumb; small talk has none: then it is that of the next one."""
        return self._first_passage[row] if row < len(self.rows) else len(self.crumb)

    def _session(self, name: str) -> int:
        code = self.sessions.setdefault(name, len(self.sessions))
        if code == len(self.rows_of):
            self.rows_of.append(array("q"))
            self._units.append(0)
            self._last_passage.append(-1)
        return code

    def _link(self, index: int, session: int, row: StoredBreadcrumb) -> None:
        crumb = row.breadcrumb
        self.superseded_by.append(-1)
        self.session.append(session)
        self.rows_of[session].append(index)
        self._replace(index, crumb)
        older = self.versions.setdefault(crumb.id, [])
        mine = [row for row in older[-1:] if self.session.head(index)[row] == session]
        head = self._head(index, session, crumb.calls, mine)
        older.append(index)
        self.exchanges.append(index, session, crumb, older[0])
        if crumb.role == "assistant":
            self.agents.setdefault(crumb.speaker.casefold(), index)
        self._note_newest(index, crumb)
        if crumb.answers:
            self.answers.setdefault(crumb.answers, []).append(index)
        self.episode.append(self._episode(session, min(crumb.created_at, crumb.received_at)))
        self.day.append((crumb.created_at.year, crumb.created_at.month, crumb.created_at.day))
        self.unit.append(head)
        self.members.setdefault(head, []).append(index)
        self._units[session] += head == index and crumb.role in CONVERSATION
        self.units.append(self._units[session])
        self.filler.append(is_filler(crumb.text))
        self.fingerprints.setdefault(row.fingerprint, []).append(index)
        self.by_person.append(crumb.role == "user")
        self.attributes.append(row)
        self.parts.append(len(row.passages))
        self.speaker.append(self.speakers.setdefault(crumb.speaker, len(self.speakers)))
        self.schema.append(self.schemas.setdefault(crumb.schema, len(self.schemas)))
        if crumb.schema == SUMMARY and not crumb.removes:  # a secret one says nothing
            self.chains.add(index, session, crumb, self.superseded_by.head(index + 1))

    def _replace(self, index: int, crumb: Breadcrumb) -> None:
        """What this row supersedes: its older version, or what it removes in its own session (from none: in any).

        An older version that comes late supersedes nothing and is never current.
        """
        for known in {crumb.id, crumb.removes} & self.newest.keys():
            newest = self.newest[known][-1]
            if crumb.session not in {NO_SESSION, self.rows[newest].breadcrumb.session}:
                continue
            late = known == crumb.id and crumb.version < self.rows[newest].breadcrumb.version
            self._supersede(index if late else newest, index)
        if crumb.removes:
            self._supersede(index, index)

    def _note_newest(self, index: int, crumb: Breadcrumb) -> None:
        newest = self.newest.setdefault(crumb.id, [])
        late = newest and self.rows[newest[-1]].breadcrumb.version > crumb.version
        newest.append(newest[-1] if late else index)

    def _supersede(self, row: int, by: int) -> None:
        """The first one to replace a row did it: a second tombstone must not bring it back for who looks from between them."""
        if self.superseded_by.head(row + 1)[row] < 0:
            self.superseded_by.put(row, by)

    def _head(self, index: int, session: int, calls: tuple[str, ...], older: list[int]) -> int:
        """The row that heads this row's unit. An edit opens none; what shares a call, however late, becomes one unit by it."""
        keys = [(session, call) for call in calls]
        known = {self._root(self._heads[key]) for key in keys if key in self._heads}
        head, *others = sorted(known | {self._root(int(self.unit.head(index)[row])) for row in older[-1:]}) or [index]
        for other in others:
            self.joined[other] = (head, index)
            self.absorbed.setdefault(head, []).extend((other, *self.absorbed.get(other, ())))
            self._units[session] -= self.rows[other].breadcrumb.role in CONVERSATION
        self._heads.update(dict.fromkeys(keys, head))
        return head

    def _root(self, head: int) -> int:
        while head in self.joined:
            head = self.joined[head][0]
        return head

    def _episode(self, session: int, moment: datetime) -> int:
        """A sitting ends with a gap; the sender's clock may also go back, which ends none."""
        if session == len(self._clocks):
            self._clocks.append((moment, self._sit_down(moment)))
        latest, episode = self._clocks[session]
        if moment - latest > EPISODE_GAP:
            episode = self._sit_down(moment)
        self._clocks[session] = (max(latest, moment), episode)
        return episode

    def _sit_down(self, moment: datetime) -> int:
        self.sitting_dates.append(f"{moment.day} {moment:%B %Y}")
        return len(self.sitting_dates) - 1

    def _neighbour(self, session: int) -> None:
        """Link the passage about to be appended to the one before it in its session."""
        passage, before = len(self.crumb), self._last_passage[session]
        self.before.append(before)
        self.after.append(-1)
        if before >= 0:
            self.after.put(before, passage)
        self._last_passage[session] = passage

    def _append_vector(self, vector: bytes) -> None:
        passage = len(self.crumb)
        self.has_vector.append(False)
        self.beside.append(0.0)
        self.across.append(0.0)
        if self.vector is not None:
            self.vector.append(0.0)
        if vector:
            self._put_vector(passage, np.frombuffer(vector, "<f2").astype(np.float32))

    def _put_vector(self, passage: int, values: Floats) -> None:
        """Also keeps how alike it is to the two before it: a window's length follows from that without a second matrix."""
        if self.vector is None:
            self.vector = GrowingArray(np.float32, len(values))
            for _ in range(len(self.has_vector)):
                self.vector.append(0.0)
        self.vector.put(passage, values)
        self.has_vector.put(passage, True)
        after = self.after.head(len(self.after))
        for row in (passage, following := int(after[passage]), int(after[following]) if following >= 0 else -1):
            if row >= 0:
                self._compare(row)

    def _compare(self, passage: int) -> None:
        vectors, before = cast("GrowingArray[np.float32]", self.vector).head(passage + 1), self.before.head(passage + 1)
        first = int(before[passage])
        second = int(before[first]) if first >= 0 else -1
        for values, other in ((self.beside, first), (self.across, second)):
            if other >= 0:
                values.put(passage, float(vectors[other] @ vectors[passage]))
