"""The finished page: laid out, counted, marked where a prompt cache may cut it; and the account of what is not on it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice

import numpy as np

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.writer import Item
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import NEUTRALISED, PASSAGES, RECENT, SLOW, STATIC, Breakpoint, Fragment, Omission, Section
from builder.recall.index.links import ToolExchange
from builder.recall.index.view import Floats, Ints, View
from builder.recall.search.scoring import best_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A finished page."""

    markdown: str
    tokens: int
    """Its true count."""
    breakpoints: tuple[Breakpoint, ...]
    failed: bool
    """The profile's template failed, so a bundled one laid the page out."""


LASTING = {STATIC: {"static"}, SLOW: {"static", "slow"}, RECENT: {"static", "slow", "window", "conversation"}}
"""Breakpoint → classes and sources of the sections before it."""


def compose(ledger: Ledger) -> Page:
    """Lay out what the ledger holds."""
    writer = ledger.writer
    sections, count = ledger.page_sections(), writer.rendering.page_tokens
    layout = writer.rendering.page(writer.profile.page, sections)
    rules = [ledger.rules[section.name] for section, _ in zip(sections, layout.ends, strict=False)]
    kinds = [{rule.section_class, rule.source} for rule in rules]
    marks: dict[int, Breakpoint] = {}
    for name, lasting in LASTING.items():
        number = next((number for number, kind in enumerate(kinds) if not kind & lasting), len(kinds))
        if number:
            end = layout.ends[number - 1]
            prefix = blake2b(layout.text[:end].encode(), digest_size=8).hexdigest()
            marks.setdefault(end, Breakpoint(name=name, characters=end, tokens=count(layout.text[:end]), prefix=prefix))
    return Page(markdown=layout.text, tokens=count(layout.text), breakpoints=tuple(marks.values()), failed=layout.failed)


def sections_of(ledger: Ledger) -> tuple[Section, ...]:
    """Tokens and breadcrumbs of each section on the page."""
    sections = []
    for name, rule in ledger.rules.items():
        tokens, items = Counter[str](), ledger.items.get(name, ())
        for fragment in (fragment for item in items for fragment in item.fragments):
            tokens[fragment.breadcrumb.id] += fragment.tokens
        is_searched = rule.source in {"retrieval", "elsewhere", "conversation"}
        find_ids = [part.breadcrumb.id for item in items for part in item.fragments] if is_searched else []
        probability_by_id = {each: ledger.probabilities[each] for each in find_ids if each in ledger.probabilities}
        sections.append(Section(name, rule.section_class, ledger.spent[name], dict(tokens), probability_by_id))
    return tuple(section for section in sections if section.tokens)


def parts(ledger: Ledger) -> Iterator[Omission]:
    """Breadcrumbs that are on the page in part or changed."""
    view = ledger.writer.view
    for item in ledger.all_items():
        for fragment in item.fragments:
            for reason in reductions(fragment, item, view):
                is_reduced = bool(fragment.reduced or item.spans)
                row = view.row_of(fragment.breadcrumb.id) if is_reduced and not fragment.in_all else -1
                tokens = max(fragment.in_all, fragment.tokens, int(view.tokens[row]) if row >= 0 else 0)
                yield Omission(id=fragment.breadcrumb.id, reason=reason, tokens=tokens, tokens_shown=fragment.tokens)


def reductions(fragment: Fragment, item: Item, view: View) -> Iterator[str]:
    """Why not all of it is on the page as it came."""
    is_part = bool(item.spans) and fragment.breadcrumb.id == view.breadcrumb(item.origin).id
    yield from filter(None, (fragment.reduced or PASSAGES * is_part, fragment.failed, NEUTRALISED * fragment.neutralised))


