"""Where a prompt cache may cut the page: behind what is static, behind what is slow, behind the conversation (features H2)."""

from collections.abc import Mapping
from hashlib import blake2b
from itertools import takewhile
from os.path import commonprefix

from builder.domain.context import RECENT, SLOW, STATIC, Breakpoint
from builder.domain.profile import Profile
from builder.pipeline.draft import PageSection, Rendering


def breakpoints(
    markdown: str, sections: tuple[PageSection, ...], spent: Mapping[str, int], profile: Profile, rendering: Rendering
) -> tuple[Breakpoint, ...]:
    """In page order, none of an empty beginning and none twice at one place. spent: tokens of each section."""
    found: dict[int, Breakpoint] = {}
    for name, names in _lasting(profile):
        front = tuple(takewhile(lambda section: section.name in names, sections))  # noqa: B023 - used at once
        if front:
            end = _shared(rendering.page(profile.page, front).text, markdown)
            tokens = sum(spent[section.name] for section in front)
            prefix = blake2b(markdown[:end].encode(), digest_size=8).hexdigest()
            found.setdefault(end, Breakpoint(name=name, characters=end, tokens=tokens, prefix=prefix))
    return tuple(found.values())


def _shared(front: str, whole: str) -> int:
    """Characters in which both begin; a page nearly always begins with its front part, and one look tells."""
    return len(front) if whole.startswith(front) else len(commonprefix((front, whole)))  # noqa: RUF071 - characters are meant


def _lasting(profile: Profile) -> list[tuple[str, set[str]]]:
    """Names of the sections that may stand in front of each breakpoint."""
    static = {rule.name for rule in profile.sections if rule.section_class == "static"}
    slow = static | {rule.name for rule in profile.sections if rule.section_class == "slow"}
    return [(STATIC, static), (SLOW, slow), (RECENT, slow | {rule.name for rule in profile.sections if rule.source == "hot"})]
