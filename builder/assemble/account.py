"""The account of a page: tokens of each breadcrumb on it, and why everything else is not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from builder.assemble.budget.ledger import Ledger
from builder.assemble.front import Front
from builder.domain.context import IRRELEVANT, NEUTRALISED, OLDER, OVER_BUDGET, Fragment, Omission, Section
from builder.recall.search.retrieval import RetrievalResult

MAX_OMISSIONS = 50
"""Of what is not on the page, the most relevant ones are named."""


@dataclass(frozen=True, slots=True)
class Absence:
    """What is not on the page. named: the most relevant of it. by_reason: how many there are of all."""

    omissions: tuple[Omission, ...]
    by_reason: Mapping[str, int]


def parts(ledger: Ledger) -> Iterator[Omission]:
    """What stands on the page otherwise than it came."""
    for item in ledger.all_items():
        for fragment in item.fragments:
            for reason in filter(None, (fragment.failed, fragment.reduced, NEUTRALISED * fragment.neutralised)):
                yield Omission(id=fragment.breadcrumb.id, reason=reason, tokens=_in_all(fragment, ledger), shown=fragment.tokens)


def _in_all(fragment: Fragment, ledger: Ledger) -> int:
    """Tokens of all of it, by stored counts where only a line of it was rendered."""
    view = ledger.writer.view
    row = view.row_of(fragment.breadcrumb.id) if fragment.reduced and not fragment.in_all else -1
    stored = int(view.history.breadcrumbs.tokens.head(view.size)[row]) if row >= 0 else 0
    return max(fragment.in_all, stored, fragment.tokens)


def absences(front: Front, retrieval: RetrievalResult, without_room: Iterable[Omission]) -> Absence:
    """missed: what was found and has no place, the most relevant first. Nothing is said of what is on the page."""
    view = front.ledger.writer.view
    ids = {fragment.breadcrumb.id for item in front.ledger.all_items() for fragment in item.fragments} | {
        front.ledger.writer.now.id
    }
    rows = {row for name in ids if (row := view.row_of(name)) >= 0}
    rows |= front.verbatim
    omissions: dict[str, Omission] = {}
    for omission in without_room:
        if omission.id not in ids:
            omissions.setdefault(omission.id, omission)
    reasons = Counter(omission.reason for omission in omissions.values())
    counted_rows = rows | {row for name in omissions if (row := view.row_of(name)) >= 0}
    crowded = _mask(retrieval.crowded.every, view.size, counted_rows)
    reasons[OVER_BUDGET] += int(np.count_nonzero(crowded))
    for row in retrieval.crowded.nearest:
        if row not in counted_rows:
            omissions.setdefault(*_omission_of(front, row, OVER_BUDGET))
    counted_rows.update(np.flatnonzero(crowded).tolist())
    for row, reason in _by_limits(front):
        if row not in counted_rows:
            counted_rows.add(row)
            reasons[reason] += 1
            omissions.setdefault(*_omission_of(front, row, reason))
    absent = _mask(retrieval.irrelevant.every, view.size, counted_rows)
    reasons[IRRELEVANT] += int(np.count_nonzero(absent))
    waiting: Iterator[tuple[int, str]] = ((row, IRRELEVANT) for row in retrieval.irrelevant.nearest if row not in counted_rows)
    if not front.conversation.whole:
        older = view.dialogue & view.current & ~absent & (view.history.breadcrumbs.session.head(view.size) == view.session)
        older[np.array(sorted(counted_rows), np.int64)] = False
        reasons[OLDER] += int(np.count_nonzero(older))
        waiting = chain(waiting, ((int(row), OLDER) for row in np.flatnonzero(older)[: -MAX_OMISSIONS - 1 : -1]))
    for row, reason in waiting:
        if len(omissions) >= MAX_OMISSIONS:
            break
        omissions.setdefault(*_omission_of(front, row, reason))
    return Absence(
        tuple(omissions.values())[:MAX_OMISSIONS], {reason: number for reason, number in sorted(reasons.items()) if number}
    )


def _by_limits(front: Front) -> Iterator[tuple[int, str]]:
    for entry, reason in front.limits.left_out:
        yield from ((row, reason) for row in entry.rows)


def _mask(rows: NDArray[np.int64], size: int, counted_rows: Iterable[int]) -> NDArray[np.bool_]:
    mask = np.zeros(size, np.bool_)
    mask[rows] = True
    mask[list(counted_rows)] = False
    return mask


def _omission_of(front: Front, row: int, reason: str) -> tuple[str, Omission]:
    view = front.ledger.writer.view
    name, tokens = view.breadcrumb(row).id, int(view.history.breadcrumbs.tokens.head(view.size)[row])
    return name, Omission(id=name, reason=reason, tokens=tokens)


def sections_of(ledger: Ledger) -> tuple[Section, ...]:
    """Tokens and breadcrumbs of each section on the page."""
    return tuple(
        Section(
            name=name,
            section_class=rule.section_class,
            tokens=ledger.spent[name],
            breadcrumbs=_tokens(ledger, name),
            probabilities=_probabilities(ledger, name) if rule.source == "retrieval" else {},
        )
        for name, rule in ledger.rules.items()
        if ledger.spent[name]
    )


def _probabilities(ledger: Ledger, section: str) -> dict[str, float]:
    rows = ledger.writer.view.history.rows
    shown = (rows[item.origin].breadcrumb.id for item in ledger.items.get(section, ()))
    return {name: ledger.probabilities[name] for name in shown if name in ledger.probabilities}


def _tokens(ledger: Ledger, section: str) -> dict[str, int]:
    tokens: Counter[str] = Counter()
    for item in ledger.items.get(section, ()):
        for fragment in item.fragments:
            tokens[fragment.breadcrumb.id] += fragment.tokens
    return dict(tokens)
