"""The account of a page: tokens of each breadcrumb on it, and why everything else is not."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from builder.assemble.budget.ledger import Ledger
from builder.assemble.front import Front
from builder.domain.context import IRRELEVANT, NEUTRALISED, OLDER, OVER_BUDGET, Fragment, Omission, Section
from builder.recall.index.prefix import Ints
from builder.recall.index.view import View
from builder.recall.search.retrieval import RetrievalResult

MAX_OMISSIONS = 50
"""Omissions that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class Absence:
    """What is not on the page."""

    omissions: tuple[Omission, ...]
    """The most relevant."""
    by_reason: Mapping[str, int]
    """Reason → how many of all."""
    rows: Mapping[str, Ints]
    """Reason → rows of all, in place order; those that are in no view are missing."""


def parts(ledger: Ledger) -> Iterator[Omission]:
    """What stands on the page otherwise than it came."""
    for item in ledger.all_items():
        for fragment in item.fragments:
            for reason in filter(None, (fragment.failed, fragment.reduced, NEUTRALISED * fragment.neutralised)):
                yield Omission(
                    id=fragment.breadcrumb.id, reason=reason, tokens=_in_all(fragment, ledger), tokens_shown=fragment.tokens
                )


def _in_all(fragment: Fragment, ledger: Ledger) -> int:
    """Tokens of all of it, by stored counts where only a line of it was rendered."""
    view = ledger.writer.view
    row = view.row_of(fragment.breadcrumb.id) if fragment.reduced and not fragment.in_all else -1
    stored = int(view.history.breadcrumbs.tokens.head(view.size)[row]) if row >= 0 else 0
    return max(fragment.in_all, stored, fragment.tokens)


def absence(front: Front, retrieval: RetrievalResult, without_room: Iterable[Omission]) -> Absence:
    """What is not on the page. without_room: what was found and has no place, the most relevant first."""
    view = front.ledger.writer.view
    ids = {fragment.breadcrumb.id for item in front.ledger.all_items() for fragment in item.fragments}
    tally = _Tally(view, ids | {front.ledger.writer.now.id}, front.verbatim | rows_of_calls(front.ledger))
    tally.add_found(without_room)
    tally.add(OVER_BUDGET, retrieval.crowded.every, retrieval.crowded.nearest)
    tally.add_each((row, reason) for entry, reason in front.limits.left_out for row in entry.rows)
    tally.add(IRRELEVANT, retrieval.irrelevant.every, retrieval.irrelevant.nearest)
    if not front.conversation.whole:
        of_session = view.column(view.history.breadcrumbs.session) == view.session
        older = np.flatnonzero(view.dialogue & view.current & of_session)
        tally.add(OLDER, older, older[::-1].tolist())
    return tally.absence()


def rows_of_calls(ledger: Ledger) -> frozenset[int]:
    """Rows of every breadcrumb that makes one of the calls on the page: one that passes a call on says nothing more."""
    view = ledger.writer.view
    exchanges = view.history.exchanges
    pairs = {(item.entry.row, item.entry.request) for item in ledger.all_items() if item.entry and item.entry.request}
    calls = [
        exchange
        for row in {row for row, _ in pairs}
        for exchange in exchanges.of_caller.get(row, ())
        if (row, exchange.request) in pairs
    ]
    calls += [exchanges.of_result[item.origin] for item in ledger.all_items() if item.origin in exchanges.of_result]
    return frozenset(row for exchange in calls for row in exchange.callers if row < view.size)


class _Tally:
    """Each row is counted once, under its first reason."""

    def __init__(self, view: View, page_ids: set[str], others: frozenset[int]) -> None:
        """others: rows of which the page says all without naming them."""
        self._view = view
        self._page_ids = page_ids
        self._counted = np.zeros(view.size, np.bool_)
        self._counted[list(self._rows(page_ids) | others)] = True
        self._reasons: Counter[str] = Counter()
        self._rows_by_reason: defaultdict[str, list[Ints]] = defaultdict(list)
        self._omissions: dict[str, Omission] = {}

    def add_found(self, omissions: Iterable[Omission]) -> None:
        """Add finds that are not on the page in any part."""
        for omission in omissions:
            if omission.id not in self._page_ids:
                self._omissions.setdefault(omission.id, omission)
        self._reasons.update(omission.reason for omission in self._omissions.values())
        self._counted[list(self._rows(self._omissions))] = True
        for omission in self._omissions.values():
            self._rows_by_reason[omission.reason].append(np.array(list(self._rows((omission.id,))), np.int64))

    def add(self, reason: str, rows: Ints, by_relevance: Iterable[int]) -> None:
        """Add rows for one reason. by_relevance: those that may be named, the most relevant first."""
        fresh = np.zeros(self._view.size, np.bool_)
        fresh[rows] = True
        fresh &= ~self._counted
        self._counted |= fresh
        fresh_rows = np.flatnonzero(fresh)
        self._rows_by_reason[reason].append(fresh_rows)
        self._reasons[reason] += len(fresh_rows)
        for row in by_relevance:
            if len(self._omissions) >= MAX_OMISSIONS:
                return
            if fresh[row]:
                self._name(row, reason)

    def add_each(self, rows: Iterable[tuple[int, str]]) -> None:
        """Add rows with a reason each, the most relevant first."""
        for row, reason in rows:
            if not self._counted[row]:
                self._counted[row] = True
                self._reasons[reason] += 1
                self._rows_by_reason[reason].append(np.array([row]))
                self._name(row, reason)

    def absence(self) -> Absence:
        """The account."""
        by_reason = {reason: number for reason, number in sorted(self._reasons.items()) if number}
        all_rows = {reason: np.sort(np.concatenate(self._rows_by_reason[reason])) for reason in by_reason}
        return Absence(tuple(self._omissions.values())[:MAX_OMISSIONS], by_reason, all_rows)

    def _name(self, row: int, reason: str) -> None:
        if len(self._omissions) < MAX_OMISSIONS:
            name, tokens = self._view.breadcrumb(row).id, int(self._view.history.breadcrumbs.tokens.head(row + 1)[row])
            self._omissions.setdefault(name, Omission(id=name, reason=reason, tokens=tokens))

    def _rows(self, ids: Iterable[str]) -> set[int]:
        return {row for name in ids if (row := self._view.row_of(name)) >= 0}


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
    current_ids = (rows[item.origin].breadcrumb.id for item in ledger.items.get(section, ()))
    return {name: ledger.probabilities[name] for name in current_ids if name in ledger.probabilities}


def _tokens(ledger: Ledger, section: str) -> dict[str, int]:
    tokens: Counter[str] = Counter()
    for item in ledger.items.get(section, ()):
        for fragment in item.fragments:
            tokens[fragment.breadcrumb.id] += fragment.tokens
    return dict(tokens)