def rows_of_calls(ledger: Ledger) -> frozenset[int]:
    """Rows without words whose calls are all on the page."""
    view, exchanges = ledger.writer.view, ledger.writer.view.history.exchanges
    calls: list[ToolExchange] = []
    for item in ledger.all_items():
        if item.entry and item.is_call:
            request = item.entry.request
            calls += (each for each in exchanges.of_caller.get(item.entry.row, ()) if each.request == request)
        if item.origin in exchanges.of_result:
            calls.append(exchanges.of_result[item.origin])
    present = {(exchange.origin, exchange.request) for exchange in calls}
    rows = ((row, view.breadcrumb(row)) for exchange in calls for row in exchange.callers if row < view.size)
    silent = {row for row, crumb in rows if is_silent(crumb)}
    return frozenset(
        row for row in silent if present.issuperset((each.origin, each.request) for each in exchanges.of_caller.get(row, ()))
    )


def is_silent(crumb: Breadcrumb) -> bool:
    """Whether it makes calls and says nothing."""
    return crumb.role == "tool" or not crumb.text.strip()


MAX_OMISSIONS = 50


@dataclass(frozen=True, slots=True)
class Absence:
    """The account of everything that is not on the finished page."""

    omissions: tuple[Omission, ...]
    by_reason: Mapping[str, int]
    rows: Mapping[str, Ints]
    """Reason → rows of all, in place order; those that are in no view are missing."""
    tokens: int
    """Of all of them, by stored counts."""


@dataclass(slots=True)
class OmissionLog:
    """In the order of relevance; the first decision about a row counts."""

    view: View
    _omissions: list[Omission] = field(default_factory=list)
    _groups: list[tuple[str, Ints, Floats]] = field(default_factory=list)
    """Reason, rows, and the score of each."""

    def name(self, omissions: Iterable[Omission]) -> None:
        """Leave out single breadcrumbs, the most relevant first."""
        self._omissions += omissions

    def add(self, reason: str, rows: Iterable[int], scores: Floats | None = None) -> None:
        """Leave out rows. scores: how relevant each of the rows, in place order, is; None = the later, the more."""
        every = np.unique(np.fromiter(rows, np.int64))
        self._groups.append((reason, every, every.astype(np.float32) if scores is None else scores))

    def absence(self, page_ids: set[str], others: frozenset[int], probability: Callable[[int], float | None]) -> Absence:
        """The account of a page. others: rows of which it says all without naming them. probability: of a row."""
        counted = np.zeros(self.view.size, np.bool_)
        counted[[row for name in page_ids if (row := self.view.row_of(name)) >= 0]] = True
        counted[list(others)] = True
        omissions: dict[str, Omission] = {}
        rows: defaultdict[str, list[int]] = defaultdict(list)
        for omission in self._omissions:
            row = self.view.row_of(omission.id)
            if omission.id not in page_ids and omission.id not in omissions and row not in others:
                omissions[omission.id] = self._counted(omission, row)
                rows[omission.reason].append(row)
                counted[[row] if row >= 0 else []] = True
        for reason, every, scores in self._groups:
            fresh = np.flatnonzero(~counted[every])
            counted[every] = True
            rows[reason] += every[fresh].tolist()
            for row in every[best_of(scores, fresh, max(MAX_OMISSIONS - len(omissions), 0))].tolist():
                name = self.view.breadcrumb(row).id
                omissions.setdefault(name, Omission(id=name, reason=reason, tokens=int(self.view.tokens[row])))
        by_reason = {reason: len(rows[reason]) for reason in sorted(rows) if rows[reason]}
        in_view = {reason: np.sort(np.array(rows[reason], np.int64)) for reason in by_reason}
        in_view = {reason: every[every >= 0] for reason, every in in_view.items()}
        relevant = self._rated(islice(omissions.values(), MAX_OMISSIONS), probability)
        return Absence(relevant, by_reason, in_view, self._tokens(in_view.values()))

    def _rated(self, omissions: Iterable[Omission], probability: Callable[[int], float | None]) -> tuple[Omission, ...]:
        return tuple(replace(each, probability=probability(self.view.row_of(each.id))) for each in omissions)

    def _tokens(self, groups: Iterable[Ints]) -> int:
        """Of these rows."""
        return sum(int(self.view.tokens[rows].sum()) for rows in groups)

    def _counted(self, omission: Omission, row: int) -> Omission:
        """With the tokens of all of it, where who left it out did not count."""
        return omission if omission.tokens or row < 0 else replace(omission, tokens=int(self.view.tokens[row]))
