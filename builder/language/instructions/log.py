"""All standing instructions of a history, and which later one repeats or ends which."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from builder.language.instructions.detection import instructions
from builder.language.instructions.topic import Subject, ends, repeats, subject, touches

Terms = Callable[[str], str]

REPEAT, SUPERSEDED = "repeat", "superseded by"
COMPARED = 200
"""Most older instructions with a common word that a new one is compared with; nobody gives so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One instruction in its place. session: its code. start, end: characters of the breadcrumb's text."""

    session: int
    row: int
    start: int
    end: int
    withdraws: bool
    subject: Subject


def read(text: str, session: int, row: int, terms: Terms) -> list[Statement]:
    """The instructions of a text."""
    return [
        Statement(
            session=session,
            row=row,
            start=found.start,
            end=found.end,
            withdraws=found.withdraws,
            subject=subject(text[found.start : found.end], found.language, terms),
        )
        for found in instructions(text)
    ]


def outdates(newer: Statement, older: Statement) -> str:
    """Why the older one no longer counts once the newer has been said: "repeat", "superseded by", or nothing."""
    if older.withdraws != newer.withdraws:
        return SUPERSEDED if newer.withdraws and ends(newer.subject, older.subject) else ""
    return REPEAT if repeats(newer.subject, older.subject) else ""


@dataclass(slots=True)
class InstructionLog:
    """In place order; grows by new instructions only, so "as of" is a prefix.

    passages: how many have been read. later: for each instruction the later ones that outdate it, with the reason.
    beside: for each permission the earlier instructions that it touches and does not end: it is read behind them.
    """

    passages: int = 0
    said: list[Statement] = field(default_factory=list)
    later: list[list[tuple[int, str]]] = field(default_factory=list)
    beside: list[list[int]] = field(default_factory=list)
    _about: defaultdict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def grow(self, new: Iterable[Statement], passages: int) -> None:
        """Append what was said in the passages up to `passages`."""
        for said in new:
            self._add(said)
        self.passages = passages

    def _add(self, new: Statement) -> None:
        number, keys = len(self.said), _keys(new)
        beside = list[int]()
        for older in sorted({older for key in keys for older in self._about[key][-COMPARED:]}):
            if reason := outdates(new, self.said[older]):
                self.later[older].append((number, reason))
            elif new.withdraws and not self.said[older].withdraws and touches(new.subject, self.said[older].subject):
                beside.append(older)
        self.said.append(new)
        self.later.append([])
        self.beside.append(beside)
        for key in keys:
            self._about[key].append(number)


def _keys(said: Statement) -> frozenset[tuple[int, str]]:
    """Two that share none of these have nothing to do with each other; of two sessions neither tells the other what to do."""
    return frozenset((said.session, key) for key in {*said.subject.words, said.subject.wording})
