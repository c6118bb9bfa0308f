"""The finished page: laid out, counted, marked where a prompt cache may cut it."""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

from builder.assemble.budget.ledger import Ledger
from builder.domain.context import RECENT, SLOW, STATIC, Breakpoint, Section
from builder.domain.page_format import PageCopy


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A finished page."""

    markdown: str
    tokens: int
    """Its true count."""
    breakpoints: tuple[Breakpoint, ...]
    failed: bool
    """The profile's template failed, so a bundled one laid the page out."""
    copy: PageCopy | None
    """In the profile's `chat_format`."""


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
    page_format = writer.profile.chat_format
    return Page(
        markdown=layout.text,
        tokens=count(layout.text),
        breakpoints=tuple(marks.values()),
        failed=layout.failed,
        copy=page_format.copy(ledger) if page_format else None,
    )


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
