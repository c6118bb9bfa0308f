"""The standing instructions that are active as of a trigger, without those that were taken back."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Omission
from builder.language.instructions.log import REPEAT, SUPERSEDED, InstructionLog, Statement, outdates, read
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveInstructions:
    """The standing instructions as of a trigger."""

    instructions: tuple[Find, ...] = ()
    """One a breadcrumb, the newest first."""
    rules: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Row of a permission → the rows of the instructions that it limits or ends: without them it says nothing."""
    omissions: tuple[Omission, ...] = ()
    """What was repeated or superseded, and by which id."""
    outdated: frozenset[int] = frozenset()
    """Rows that consist mostly of a superseded instruction, or of the permission that ends it, excluded from retrieval because
    they contradict the active one or say half; and earlier rows that say word for word what an instruction says whole."""


def active_instructions(view: View, trigger: Breadcrumb, terms: Terms, question: str) -> ActiveInstructions:
    """The active instructions of the session, and of the memory of its person, for this trigger.

    One that a later permission ended comes with it when the question names what both are about. People who talk among themselves
    instruct nobody.
    """
    log = _log(view, terms)
    alone = _people_alone(view, log, trigger)
    text = trigger.text[:READ_CHARS] if trigger.role == "user" and view.session not in alone else ""
    of_trigger = read(text, view.session, view.person, view.size, terms)
    question_terms = frozenset(terms(question[:READ_CHARS]).split())
    active: defaultdict[int, list[Statement]] = defaultdict(list)
    rules: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    numbers: set[int] = set()
    omissions: list[Omission] = []
    outdated: set[int] = set()
    for number, statement in enumerate(log.statements):
        if statement.row >= view.size:
            break
        if not view.current[statement.row] or statement.session in alone:
            continue
        of_permission = numbers.intersection(log.rules[number])
        if statement.withdraws and not of_permission:
            outdated.update({statement.row} if log.rules[number] and _is_most(view, [statement]) else ())
            continue
        is_own = statement.session == view.session or statement.person == view.person != NOBODY
        reason = _superseded_by_later(view, log, number, alone, question_terms if is_own else frozenset()) or (
            _superseded_by_trigger(statement, of_trigger, trigger.id) if is_own else ""
        )
        if reason:
            omissions.append(Omission(id=view.breadcrumb(statement.row).id, reason=reason))
            outdated.update({statement.row} if reason != REPEAT and _is_most(view, [statement]) else ())
        elif is_own:
            active[statement.row].append(statement)
            rules[statement.row] |= {log.statements[rule].row for rule in of_permission}
            numbers.add(number)
    instructions = tuple(_find(view, active[row]) for row in sorted(active, reverse=True))
    outdated.update(row for find in instructions if not find.spans for row in view.repeats(find.row))
    return ActiveInstructions(
        instructions=instructions, rules=rules, omissions=tuple(omissions), outdated=frozenset(outdated) - active.keys()
    )


def _log(view: View, terms: Terms) -> InstructionLog:
    log, table = view.history.instructions, view.history.passages
    start = log.passages
    if start >= view.passages:
        return log
    crumbs = view.crumb[start:]
    instructs = table.traits.head(view.passages)[start:] & int(Trait.INSTRUCTS) != 0
    instructs &= view.column(view.history.breadcrumbs.by_person)[crumbs]
    sessions = view.session_of
    by_person = view.column(view.history.people.person) == view.person
    persons = np.where(by_person, view.person, NOBODY)
    rows = np.unique(crumbs[instructs]).tolist()
    new = (read(view.breadcrumb(row).text, int(sessions[row]), int(persons[row]), row, terms) for row in rows)
    log.grow([statement for statements in new for statement in statements], view.passages)
    return log


def _people_alone(view: View, log: InstructionLog, trigger: Breadcrumb) -> frozenset[int]:
    sessions, alone = {statement.session for statement in log.statements} | {view.session}, view.history.people.talk_alone
    return frozenset(each for each in sessions if alone(each, view.size, trigger if each == view.session else None))


def _superseded_by_later(
    view: View, log: InstructionLog, number: int, alone: frozenset[int], question_terms: frozenset[str]
) -> str:
    for later, reason in log.later[number]:
        statement = log.statements[later]
        is_shown = statement.withdraws and not question_terms.isdisjoint(statement.subject.words)
        if statement.row < view.size and view.current[statement.row] and statement.session not in alone and not is_shown:
            return _reason(reason, view.breadcrumb(statement.row).id)
    return ""


def _superseded_by_trigger(statement: Statement, of_trigger: list[Statement], trigger: str) -> str:
    reason = next((reason for new in of_trigger if (reason := outdates(new, statement))), "")
    return _reason(reason, trigger)


def _reason(reason: str, by: str) -> str:
    return f"{reason} {by}" if reason == SUPERSEDED else reason


def _find(view: View, statements: list[Statement]) -> Find:
    text, spans = view.breadcrumb(statements[0].row).text, tuple((one.start, one.end) for one in statements)
    starts, ends = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(text))
    more = any(_WORD.search(text, start, end) for start, end in zip(starts, ends, strict=True))
    return Find(row=statements[0].row, spans=spans if more else ())


def _is_most(view: View, statements: list[Statement]) -> bool:
    text = view.breadcrumb(statements[0].row).text
    return len(text) <= SHORT_CHARS and 2 * sum(one.end - one.start for one in statements) >= len(text)
