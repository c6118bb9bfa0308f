"""A history as of a place, as one consumer sees it from a session."""

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.language.names import DEFAULT_NAMES, is_plain, parts, quoted
from builder.recall.index.breadcrumb_table import Floats, Ints, Rows
from builder.recall.index.history import History
from builder.recall.index.links import NOBODY
from builder.recall.index.prefix import Prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The first rows of a history, as one consumer sees them."""

    prefix: Prefix
    history: History
    """It may have more rows than the view."""
    size: int
    passages: int
    crumb: Ints
    """Passage → row of its breadcrumb, shape (passages,)."""
    tokens: Floats
    """Tokens of each breadcrumb as stored, shape (size,)."""
    session_of: Ints
    """Code of the session of each breadcrumb, shape (size,)."""
    session: int
    """Code of the session that the view is from; -1 when the history has nothing of it."""
    rows: Ints
    """The session's rows, in place order."""
    current: Rows
    """Breadcrumbs that may be shown, shape (size,): the consumer may see them, and nothing has replaced them."""
    audience: Rows
    """Breadcrumbs of which the consumer's conversation is made, visible or not, shape (size,)."""
    dialogue: Rows
    """Messages and tool exchanges of `audience`, shape (size,)."""
    agent: str = ""
    """The consumer's agent; "" = no consumer's view, where nobody is another agent."""
    person: int = NOBODY
    """Code of the person whose memory the view shows; NOBODY = it is no person's."""
    summaries: Rows | None = None
    """Summaries of the person's other sessions, shape (size,): only their lines about what may be shown are. None = none."""

    def of_session(self, session: int) -> "View":
        """The same from a session."""
        rows = np.array(self.history.breadcrumbs.rows_of[session] if session >= 0 else (), np.int64)
        return replace(self, session=session, rows=rows[: np.searchsorted(rows, self.size)])

    def within(self, rows: Rows) -> "View":
        """The same with a conversation made of these rows, shape (size,)."""
        return replace(self, current=self.current & rows, audience=self.audience & rows, dialogue=self.dialogue & rows)

    def breadcrumb(self, row: int) -> Breadcrumb:
        """The breadcrumb of a row."""
        return self.history.rows[row].breadcrumb

    def shows(self, row: int) -> bool:
        """Whether it is a message or tool exchange that may be shown."""
        return bool(self.current[row] and self.dialogue[row])

    def after_pause(self, row: int) -> Breadcrumb | None:
        """The first breadcrumb after the last pause before a row; None if the row is not in the view."""
        return self.breadcrumb(int(self.history.breadcrumbs.stretch[row])) if 0 <= row < self.size else None

    def is_own(self, crumb: Breadcrumb) -> bool:
        """Whether the consumer's agent says or calls it, or nobody names another one."""
        return not self.agent or crumb.agent in {"", self.agent}

    def is_edited(self, crumb: Breadcrumb) -> bool:
        """Whether it differs from an earlier version, or that is unknown."""
        versions = [self.history.rows[row] for row in self.history.breadcrumbs.versions.get(crumb.id, ()) if row < self.size]
        texts = {row.fingerprint for row in versions if row.breadcrumb.version <= crumb.version}
        return crumb.version > 1 and (len(versions) == 1 or len(texts) != 1)

    def has_agent(self, name: str) -> bool:
        """Whether a part of a name looks like an agent that has spoken."""
        return any(self.history.breadcrumbs.agents.get(part, self.size) < self.size for part in parts(name))

    def stored_name(self, row: int) -> str:
        """Who speaks in a row, as stored lines name it in English."""
        crumb = self.breadcrumb(row)
        nameless = DEFAULT_NAMES.get(crumb.role, "")
        is_taken = not is_plain(crumb.speaker) or (crumb.role == "user" and self.has_agent(crumb.speaker))
        return f"{nameless} {quoted(crumb.speaker)}" if is_taken and crumb.speaker != nameless and nameless else crumb.speaker

    @property
    def lacks_vectors(self) -> bool:
        """Whether any passage with words has no vector."""
        return bool((~self.prefix.has_vector & (self.prefix.length > 0)).any())

    @property
    def turn(self) -> int:
        """Number of the trigger among a person's messages, from 1."""
        return 1 + int(np.count_nonzero(self.history.breadcrumbs.by_person[self.rows]))

    @property
    def units(self) -> int:
        """Units of the session's conversation for this consumer."""
        return len(self.heads_of(self.conversation))

    @property
    def conversation(self) -> Ints:
        """Rows of the session's conversation as they stand now, in place order."""
        return self.rows[self.dialogue[self.rows] & self.current[self.rows]]

    def heads_of(self, rows: Ints) -> Ints:
        """The rows that head the units of these rows, in place order."""
        is_head = np.zeros(self.size, np.bool_)
        is_head[self.history.units.head[rows]] = True
        for head in self.history.units.merged:
            if head < self.size and is_head[head]:
                is_head[head] = False
                is_head[self.unit_of(head)] = True
        return np.flatnonzero(is_head)

    def unit_of(self, row: int) -> int:
        """The row that heads the unit of this row."""
        head, merged = int(self.history.units.head[row]), self.history.units.merged
        while head in merged and merged[head][1] < self.size:
            head = merged[head][0]
        return head

    def members(self, row: int) -> tuple[int, ...]:
        """All rows of this row's unit, in place order."""
        head, units = self.unit_of(row), self.history.units
        absorbed = (other for other in units.absorbed.get(head, ()) if other < self.size and self.unit_of(other) == head)
        return tuple(sorted(member for each in (head, *absorbed) for member in units.members[each] if member < self.size))

    def row_of(self, breadcrumb: str) -> int:
        """Row of its newest version; -1 = not in this view."""
        versions = bisect_left(self.history.breadcrumbs.versions.get(breadcrumb, ()), self.size)
        return self.history.breadcrumbs.newest[breadcrumb][versions - 1] if versions else -1

    def place_of(self, passage: int) -> tuple[int, int]:
        """Row of a passage's breadcrumb, and its number among the passages of that, from 0."""
        row = int(self.crumb[passage])
        return row, passage - self.history.passages.first(row)

    def text_of(self, passage: int) -> str:
        """The words of a passage."""
        row, number = self.place_of(passage)
        part = self.history.rows[row].passages[number]
        return self.breadcrumb(row).text[part.start : part.end]

    def first_passage(self, row: int) -> int | None:
        """Number of its first passage; None for small talk."""
        first = self.history.passages.first(row)
        return first if first < self.history.passages.first(row + 1) else None

    def day(self, row: int) -> str:
        """The day on which the row's episode began, as "8 May 2023"."""
        return self.history.breadcrumbs.episode_dates[int(self.history.breadcrumbs.episode[row])]

    def repeats(self, row: int) -> tuple[int, ...]:
        """Rows in which this speaker said the same, in place order."""
        same = self.history.breadcrumbs.fingerprints[self.history.rows[row].fingerprint]
        if len(same) == 1:
            return (row,)
        others = (other for other in same[: bisect_left(same, self.size)] if self.current[other] or other == row)
        speaker = _identity(self.breadcrumb(row))
        return tuple(other for other in others if _identity(self.breadcrumb(other)) == speaker)


def as_of(history: History, until: Place, session: str, *, inclusive: bool = False) -> View:
    """The rows below `until`, seen from a session. inclusive: also the row at `until`.

    They must be a prefix of the history, see `History.size_at`.
    """
    size = history.size_at(until, inclusive=inclusive)
    prefix, table = history.prefix(size), history.breadcrumbs
    view = View(
        prefix=prefix,
        history=history,
        size=size,
        passages=prefix.passages,
        crumb=prefix.crumb,
        tokens=table.tokens[:size],
        session_of=table.session[:size],
        session=-1,
        rows=np.zeros(0, np.int64),
        current=prefix.latest,
        audience=np.ones(size, np.bool_),
        dialogue=table.in_conversation[:size],
    )
    return view.of_session(table.sessions.get(session, -1))


def _identity(crumb: Breadcrumb) -> tuple[str, str, str, str]:
    return crumb.role, crumb.speaker, crumb.user_id, "" if crumb.user_id else crumb.session
