"""Whose memory each breadcrumb belongs to: the person who said it, or to whom it was said; and who talks in a session."""

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.language.names import DEFAULT_NAMES, whole_look
from builder.recall.index.arrays import GrowingArray

NOBODY = -1


class PersonTable:
    """One row a breadcrumb. Persons are codes, numbered from 0 as they come."""

    def __init__(self) -> None:
        self.person = GrowingArray(np.int64)
        """Code of the person; NOBODY for the words of a person without a `user_id`, and for what answers nothing known."""
        self.codes: dict[str, int] = {}
        self._last_speakers: dict[int, int] = {}
        self._openings: dict[int, list[int]] = {}
        self._cuts: set[int] = set()
        self._agents: dict[int, int] = {}
        """Session → the row in which an agent spoke or called first."""
        self._firsts: dict[int, tuple[int, Breadcrumb]] = {}
        """Session → the first words of somebody with a `user_id` or a name, and their row."""
        self._seconds: dict[int, int] = {}
        """Session → the row in which another person spoke first."""

    def cut(self, session: int) -> None:
        """The rows of this session begin in its middle, with a person's first words: another person spoke before."""
        self._cuts.add(session)

    def append(self, row: int, session: int, crumb: Breadcrumb, head: int, answered: int | None) -> None:
        """Append one row. head: row that heads its unit. answered: row of what it answers, None when the history lacks it.

        Words that name no breadcrumb that they answer are said to the person who spoke last in the session, or before anybody has
        spoken to the first one who does.
        """
        person = self._person(row, session, crumb, head, answered)
        self.person.append(person)
        if _is_of_agent(crumb):
            self._agents.setdefault(session, row)
        elif crumb.role == "user":
            if crumb.user_id or crumb.speaker != DEFAULT_NAMES["user"]:
                self._firsts.setdefault(session, (row, crumb))
            if session in self._cuts or self._is_second(session, row, crumb):
                self._seconds.setdefault(session, row)
        if crumb.role == "user":
            self._last_speakers[session] = person
            for opening in self._openings.pop(session, ()):
                self.person.put(opening, person)
        elif person == NOBODY and not crumb.answers and session not in self._last_speakers:
            self._openings.setdefault(session, []).append(row)

    def talk_alone(self, session: int, size: int, trigger: Breadcrumb | None) -> bool:
        """Whether the first `size` rows of the session are a chat between people: two of them and no agent have spoken.

        trigger: what comes behind these rows in this session; None = nothing does.
        """
        if self._agents.get(session, size) < size or (trigger and _is_of_agent(trigger)):
            return False
        return self._seconds.get(session, size) < size or bool(trigger and self._is_second(session, size, trigger))

    def _is_second(self, session: int, row: int, crumb: Breadcrumb) -> bool:
        """Whether it is said by somebody else than the first words: by `user_id`, where one of both has none by name.

        Nobody is told from one who has neither.
        """
        since, first = self._firsts.get(session, (row, crumb))
        if since >= row or crumb.role != "user":
            return False
        if first.user_id and crumb.user_id:
            return first.user_id != crumb.user_id
        names = {first.speaker, crumb.speaker}
        return DEFAULT_NAMES["user"] not in names and len(set(map(whole_look, names))) > 1

    def _person(self, row: int, session: int, crumb: Breadcrumb, head: int, answered: int | None) -> int:
        if crumb.user_id:
            return self.codes.setdefault(crumb.user_id, len(self.codes))
        if crumb.role == "user":
            return NOBODY
        if head != row:
            return int(self.person.head(row)[head])
        if session in self._cuts and (crumb.version > 1 or (crumb.calls and not crumb.call_signatures)):
            return NOBODY  # what it edits, or the call that it answers, stands before the cut
        if crumb.answers:
            return NOBODY if answered is None else int(self.person.head(row)[answered])
        return self._last_speakers.get(session, NOBODY)


def _is_of_agent(crumb: Breadcrumb) -> bool:
    return crumb.role == "assistant" or bool(crumb.call_signatures or crumb.agent)
