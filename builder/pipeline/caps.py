"""Most tokens that a fragment may have where it would stand."""

from builder.domain.profile import Profile
from builder.pipeline.draft import Draft
from builder.pipeline.units import Unit

SMALLEST = 24
"""Tokens below which a shortened message says nothing."""


def hot_caps(unit: Unit, profile: Profile, draft: Draft) -> dict[str, int]:
    """Most tokens of each fragment of a hot unit: the same wherever it stands, so that the page's beginning stays the same."""
    caps = fair_tools(unit, profile, draft)
    for rule in profile.sections:
        if rule.source == "hot":
            caps[rule.name] = max(int(profile.window.message_share * rule.most(draft.allowance)), SMALLEST)
    return caps


def fair_tools(unit: Unit, profile: Profile, draft: Draft) -> dict[str, int]:
    """Tool output is shortened rather than parted from its call: its section is shared by the turns that may show it."""
    caps = {}
    for rule in profile.sections:
        inside = sum(candidate.section == rule.name for candidate in unit)
        if rule.source == "tools" and inside:
            turns = profile.window.max_tool_turns or profile.window.max_units
            caps[rule.name] = max(rule.most(draft.allowance) // (turns * inside), SMALLEST)
    return caps
