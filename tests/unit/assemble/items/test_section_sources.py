"""The table of sources."""

from dataclasses import replace

import pytest

from builder.app.config import bundled_folder
from builder.assemble.items.section_sources import SOURCES
from builder.domain.page_settings import SectionClass
from tests.factories import make_profile


def test_every_section_of_the_bundled_profiles_has_a_source() -> None:
    profiles = [path.stem for path in (bundled_folder("templates") / "profiles").glob("*.yaml")]
    assert "default" in profiles
    names = {rule.source for profile in profiles for rule in make_profile(profile).sections}
    assert names <= SOURCES.keys()


def test_each_source_has_its_own_name_and_turns_are_dated_and_what_changes_every_turn_is_never_the_systems() -> None:
    for name, source in SOURCES.items():
        assert source.name == name
        assert source.is_dated or not source.is_dialogue
        assert not (source.changes_every_turn and source.is_lasting)


@pytest.mark.parametrize(
    ("source", "section_class", "is_in_system"),
    [
        ("pinned", "static", True),
        ("pinned", "turn", False),
        ("instructions", "slow", True),
        ("summary", "slow", True),
        ("system", "turn", True),
        ("window", "slow", False),
    ],
)
def test_what_lasts_is_in_the_system_message(source: str, section_class: SectionClass, is_in_system: bool) -> None:
    rule = replace(make_profile().sections[0], source=source, section_class=section_class)
    assert SOURCES[source].is_in_system(rule) is is_in_system
