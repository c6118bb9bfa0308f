"""The table of sources: names, what fills late, and what yields first."""

from builder.app.config import bundled_folder
from builder.assemble.items.rendering import SOURCES
from tests.factories import make_profile


def test_each_source_is_found_under_its_own_name() -> None:
    assert all(source.name == name for name, source in SOURCES.items())


def test_every_section_of_the_bundled_profiles_has_a_source() -> None:
    profiles = [path.stem for path in (bundled_folder("templates") / "profiles").glob("*.yaml")]
    assert "default" in profiles
    names = {rule.source for profile in profiles for rule in make_profile(profile).sections}
    assert names <= SOURCES.keys()


def test_finds_yield_before_the_conversation_and_nothing_else_yields() -> None:
    yielding = sorted((source.yields, name) for name, source in SOURCES.items() if source.yields)
    assert [name for _, name in yielding] == ["retrieval", "window", "turn"]


def test_what_changes_every_turn_is_never_the_systems() -> None:
    assert not [source.name for source in SOURCES.values() if source.changes_every_turn and source.is_lasting]


def test_turns_are_dated() -> None:
    assert all(source.is_dated for source in SOURCES.values() if source.is_dialogue)
