"""Lay the chosen fragments out: sections in the profile's order, fragments in place order, and the true count at the end."""

from collections.abc import Callable
from itertools import groupby

from builder.domain.context import Omission, Section
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule
from builder.pipeline.draft import Draft, Group, PageSection, Placed, Rendering


def compose(
    draft: Draft, profile: Profile, rendering: Rendering, date: Callable[[int], str]
) -> tuple[str, int, tuple[Omission, ...]]:
    """Markdown, its true tokens, and what had to go after all.

    Parts were counted one by one; the page is counted whole, and while it is above the allowance the unit taken last goes.
    Raises `Rejected` when the current message alone is too much.
    """
    dropped: list[Omission] = []
    while True:
        markdown = rendering.page(profile.page, page_sections(draft, profile, date))
        tokens = rendering.count(markdown)
        if tokens <= draft.allowance:
            return markdown, tokens, tuple(dropped)
        if len(draft.taken) <= 1:
            raise Rejected(
                f"the page has {tokens} tokens with nothing but the current message on it, allowed are {draft.allowance}; "
                f"raise `budget` in the profile {profile.consumer!r}"
            )
        dropped += [Omission(id=candidate.remembered.breadcrumb.id, reason="over budget") for candidate in draft.undo()]


def page_sections(draft: Draft, profile: Profile, date: Callable[[int], str]) -> tuple[PageSection, ...]:
    """The sections that have something in them."""
    sections = ((rule, _placed(draft, rule)) for rule in profile.sections)
    return tuple(
        PageSection(name=rule.name, title=rule.title, groups=_groups(rule, placed, date)) for rule, placed in sections if placed
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
        if (placed := _placed(draft, rule))
    )


def prefix_end(markdown: str, draft: Draft, profile: Profile, rendering: Rendering, date: Callable[[int], str]) -> int:
    """Characters in front of the first per-turn section: what a prompt cache can keep."""
    lasting = [rule.name for rule in profile.sections if rule.section_class != "turn"]
    front: list[PageSection] = []
    for section in page_sections(draft, profile, date):
        if section.name not in lasting:
            break
        front.append(section)
    prefix = rendering.page(profile.page, tuple(front)) if front else ""
    return next((end for end, (a, b) in enumerate(zip(prefix, markdown, strict=False)) if a != b), len(prefix))


def _placed(draft: Draft, rule: SectionRule) -> list[Placed]:
    return [draft.placed[key] for key in sorted(draft.placed) if key[0] == rule.name]


def _groups(rule: SectionRule, placed: list[Placed], date: Callable[[int], str]) -> tuple[Group, ...]:
    def line(item: Placed) -> str:
        return date(item.candidate.row) if rule.dates else ""

    return tuple(
        Group(date=shown, fragments=tuple(item.fragment.text for item in items)) for shown, items in groupby(placed, key=line)
    )
