"""Facts of a history that depend on several breadcrumbs, in order of time: chains of summaries, passages, and all tables.

"As of" a place is a prefix of every array (`View`). After an import of something older a history is made anew (`chronology`), and
what comes before that import needs a history of its own.

A chain's summaries each name the one they continue, so two workers that summarise at once cannot say a thing twice; a deleted
summary takes along those that continue it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from builder.domain.breadcrumb import ORIGIN, SUMMARY, Breadcrumb, Place
from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine, Summary, read_summary
from builder.language.instruction_log import InstructionLog
from builder.language.sentences import Spans
from builder.recall.index.breadcrumb_table import BreadcrumbTable, Ints, Rows
from builder.recall.index.chronology import EARLIEST, moment_of
from builder.recall.index.links import PersonTable, ToolExchanges, UnitTable
from builder.recall.index.passage_table import PassageTable
from builder.recall.index.prefix import Prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """A summary of a chain."""

    identity: str
    summary: Summary
    before: int
    """Row of the link that it continues; -1 = none."""
    lasting: int
    """Row of the newest link up to this one that has lasting lines; -1 = none."""


class Chains:
    """The chains of all sessions of a history; grows by new summaries only."""

    def __init__(self) -> None:
        self._rows: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        self._links: dict[int, _Link] = {}

    def add(self, row: int, session: int, crumb: Breadcrumb, latest: Rows) -> None:
        """Append a summary that names the head of its chain. latest: as in `rows`, as of its row."""
        summary = read_summary(crumb)
        chain_rows = self._rows[session, summary.recipe]
        unbroken = chain_rows if latest[np.array(chain_rows, np.int64)].all() else self.rows(session, summary.recipe, latest)
        head = unbroken[-1] if unbroken else -1
        if summary.previous == (self._links[head].identity if head >= 0 else "") and crumb.version == 1:
            before = self._links[head].lasting if head >= 0 else -1
            lasting = row if any(line.is_lasting for line in summary.lines) else before
            self._links[row] = _Link(identity=crumb.id, summary=summary, before=head, lasting=lasting)
            chain_rows.append(row)

    def summary(self, row: int) -> Summary:
        """The summary of a row, parsed when it was added."""
        return self._links[row].summary

    def free(self, row: int) -> tuple[KeptLine, ...]:
        """The lines of a summary that do not last: the next one has its own."""
        return tuple(line for line in self.summary(row).lines if not line.is_lasting)

    def lasting(self, row: int, visible: Rows) -> tuple[KeptLine, ...]:
        """The lasting lines of a summary and of those before it in its chain, the oldest first, each once.

        visible: rows of summaries whose lines count, shape (size,).
        """
        lines_by_summary: list[tuple[KeptLine, ...]] = []
        while row >= 0 and (row := self._links[row].lasting) >= 0:
            lines_by_summary.append(tuple(line for line in self._links[row].summary.lines if line.is_lasting and visible[row]))
            row = self._links[row].before
        lines = (line for lines in reversed(lines_by_summary) for line in lines)
        return tuple({(line.text, line.sources): line for line in lines}.values())

    def rows(self, session: int, recipe: str, latest: Rows) -> tuple[int, ...]:
        """The chain, oldest first, without what continues a lost one. latest: rows that nothing has replaced, shape (size,)."""
        rows, head = list[int](), -1
        for row in self._rows.get((session, recipe), ()):
            if row < len(latest) and latest[row] and self._links[row].before == head:
                rows.append(row)
                head = row
        return tuple(rows)

    def of_recipe(self, recipe: str, latest: Rows) -> tuple[int, ...]:
        """The chains of a recipe in all sessions. latest: as in `rows`."""
        return tuple(row for session, name in self._rows if name == recipe for row in self.rows(session, name, latest))

    def newest_visible(self, session: int, recipe: str, latest: Rows, visible: Rows, moved_at: int) -> int:
        """Row of the newest visible summary from before the window moved at row `moved_at`, or made on request.

        Else the newest visible one; -1 = none. visible: shape (size,).
        """
        chain_rows = [row for row in self.rows(session, recipe, latest) if visible[row]]
        settled = (row for row in reversed(chain_rows) if row < moved_at or self._links[row].summary.at_once)
        return next(settled, chain_rows[-1] if chain_rows else -1)


PASSAGE_CHARS = 1_000
"""An ordinary passage: its text, and the body that it came in."""


class History:
    """Grows by `extending`; read through `View`."""

    def __init__(self) -> None:
        self.revision = 0
        self.is_whole = True
        """No `extending` is under way; one that was given up leaves half of a row, and this False."""
        self.is_searched = True
        """Terms and vectors of its passages are read."""
        self.rows: list[StoredBreadcrumb] = []
        """Without terms and vectors, which are in the tables."""
        self.breadcrumbs = BreadcrumbTable()
        self.passages = PassageTable()
        self.units = UnitTable()
        self.people = PersonTable()
        self.exchanges = ToolExchanges()
        self.chains = Chains()
        self.instructions = InstructionLog()
        self.lacking: list[int] = []
        """Rows with a passage that has no vector yet."""
        self.changes: dict[int, tuple[bool, frozenset[str]]] = {}
        """Passage → whether its words change what was said before, and its identifiers; filled by searches."""
        self.subjects: dict[tuple[int, Spans], str] = {}
        """Row and spans of a find → its terms; filled by searches."""
        self.patterns: dict[tuple[int, Spans], Ints] = {}
        """Row and spans of a find → hashes of the words that tell its kind; filled by pages."""
        self._prefix: Prefix | None = None
        """The last one that was read; None = something came since."""
        self._characters = 0
        self._end: tuple[Place, int] = (ORIGIN, 1)
        """The last order of its rows."""
        self._at_end: set[Place] = set()
        """Places of the rows of this order."""
        self._latest = EARLIEST
        """When the last of its rows was said, and when anything came."""
        self._is_in_place_order = True

    @property
    def place(self) -> Place:
        """The place after which rows may be missing; ORIGIN when empty."""
        place, is_after = self._end
        return place if is_after else place.previous

    def lacks(self, row: StoredBreadcrumb) -> bool:
        """Whether a row of a recall is not in it yet."""
        return row.order > self._end or (row.order == self._end and row.breadcrumb.place not in self._at_end)

    def continues_with(self, rows: Iterable[StoredBreadcrumb]) -> bool:
        """Whether these rows were said after all that it has. rows: in place order."""
        latest = self._latest
        for row in filter(self.lacks, rows):
            if (moment := moment_of(row.breadcrumb, latest)) < latest:
                return False
            latest = moment
        return True

    def size_at(self, until: Place, *, inclusive: bool) -> int:
        """Number of rows below a place. inclusive: also at it. -1 = they are no prefix: something older was imported since."""
        bound = (until, 2 if inclusive else 1)
        if self._is_in_place_order:
            return bisect_left(self.rows, bound, key=lambda row: row.order)
        orders = [row.order < bound for row in self.rows]
        size = sum(orders)
        return size if all(orders[:size]) else -1

    @property
    def cost(self) -> int:
        """The measure of its memory, in passages."""
        return max(len(self.passages), len(self.rows), self._characters // PASSAGE_CHARS)

    def extending(self, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append rows with pauses for other sessions. Nothing else may extend it meanwhile."""
        self.is_whole = False
        for stored in rows:
            self._prefix = None
            index, crumb = len(self.rows), stored.breadcrumb
            self.rows.append(stored.without_facts())
            self._arrange(stored)
            self._append(index, stored)
            self._characters += len(crumb.body) + len(crumb.text)
            session = int(self.breadcrumbs.session[index])
            is_call = bool(self.breadcrumbs.filler[index] and crumb.call_signatures)
            group = ~index if is_call or crumb.schema == SUMMARY else session  # observations are said next to nothing
            filler = bool(self.breadcrumbs.filler[index]) and not is_call
            lacks_vector = yield from self.passages.append(index, group, stored, filler=filler)
            if lacks_vector:
                self.lacking.append(index)
        self.is_whole = True

    def prefix(self, size: int) -> Prefix:
        """Its first `size` breadcrumbs."""
        if self._prefix is None or self._prefix.size != size:
            self._prefix = Prefix(self.breadcrumbs, self.passages, size)
        return self._prefix

    def fill(self, vectors: Mapping[int, tuple[bytes, ...]]) -> bool:
        """Write vectors that were missing; returns whether there were any.

        vectors: row → float16 bytes of each passage, or nothing yet.
        """
        for row, of_passages in vectors.items():
            self.passages.put_vectors(row, of_passages)
        waiting = [row for row in vectors if not vectors[row]]
        self.lacking = [*(row for row in self.lacking if row not in vectors), *waiting]
        return len(waiting) < len(vectors)

    def _arrange(self, stored: StoredBreadcrumb) -> None:
        self._is_in_place_order &= stored.order >= self._end or len(self.rows) == 1
        if stored.order > self._end or len(self.rows) == 1:
            self._end, self._at_end = stored.order, set()
        if stored.order == self._end:
            self._at_end.add(stored.breadcrumb.place)
        self._latest = max(self._latest, moment_of(stored.breadcrumb, self._latest))

    def _append(self, index: int, stored: StoredBreadcrumb) -> None:
        crumb = stored.breadcrumb
        older = self.breadcrumbs.versions.get(crumb.id, [])[-1:]
        self.breadcrumbs.append(stored)
        session = int(self.breadcrumbs.session[index])
        edited = next((row for row in older if self.breadcrumbs.session[row] == session), None)
        self.units.append(index, session, crumb, edited)
        answered = self.breadcrumbs.newest.get(crumb.answers)
        if stored.is_cut:
            self.people.cut(session)
        self.people.append(index, session, crumb, int(self.units.head[index]), answered[-1] if answered else None)
        self.exchanges.append(index, session, crumb, self.breadcrumbs.versions[crumb.id][0])
        if crumb.schema == SUMMARY and not crumb.removes:  # a secret one says nothing
            self.chains.add(index, session, crumb, self.breadcrumbs.superseded_by[:] < 0)
