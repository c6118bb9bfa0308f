"""Lay the chosen fragments out: sections in the profile's order, fragments in place order, and the true count at the end."""

from dataclasses import dataclass
from itertools import groupby, takewhile
from os.path import commonprefix

from builder.domain.context import Omission, Section
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule
from builder.pipeline.draft import Date, Draft, Group, PageSection, Placed, Rendering


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The finished page. tokens: its true count. prefix_end: characters a prompt cache can keep. dropped: what had to go."""

    markdown: str
    tokens: int
    prefix_end: int
    dropped: tuple[Omission, ...]


def compose(draft: Draft, profile: Profile, rendering: Rendering, date: Date) -> Page:
    """Lay out what the draft holds.

    Parts were counted one by one; the page is counted whole, and while it is above the allowance the unit taken last goes.
    Raises `Rejected` when the current message alone is too much.
    """
    dropped: list[Omission] = []
    while True:
        sections = _sections(draft, profile, date)
        markdown = rendering.page(profile.page, sections)
        tokens = rendering.count(markdown)
        if tokens <= draft.allowance:
            end = _prefix_end(markdown, sections, profile, rendering)
            return Page(markdown=markdown, tokens=tokens, prefix_end=end, dropped=tuple(dropped))
        if len(draft.taken) <= 1 and draft.notes:
            draft.forget_notes()
            continue
        if len(draft.taken) <= 1:
            raise Rejected(
                f"the page has {tokens} tokens with nothing but the current message on it, allowed are {draft.allowance}; "
                f"raise `budget` in the profile {profile.consumer!r}"
            )
        dropped += [Omission(id=candidate.remembered.breadcrumb.id, reason="over budget") for candidate in draft.undo()]


def _sections(draft: Draft, profile: Profile, date: Date) -> tuple[PageSection, ...]:
    """The sections that have something in them."""
    sections = ((rule, _placed(draft, rule)) for rule in profile.sections)
    return tuple(
        PageSection(name=rule.name, title=rule.title, groups=_groups(rule, placed, date), note=draft.notes.get(rule.name, ""))
        for rule, placed in sections
        if placed or rule.name in draft.notes
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
        if (placed := _placed(draft, rule)) or rule.name in draft.notes
    )


def _prefix_end(markdown: str, sections: tuple[PageSection, ...], profile: Profile, rendering: Rendering) -> int:
    """Characters in front of the first per-turn section (features H2)."""
    lasting = {rule.name for rule in profile.sections if rule.section_class != "turn"}
    front = tuple(takewhile(lambda section: section.name in lasting, sections))
    if not front:
        return 0
    return len(commonprefix((rendering.page(profile.page, front), markdown)))  # noqa: RUF071 - characters are meant


def _placed(draft: Draft, rule: SectionRule) -> list[Placed]:
    return [draft.placed[key] for key in sorted(draft.placed) if key[0] == rule.name]


def _groups(rule: SectionRule, placed: list[Placed], date: Date) -> tuple[Group, ...]:
    def line(item: Placed) -> str:
        return date(item.candidate.row, rule.dates)

    return tuple(
        Group(date=shown, fragments=tuple(item.fragment.text for item in items)) for shown, items in groupby(placed, key=line)
    )
