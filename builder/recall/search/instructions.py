"""The standing instructions that are active as of a trigger, without those that were taken back."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Omission
from builder.language.instruction_log import REPEAT, SUPERSEDED, InstructionLog, Statement, outdates, read
from builder.language.traits import Trait
from builder.language.words import Terms
from builder.recall.index.links import NOBODY
from builder.recall.index.view import View
from builder.recall.search.candidates import Find

READ_CHARS = 4_000
"""Characters of the trigger in which instructions are looked for; what is longer was pasted."""
SHORT_CHARS = 300
"""Characters of a message up to which it is not found once half of it are inactive instructions."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class ActiveInstructions:
    """The standing instructions as of a trigger."""

    instructions: tuple[Find, ...] = ()
    """One a breadcrumb, the newest first."""
    items: frozenset[tuple[int, int, int]] = frozenset()
    """Row, start and end of the spans that are rules only because of the list that they are in."""
    rules: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Row of a permission → the rows of the instructions that it limits or ends: without them it says nothing."""
    omissions: tuple[Omission, ...] = ()
    """Repeated or superseded instructions, and by which id."""
    outdated: frozenset[int] = frozenset()
    """Rows that consist mostly of a superseded instruction, or of the permission that ends it, excluded from retrieval because
    they contradict the active one or say half; and earlier rows that say word for word what an instruction says whole."""


def active_instructions(view: View, trigger: Breadcrumb, terms: Terms, question: str) -> ActiveInstructions:
    """The active instructions of the session, and of the memory of its person, for this trigger.

    One that a later permission ended comes with it when the question names what both are about. People who talk among themselves
    instruct nobody.
    """
    log = _log(view, terms)
    alone = _alone(view, log, trigger)
    text = trigger.text[:READ_CHARS] if trigger.role == "user" and view.session not in alone else ""
    register = _Register(
        view=view,
        log=log,
        live={
            number: each
            for number, each in enumerate(log.statements)
            if each.row < view.size and view.current[each.row] and each.session not in alone
        },
        trigger=trigger,
        of_trigger=read(text, view.session, view.person, view.size, terms),
        question=frozenset(terms(question[:READ_CHARS]).split()),
    )
    for number in register.live:
        register.enter(number)
    active = register.active
    finds = tuple(_find(view, active[row]) for row in sorted(active, reverse=True))
    register.outdated.update(row for find in finds if not find.spans for row in view.repeats(find.row))
    return ActiveInstructions(
        instructions=finds,
        items=frozenset((each.row, each.start, each.end) for rules in active.values() for each in rules if each.is_listed),
        rules=register.rules,
        omissions=tuple(register.omissions),
        outdated=frozenset(register.outdated) - active.keys(),
    )


@dataclass(slots=True, kw_only=True)
class _Register:
    """The statements that hold, and what became of the others; they are entered in place order."""

    view: View
    log: InstructionLog
    live: Mapping[int, Statement]
    """Number in the log → a statement that may be shown."""
    trigger: Breadcrumb
    of_trigger: Sequence[Statement]
    question: frozenset[str]
    """Its terms."""
    active: defaultdict[int, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    rules: dict[int, frozenset[int]] = field(default_factory=dict)
    """As in `ActiveInstructions`."""
    omissions: list[Omission] = field(default_factory=list)
    outdated: set[int] = field(default_factory=set)
    _numbers: set[int] = field(default_factory=set)
    """Numbers of the active ones."""

    def enter(self, number: int) -> None:
        statement, limits = self.live[number], self.log.rules[number]
        of_permission = self._numbers.intersection(limits)
        if statement.withdraws and not of_permission:
            if limits:
                self._outdate(statement)
            return
        reason, by = self._end(number)
        if reason:
            why = f"{reason} {by}" if reason == SUPERSEDED else reason
            self.omissions.append(Omission(id=self.view.breadcrumb(statement.row).id, reason=why))
            if reason != REPEAT:
                self._outdate(statement)
        elif self._is_own(statement):
            self.active[statement.row].append(statement)
            rows = {self.log.statements[rule].row for rule in of_permission}
            self.rules[statement.row] = self.rules.get(statement.row, frozenset()) | rows
            self._numbers.add(number)

    def _end(self, number: int) -> tuple[str, str]:
        """Why it holds no longer, and by which id; "" = it does."""
        statement = self.live[number]
        is_own = self._is_own(statement)
        for other, why in self.log.later[number]:
            later = self.live.get(other)
            if later and not (is_own and later.withdraws and self.question.intersection(later.subject.words)):
                return why, self.view.breadcrumb(later.row).id
        for new in self.of_trigger if is_own else ():
            if why := outdates(new, statement):
                return why, self.trigger.id
        return "", ""

    def _is_own(self, statement: Statement) -> bool:
        return statement.session == self.view.session or statement.person == self.view.person != NOBODY

    def _outdate(self, statement: Statement) -> None:
        """Its message is not found any more, where it is most of that."""
        text = self.view.breadcrumb(statement.row).text
        if len(text) <= SHORT_CHARS and 2 * (statement.end - statement.start) >= len(text):
            self.outdated.add(statement.row)


def _alone(view: View, log: InstructionLog, trigger: Breadcrumb) -> set[int]:
    """Sessions in which no agent takes part."""
    sessions, talk_alone = {statement.session for statement in log.statements} | {view.session}, view.history.people.talk_alone
    return {each for each in sessions if talk_alone(each, view.size, trigger if each == view.session else None)}


def _log(view: View, terms: Terms) -> InstructionLog:
    log, table = view.history.instructions, view.history.passages
    start = log.passages
    if start >= view.passages:
        return log
    crumbs = view.crumb[start:]
    instructs = table.traits[start : view.passages] & int(Trait.INSTRUCTS) != 0
    instructs &= view.history.breadcrumbs.by_person[crumbs]
    new: list[Statement] = []
    for row in np.unique(crumbs[instructs]).tolist():
        person = view.person if view.history.people.person[row] == view.person else NOBODY
        new += read(view.breadcrumb(row).text, int(view.session_of[row]), person, row, terms)
    log.grow(new, view.passages)
    return log


def _find(view: View, statements: list[Statement]) -> Find:
    text, spans = view.breadcrumb(statements[0].row).text, tuple((one.start, one.end) for one in statements)
    starts, ends = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(text))
    more = any(_WORD.search(text, start, end) for start, end in zip(starts, ends, strict=True))
    return Find(row=statements[0].row, spans=spans if more else ())
