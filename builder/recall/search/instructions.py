"""The standing instructions that are active as of a trigger, without those that were taken back."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Omission
from builder.language.instruction_log import REPEAT, SUPERSEDED, InstructionLog, Statement, outdates, read
from builder.language.sentences import Trait
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
    of_trigger = read(text, view.session, view.person, view.size, terms)
    question_terms = frozenset(terms(question[:READ_CHARS]).split())
    active: defaultdict[int, list[Statement]] = defaultdict(list)
    rules: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    numbers, outdated = set[int](), set[int]()
    omissions: list[Omission] = []
    seen = {number: each for number, each in enumerate(log.statements) if each.row < view.size and view.current[each.row]}
    live = {number: each for number, each in seen.items() if each.session not in alone}
    for number, statement in live.items():
        of_permission, is_most = numbers.intersection(log.rules[number]), _is_most(view, statement)
        if statement.withdraws and not of_permission:
            outdated.update({statement.row} if log.rules[number] and is_most else ())
            continue
        is_own = statement.session == view.session or statement.person == view.person != NOBODY
        later = [(why, live[other]) for other, why in log.later[number] if other in live]
        own_terms = question_terms if is_own else frozenset[str]()
        reasons = [(why, by.row) for why, by in later if not (by.withdraws and own_terms.intersection(by.subject.words))]
        ids = [(why, view.breadcrumb(row).id) for why, row in reasons]
        ids += [(outdates(new, statement), trigger.id) for new in of_trigger if is_own]
        reason, by_id = next(((why, by) for why, by in ids if why), ("", ""))
        if reason:
            why = f"{reason} {by_id}" if reason == SUPERSEDED else reason
            omissions.append(Omission(id=view.breadcrumb(statement.row).id, reason=why))
            outdated.update({statement.row} if reason != REPEAT and is_most else ())
        elif is_own:
            active[statement.row].append(statement)
            rules[statement.row] |= {log.statements[rule].row for rule in of_permission}
            numbers.add(number)
    finds = tuple(_find(view, active[row]) for row in sorted(active, reverse=True))
    outdated.update(row for find in finds if not find.spans for row in view.repeats(find.row))
    return ActiveInstructions(finds, rules, tuple(omissions), frozenset(outdated) - active.keys())


def _alone(view: View, log: InstructionLog, trigger: Breadcrumb) -> set[int]:
    sessions, talk_alone = {statement.session for statement in log.statements} | {view.session}, view.history.people.talk_alone
    return {each for each in sessions if talk_alone(each, view.size, trigger if each == view.session else None)}


def _log(view: View, terms: Terms) -> InstructionLog:
    log, table = view.history.instructions, view.history.passages
    start = log.passages
    if start >= view.passages:
        return log
    crumbs = view.crumb[start:]
    instructs = table.traits[: view.passages][start:] & int(Trait.INSTRUCTS) != 0
    instructs &= view.history.breadcrumbs.by_person[crumbs]
    sessions = view.session_of
    by_person = view.history.people.person[: view.size] == view.person
    persons = np.where(by_person, view.person, NOBODY)
    rows = np.unique(crumbs[instructs]).tolist()
    new = (read(view.breadcrumb(row).text, int(sessions[row]), int(persons[row]), row, terms) for row in rows)
    log.grow([statement for statements in new for statement in statements], view.passages)
    return log


def _find(view: View, statements: list[Statement]) -> Find:
    text, spans = view.breadcrumb(statements[0].row).text, tuple((one.start, one.end) for one in statements)
    starts, ends = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(text))
    more = any(_WORD.search(text, start, end) for start, end in zip(starts, ends, strict=True))
    return Find(row=statements[0].row, spans=spans if more else ())


def _is_most(view: View, statement: Statement) -> bool:
    text = view.breadcrumb(statement.row).text
    return len(text) <= SHORT_CHARS and 2 * (statement.end - statement.start) >= len(text)
