"""The finished page: laid out, counted, and marked where a prompt cache may cut it."""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile

from builder.assemble.budget.ledger import Ledger
from builder.domain.context import RECENT, SLOW, STATIC, Breakpoint
from builder.domain.profile import SectionRule


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
    """Behind what is static, what is slow, and the conversation: in page order, none of an empty beginning, none twice."""
    sections_by_end: dict[int, Breakpoint] = {}
    for name, lasts in ((STATIC, _is_static), (SLOW, _is_slow), (RECENT, _is_recent)):
        front = list(takewhile(lambda section: lasts(ledger.rules[section]), ends))  # noqa: B023 - used at once
        if front:
            end = ends[front[-1]]
            tokens = ledger.writer.rendering.page_tokens(markdown[:end])
            prefix = blake2b(markdown[:end].encode(), digest_size=8).hexdigest()
            sections_by_end.setdefault(end, Breakpoint(name=name, characters=end, tokens=tokens, prefix=prefix))
    return tuple(sections_by_end.values())


def _is_static(rule: SectionRule) -> bool:
    return rule.section_class == "static"


def _is_slow(rule: SectionRule) -> bool:
    return rule.section_class in {"static", "slow"}


def _is_recent(rule: SectionRule) -> bool:
    return _is_slow(rule) or rule.source == "window"
