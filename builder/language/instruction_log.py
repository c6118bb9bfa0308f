"""All standing instructions of a history, and which later one repeats or ends which."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from builder.language.instructions import Subject, ends, instructions, repeats, subject, touches
from builder.language.words import Terms

_Key = tuple[str, int, str]

REPEAT, SUPERSEDED = "repeat", "superseded by"
MAX_COMPARISONS = 200
"""Most older instructions with a common word that a new one is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One instruction in its place."""

    session: int
    person: int
    """The code of the person whose memory is read; -1 for anybody else's words."""
    row: int
    start: int
    """Offset of its first character in the breadcrumb's text."""
    end: int
    """Offset after its last character."""
    withdraws: bool
    is_listed: bool
    subject: Subject


def read(text: str, session: int, person: int, row: int, terms: Terms) -> list[Statement]:
    """The instructions of a text."""
    return [
        Statement(
            session=session,
            person=person,
            row=row,
            start=instruction.start,
            end=instruction.end,
            withdraws=instruction.withdraws,
            is_listed=instruction.is_listed,
            subject=subject(text[instruction.start : instruction.end], instruction.language, terms),
        )
        for instruction in instructions(text)
    ]


def outdates(newer: Statement, older: Statement) -> str:
    """Why the newer one ends the older: "repeat", "superseded by", or ""."""
    if older.withdraws != newer.withdraws:
        return SUPERSEDED if newer.withdraws and ends(newer.subject, older.subject) else ""
    return REPEAT if repeats(newer.subject, older.subject) else ""


class InstructionLog:
    """In place order; only grows, so "as of" is a prefix."""

    def __init__(self) -> None:
        self.passages = 0
        self.statements: list[Statement] = []
        self.later: list[list[tuple[int, str]]] = []
        """For each statement the later ones that outdate it, with the reason."""
        self.rules: list[list[int]] = []
        """For each permission the earlier instructions that it ends or touches: it is read after them."""
        self._about: defaultdict[_Key, list[int]] = defaultdict(list)

    def grow(self, new: Iterable[Statement], passages: int) -> None:
        """Append the statements of the passages up to `passages`."""
        for statement in new:
            self._add(statement)
        self.passages = passages

    def _add(self, new: Statement) -> None:
        scopes = [("session", new.session), ("person", new.person)][: 1 + (new.person >= 0)]
        keys = frozenset((*scope, key) for scope in scopes for key in {*new.subject.words, new.subject.wording})
        number = len(self.statements)
        rules = list[int]()
        for older in sorted({older for key in keys for older in self._about[key][-MAX_COMPARISONS:]}):
            if reason := outdates(new, self.statements[older]):
                self.later[older].append((number, reason))
            is_rule = new.withdraws and not self.statements[older].withdraws
            if is_rule and (reason or touches(new.subject, self.statements[older].subject)):
                rules.append(older)
        self.statements.append(new)
        self.later.append([])
        self.rules.append(rules)
        for key in keys:
            self._about[key].append(number)
