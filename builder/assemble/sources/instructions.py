"""Which standing instructions hold as of a trigger: each once, in order, without those that were taken back."""

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Omission
from builder.language.instructions.log import REPEAT, SUPERSEDED, InstructionLog, Statement, Terms, outdates, read
from builder.language.traits import Trait
from builder.recall.index.view import View
from builder.recall.search.retrieval import Find

READ = 4_000
"""Characters of the trigger in which instructions are looked for; what is longer was pasted."""
SHORT = 300
"""Characters of a message up to which it is not found any more when half of it are instructions that no longer hold."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveInstructions:
    """instructions: a breadcrumb each, the newest first. omissions: what was repeated or superseded, and by which id.

    outdated: rows that hold little else than what was superseded: found by its words it would mislead. So too earlier ones that
    say word for word what an instruction says whole.
    """

    instructions: tuple[Find, ...] = ()
    omissions: tuple[Omission, ...] = ()
    outdated: frozenset[int] = frozenset()


def active_instructions(view: View, trigger: Breadcrumb, terms: Terms) -> ActiveInstructions:
    """The instructions that people gave in the trigger's session and that hold for this trigger, which may supersede some itself.

    terms: text → stemmed terms.
    """
    index = _index(view, terms)
    text = trigger.text[:READ] if trigger.role == "user" else ""
    asked = read(text, view.session, view.size, terms)
    held: defaultdict[int, list[Statement]] = defaultdict(list)
    standing: set[int] = set()
    omissions: list[Omission] = []
    outdated: set[int] = set()
    for number, said in enumerate(index.statements):
        if said.row >= view.size:
            break
        own = said.session == view.session
        if not view.current[said.row] or (said.withdraws and standing.isdisjoint(index.touched[number])):
            continue
        reason = _by_later(view, index, number) or (_by_trigger(said, asked, trigger.id) if own else "")
        if reason:
            omissions.append(Omission(id=view.history.rows[said.row].breadcrumb.id, reason=reason))
            outdated.update({said.row} if reason != REPEAT and _is_most(view, [said]) else ())
        elif own:
            held[said.row].append(said)
            standing.add(number)
    instructions = tuple(_find(view, held[row]) for row in sorted(held, reverse=True))
    outdated.update(row for find in instructions if not find.spans for row in view.repeats(find.row))
    return ActiveInstructions(instructions=instructions, omissions=tuple(omissions), outdated=frozenset(outdated) - held.keys())


def _index(view: View, terms: Terms) -> InstructionLog:
    """The instructions of all sessions in scope, with those of the passages that have come since."""
    index, history = view.history.instructed, view.history
    start = index.passages
    if start >= view.passages:
        return index
    marked = history.traits.head(view.passages)[start:] & int(Trait.STANDING) != 0
    marked &= history.by_person.head(view.size)[view.crumb[start:]]
    found: list[Statement] = []
    for row in np.unique(view.crumb[start:][marked]).tolist():
        found += read(history.rows[row].breadcrumb.text, int(history.session.head(view.size)[row]), row, terms)
    index.grow(found, view.passages)
    return index


def _by_later(view: View, index: InstructionLog, number: int) -> str:
    for later, reason in index.later[number]:
        row = index.statements[later].row
        if row < view.size and view.current[row]:
            return _reason(reason, view.history.rows[row].breadcrumb.id)
    return ""


def _by_trigger(said: Statement, asked: list[Statement], trigger: str) -> str:
    reason = next((reason for new in asked if (reason := outdates(new, said))), "")
    return _reason(reason, trigger)


def _reason(reason: str, by: str) -> str:
    return f"{reason} {by}" if reason == SUPERSEDED else reason


def _find(view: View, said: list[Statement]) -> Find:
    """The sentences that instruct; the message whole when it says nothing else."""
    text, spans = view.history.rows[said[0].row].breadcrumb.text, tuple((one.start, one.end) for one in said)
    starts, ends = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(text))
    more = any(_WORD.search(text, start, end) for start, end in zip(starts, ends, strict=True))
    return Find(row=said[0].row, spans=spans if more else ())


def _is_most(view: View, said: list[Statement]) -> bool:
    text = view.history.rows[said[0].row].breadcrumb.text
    return len(text) <= SHORT and 2 * sum(one.end - one.start for one in said) >= len(text)
