"""Where messages have a section."""

from dataclasses import replace
from typing import Literal

import pytest

from builder.assemble.items.rendering import SOURCES
from builder.domain.page_settings import SectionClass
from tests.factories import make_profile


@pytest.mark.parametrize(
    ("source", "section_class", "place", "is_in_system"),
    [
        ("pinned", "static", "user", True),
        ("pinned", "turn", "system", False),
        ("instructions", "slow", "system", True),
        ("instructions", "slow", "user", False),
        ("summary", "slow", "user", False),
        ("memory", "slow", "user", False),
        ("system", "turn", "user", True),
        ("window", "slow", "system", False),
    ],
)
def test_what_lasts_is_in_the_system_message_and_words_of_people_where_the_profile_says(
    source: str, section_class: SectionClass, place: Literal["system", "user"], is_in_system: bool
) -> None:
    profile = make_profile(words_of_people=place)
    rule = replace(profile.sections[0], source=source, section_class=section_class)
    assert SOURCES[source].is_in_system(rule, profile) is is_in_system
