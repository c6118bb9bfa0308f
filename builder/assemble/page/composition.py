"""The finished page: laid out, counted, marked where a prompt cache may cut it; and its account."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.writer import Item
from builder.domain.context import NEUTRALISED, PASSAGES, RECENT, SLOW, STATIC, Breakpoint, Fragment, Omission, Section
from builder.recall.index.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A finished page."""

    markdown: str
    """The text that the agent reads."""
    tokens: int
    """Its true count."""
    breakpoints: tuple[Breakpoint, ...]
    """In page order."""
    failed: bool
    """The profile's template failed, so a bundled one laid the page out."""


def compose(ledger: Ledger) -> Page:
    """Lay out what the ledger holds."""
    writer = ledger.writer
    sections = ledger.page_sections()
    layout = writer.rendering.page(writer.profile.page, sections)
    return Page(
        markdown=layout.text,
        tokens=writer.rendering.page_tokens(layout.text),
        breakpoints=_breakpoints(
            layout.text, dict(zip((section.name for section in sections), layout.ends, strict=False)), ledger
        ),
        failed=layout.failed,
    )


def _breakpoints(markdown: str, ends: dict[str, int], ledger: Ledger) -> tuple[Breakpoint, ...]:
    rules, marks = [ledger.rules[name] for name in ends], dict[int, Breakpoint]()
    lasting = {STATIC: {"static"}, SLOW: {"static", "slow"}, RECENT: {"static", "slow", "window"}}
    for name, kinds in lasting.items():
        number = len(list(takewhile(lambda rule: {rule.section_class, rule.source} & kinds, rules)))  # noqa: B023 - used at once
        if number:
            end = list(ends.values())[number - 1]
            tokens = ledger.writer.rendering.page_tokens(markdown[:end])
            prefix = blake2b(markdown[:end].encode(), digest_size=8).hexdigest()
            marks.setdefault(end, Breakpoint(name=name, characters=end, tokens=tokens, prefix=prefix))
    return tuple(marks.values())


def sections_of(ledger: Ledger) -> tuple[Section, ...]:
    """Tokens and breadcrumbs of each section on the page."""
    return tuple(
        Section(
            name=name,
            section_class=rule.section_class,
            tokens=ledger.spent[name],
            tokens_by_id=_tokens_by_id(ledger, name),
            probability_by_id=_probabilities(ledger, name) if rule.source == "retrieval" else {},
        )
        for name, rule in ledger.rules.items()
        if ledger.spent[name]
    )


def _probabilities(ledger: Ledger, section: str) -> dict[str, float]:
    rows = ledger.writer.view.history.rows
    current_ids = (rows[item.origin].breadcrumb.id for item in ledger.items.get(section, ()))
    return {name: ledger.probabilities[name] for name in current_ids if name in ledger.probabilities}


def _tokens_by_id(ledger: Ledger, section: str) -> dict[str, int]:
    tokens: Counter[str] = Counter()
    for item in ledger.items.get(section, ()):
        for fragment in item.fragments:
            tokens[fragment.breadcrumb.id] += fragment.tokens
    return dict(tokens)


def parts(ledger: Ledger) -> Iterator[Omission]:
    """Breadcrumbs that are on the page in part or changed."""
    view = ledger.writer.view
    for item in ledger.all_items():
        for fragment in item.fragments:
            for reason in reductions(fragment, item, view):
                is_reduced = bool(fragment.reduced or item.spans)
                row = view.row_of(fragment.breadcrumb.id) if is_reduced and not fragment.in_all else -1
                tokens = max(fragment.in_all, fragment.tokens, int(view.tokens[row]) if row >= 0 else 0)
                yield Omission(id=fragment.breadcrumb.id, reason=reason, tokens=tokens, shown=fragment.tokens)


def reductions(fragment: Fragment, item: Item, view: View) -> Iterator[str]:
    """Why not all of it is on the page as it came."""
    is_part = bool(item.spans) and fragment.breadcrumb.id == view.breadcrumb(item.origin).id
    yield from filter(None, (fragment.reduced or PASSAGES * is_part, fragment.failed, NEUTRALISED * fragment.neutralised))


def rows_of_calls(ledger: Ledger) -> frozenset[int]:
    """Rows without words whose calls are all on the page."""
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
    present = {(exchange.origin, exchange.request) for exchange in calls}
    rows = ((row, view.breadcrumb(row)) for exchange in calls for row in exchange.callers if row < view.size)
    silent = {row for row, crumb in rows if crumb.role == "tool" or not crumb.text.strip()}
    return frozenset(
        row for row in silent if present.issuperset((each.origin, each.request) for each in exchanges.of_caller.get(row, ()))
    )
