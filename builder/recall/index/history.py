"""Breadcrumbs of one session or of several in place order: all that depends on more than one of them, by new rows only.

"As of" a place is a prefix of every array (`View`), so recall as of a place is the same before and after anything later
arrives. Neighbours, episodes and units are a session's own, also when other sessions speak in between; what joins a session by
its request id is one of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.language.instructions.log import InstructionLog
from builder.recall.index.breadcrumb_table import BreadcrumbTable
from builder.recall.index.passage_table import PassageTable
from builder.recall.index.person_table import PersonTable
from builder.recall.index.summary_chains import Chains
from builder.recall.index.tool_exchanges import ToolExchanges, UnitTable

PASSAGE_CHARS = 1_000
"""Of an ordinary passage: its text, and the body that it came in."""


class History:
    """Grows by `extend`; read through `View`."""

    def __init__(self) -> None:
        self.revision = 0
        self.is_whole = True
        """No `extending` is under way; one that was given up leaves half of a row, and this False."""
        self.is_searched = True
        """Terms and vectors of its passages are read."""
        self.rows: list[StoredBreadcrumb] = []
        """Without terms and vectors, which stand in the tables."""
        self.breadcrumbs = BreadcrumbTable()
        self.passages = PassageTable()
        self.units = UnitTable()
        self.people = PersonTable()
        self.exchanges = ToolExchanges()
        self.chains = Chains()
        self.instructions = InstructionLog()
        self.lacking: list[int] = []
        """Rows with a passage that has no vector yet."""
        self._characters = 0

    @property
    def place(self) -> Place:
        """The place behind which rows may be lacking; ORIGIN when empty. First words may come after what comes with them."""
        if not self.rows:
            return ORIGIN
        last = self.rows[-1]
        return last.breadcrumb.place if last.entry is None else last.entry.previous

    def lacks(self, row: StoredBreadcrumb) -> bool:
        """Whether a row of a recall is behind its place, or came with it and is not in it yet."""
        end = self.rows[-1].order if self.rows else (ORIGIN, 0)
        if row.order != end:
            return row.order > end
        last = takewhile(lambda other: other.order == row.order, reversed(self.rows))
        return all(other.breadcrumb.place != row.breadcrumb.place for other in last)

    @property
    def cost(self) -> int:
        """Its passages, small talk counted as one each and long bodies by their characters: the measure of its memory."""
        return max(len(self.passages), len(self.rows), self._characters // PASSAGE_CHARS)

    def extend(self, rows: tuple[StoredBreadcrumb, ...]) -> None:
        """Append rows that it lacks, in their order."""
        for _ in self.extending(rows):
            pass

    def extending(self, rows: tuple[StoredBreadcrumb, ...]) -> Iterator[None]:
        """Append rows with pauses, so that no other session waits long. Nothing else may extend it meanwhile."""
        self.is_whole = False
        for stored in rows:
            index = len(self.rows)
            self.rows.append(replace(stored, passages=tuple(replace(each, terms="", vector=b"") for each in stored.passages)))
            self._append(index, stored)
            self._characters += len(stored.breadcrumb.body) + len(stored.breadcrumb.text)
            session, filler = self.breadcrumbs.session.last, self.breadcrumbs.filler.last
            place = ~index if stored.breadcrumb.schema == SUMMARY else int(session)  # observations are said next to nothing
            yield from self.passages.append(index, place, stored, filler=bool(filler))
            if self.passages.lacks_vector(index):
                self.lacking.append(index)
        self.is_whole = True

    def fill(self, vectors: Mapping[int, tuple[bytes, ...]]) -> bool:
        """Write vectors that were missing; returns whether there were any.

        vectors: row of `lacking` → float16 bytes of each of its passages, or nothing yet: such rows go to the end of `lacking`.
        """
        for row, of_passages in vectors.items():
            self.passages.put_vectors(row, of_passages)
        waiting = [row for row in vectors if not vectors[row]]
        self.lacking = [*(row for row in self.lacking if row not in vectors), *waiting]
        return len(waiting) < len(vectors)

    def _append(self, index: int, stored: StoredBreadcrumb) -> None:
        crumb = stored.breadcrumb
        older = self.breadcrumbs.versions.get(crumb.id, [])[-1:]
        self.breadcrumbs.append(stored)
        session = int(self.breadcrumbs.session.last)
        edited = next((row for row in older if self.breadcrumbs.session.head(index)[row] == session), None)
        self.units.append(index, session, crumb, edited)
        answered = self.breadcrumbs.newest.get(crumb.answers)
        if stored.is_cut:
            self.people.cut(session)
        self.people.append(index, session, crumb, int(self.units.head.last), answered[-1] if answered else None)
        self.exchanges.append(index, session, crumb, self.breadcrumbs.versions[crumb.id][0])
        if crumb.schema == SUMMARY and not crumb.removes:  # a secret one says nothing
            self.chains.add(index, session, crumb, self.breadcrumbs.superseded_by.head(index + 1))
