"""Lay the chosen fragments out: sections in the profile's order, fragments in place order, and the true count at the end."""

from dataclasses import dataclass
from itertools import groupby

from builder.domain.context import OVER_BUDGET, Breakpoint, Omission, Section
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule
from builder.pipeline.breakpoints import breakpoints
from builder.pipeline.draft import Date, Draft, Group, Key, PageSection, Placed, Rendering

NOTHING: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The finished page. tokens: its true count. dropped: what had to go. failed: a bundled template stepped in."""

    markdown: str
    tokens: int
    breakpoints: tuple[Breakpoint, ...]
    dropped: tuple[Omission, ...]
    failed: bool


def compose(draft: Draft, profile: Profile, rendering: Rendering, date: Date) -> Page:
    """Lay out what the draft holds.

    Parts were counted one by one; the page is counted whole, and while it is above the allowance the unit taken last goes.
    Raises `Rejected` when the current message alone is too much.
    """
    dropped: list[Omission] = []
    while True:
        sections = page_sections(draft, profile, date)
        laid = rendering.page(profile.page, sections)
        markdown = laid.text
        tokens = rendering.count(markdown)
        if tokens <= draft.allowance:
            cuts = breakpoints(markdown, sections, draft.spent, profile, rendering)
            return Page(markdown=markdown, tokens=tokens, breakpoints=cuts, dropped=tuple(dropped), failed=laid.failed)
        if len(draft.taken) <= 1 and draft.notes:
            draft.forget_notes()
            continue
        if len(draft.taken) <= 1:
            raise Rejected(
                f"the page has {tokens} tokens with nothing but the current message on it, allowed are {draft.allowance}; "
                f"raise `budget` in the profile {profile.consumer!r}"
            )
        dropped += [Omission(id=candidate.remembered.breadcrumb.id, reason=OVER_BUDGET) for candidate in draft.undo()]


def page_sections(draft: Draft, profile: Profile, date: Date, told: frozenset[Key] = NOTHING) -> tuple[PageSection, ...]:
    """The sections that have something in them. told: what is told elsewhere."""
    sections = ((rule, _own_words(draft, rule) + _groups(rule, placed_in(draft, rule, told), date)) for rule in profile.sections)
    return tuple(
        PageSection(name=rule.name, title=rule.title, groups=groups, note=draft.notes.get(rule.name, ""))
        for rule, groups in sections
        if groups or rule.name in draft.notes
    )


def summarise(draft: Draft, profile: Profile) -> tuple[Section, ...]:
    """Tokens and ids of each section on the page."""
    return tuple(
        Section(
            name=rule.name,
            section_class=rule.section_class,
            tokens=draft.spent[rule.name],
            ids=tuple(item.fragment.breadcrumb.id for item in placed),
        )
        for rule in profile.sections
        if (placed := placed_in(draft, rule)) or rule.name in draft.own_texts or rule.name in draft.notes
    )


def _own_words(draft: Draft, rule: SectionRule) -> tuple[Group, ...]:
    return (Group(date="", fragments=(draft.own_texts[rule.name],)),) if rule.name in draft.own_texts else ()


def placed_in(draft: Draft, rule: SectionRule, told: frozenset[Key] = NOTHING) -> list[Placed]:
    """What stands in the section, in page order, without what is told elsewhere."""
    mine = (placed for key, placed in draft.placed.items() if key[0] == rule.name and key not in told)
    return sorted(mine, key=lambda placed: placed.candidate.remembered.breadcrumb.place)


def _groups(rule: SectionRule, placed: list[Placed], date: Date) -> tuple[Group, ...]:
    def line(item: Placed) -> str:
        return date(item.candidate.row, rule.dates)

    return tuple(
        Group(date=shown, fragments=tuple(item.fragment.text for item in items)) for shown, items in groupby(placed, key=line)
    )
