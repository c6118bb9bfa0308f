"""What a profile extends is laid under it, layer by layer, and every value knows its file."""

import pytest
import yaml

from builder.adapters.profiles.layers import Presets, layers, merged, origins
from builder.adapters.profiles.profiles import Library, ModelFacts, parse_profile
from builder.domain.errors import Misconfigured
from builder.extras.workshop.profile_views import as_yaml, differing, profile_settings

BASE = """
budget: 1000
window: {max_units: 8, trim_to: 4}
retrieval: {schemas: [user.message.v1], per_schema_limit: {user.message.v1: 5, note.v1: 2}}
sections:
  - {name: recent, title: Recent, source: window, min_share: 0.2}
  - {name: relevant, title: Relevant, source: retrieval}
  - {name: current, title: Current, source: trigger}
"""
PRESETS = {
    "base": BASE,
    "wide": "extends: base\nbudget: 9000\n",
    "short": "extends: base\nwindow: {trim_to: 2}\nretrieval: {per_schema_limit: {}}\n",
    "loop": "extends: pool\n",
    "pool": "extends: loop\n",
    "broken": "budget: [1, 2",
    "wrong": "extends: base\nwindow: {trim_to: many}\nsections: {recent: {min_share: 7}}\n",
}
MODELS = {"gpt-4o": ModelFacts(window=128_000), "claude-sonnet-4": ModelFacts(window=200_000, margin=0.25)}
MODELS["claude-sonnet-4-5"] = MODELS["claude-sonnet-4"]
LIBRARY = Library(presets=PRESETS, models=MODELS)


def values(source: str) -> dict[str, object]:
    return merged(layers(source, Presets(PRESETS)))


def test_two_presets_of_one_base_are_both_in_force() -> None:
    profile = parse_profile("mine", "extends: [wide, short]\n", LIBRARY)
    assert (profile.budget, profile.window.max_units, profile.window.trim_to) == (9000, 8, 2)


def test_the_last_preset_wins_and_the_file_wins_over_all() -> None:
    presets = {**PRESETS, "narrow": "budget: 300\n"}
    assert merged(layers("extends: [wide, narrow]", Presets(presets)))["budget"] == 300
    assert merged(layers("extends: [narrow, wide]", Presets(presets)))["budget"] == 9000
    assert merged(layers("extends: [narrow, wide]\nbudget: 77", Presets(presets)))["budget"] == 77


def test_mappings_are_merged_and_an_empty_one_empties() -> None:
    filled = parse_profile("mine", "extends: base\nretrieval: {per_schema_limit: {note.v1: 9}}\n", LIBRARY)
    assert filled.retrieval.per_schema_limit == {"user.message.v1": 5, "note.v1": 9}
    assert parse_profile("mine", "extends: short\n", LIBRARY).retrieval.per_schema_limit == {}


def test_a_section_is_changed_by_its_name_and_taken_out_by_null() -> None:
    source = "extends: base\nretrieval: {schemas: []}\nsections: {recent: {min_share: 0.5}, relevant: null}\n"
    profile = parse_profile("mine", source, LIBRARY)
    assert [(rule.name, rule.min_share) for rule in profile.sections] == [("role", 0), ("recent", 0.5), ("current", 0)]
    with pytest.raises(Misconfigured, match="line 2: section `relevent`: no section has this name; write relevant, or"):
        parse_profile("mine", "extends: base\nsections: {relevent: null}\n", LIBRARY)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("extends: bas", "^profiles/mine.yaml line 1: it extends 'bas', and no preset or profile has this name; write base$"),
        ("extends: loop", "loop extends pool extends loop; take one of them out"),
        ("extends: 7", "extends is 7; give the name of a preset or a profile, or a list of names"),
        ("extends: broken", "^presets/broken.yaml line 1: a bracket or a brace is not closed, or a comma"),
        (
            "extends: wrong",
            r"^presets/wrong.yaml line 2: `window.trim_to`: \"many\" is not a whole number; write a whole number \(and 1 more: ",
        ),
        (
            "extends: wrong\nwindow: {trim_to: 1}",
            "^presets/wrong.yaml line 3: section `recent`, `min_share`: 7 is too large; write at most 1, for 7 % 0.07$",
        ),
    ],
)
def test_a_mistake_names_the_file_and_the_preset(source: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        parse_profile("mine", source, LIBRARY)


PROFILES = {
    "desk": "extends: base\nbudget: 700\nreserve: 20\n",
    "night-desk": "extends: [desk, short]\nbudget: 600\n",
    "base": "budget: 5\n",
    "ring": "extends: chain\n",
    "chain": "extends: link\n",
    "link": "extends: ring\n",
    "narrow": "extends: narrow\n",
}
OWN = Library(presets=PRESETS, profiles=PROFILES)


def test_a_profile_extends_a_profile_of_ones_own_through_a_chain_and_a_preset_of_the_name_comes_first() -> None:
    profile = parse_profile("night-desk", PROFILES["night-desk"], OWN)
    assert (profile.budget, profile.reserve, profile.window.trim_to) == (600, 20, 2)
    below = parse_profile("attic", "extends: night-desk\nreserve: 3\n", OWN)
    assert (below.consumer, below.agent, below.budget, below.reserve) == ("attic", "attic", 600, 3)
    shown = as_yaml(profile_settings("attic", "extends: night-desk\n", OWN, "profiles/attic.yaml"))
    assert "budget: 600  # profiles/night-desk.yaml\n" in shown
    assert "reserve: 20  # profiles/desk.yaml\n" in shown


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ring", "^profiles/link.yaml line 1: ring extends chain extends link extends ring; take one of them out$"),
        ("narrow", "^profiles/narrow.yaml line 1: narrow extends narrow; take one of them out$"),
    ],
)
def test_profiles_that_extend_each_other_in_a_circle_are_refused_with_the_chain(name: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        parse_profile(name, PROFILES[name], OWN)


def test_a_bundled_preset_extends_no_profile_and_an_edit_of_the_base_is_another_revision() -> None:
    bundled = Library(presets={"plain": "extends: desk\n"}, bundled={"plain": "extends: desk\n"}, profiles=PROFILES)
    with pytest.raises(Misconfigured, match="it extends 'desk', and no preset or profile has this name"):
        parse_profile("plain", "extends: plain\n", bundled)
    edited = Library(presets=PRESETS, profiles=PROFILES | {"desk": PROFILES["desk"].replace("20", "30")})
    before, after = (parse_profile("night-desk", PROFILES["night-desk"], each) for each in (OWN, edited))
    assert (before.reserve, after.reserve) == (20, 30)
    assert before.revision != after.revision


def test_a_model_gives_encoding_and_margin_where_no_file_does() -> None:
    known = parse_profile("mine", "extends: base\nbudget: null\nmodel: anthropic/claude-sonnet-4-20250514\n", LIBRARY)
    assert (known.budget, known.encoding, known.margin, known.allowance) == (4000, "o200k_base", 0.25, 3000)
    mine = parse_profile("mine", "extends: base\nmodel: gpt-4o\nencoding: cl100k_base\nmargin: 0.5\n", LIBRARY)
    assert (mine.budget, mine.encoding, mine.margin) == (1000, "cl100k_base", 0.5)


def test_a_model_that_nobody_knows_has_a_window_of_128_000() -> None:
    unknown = parse_profile("mine", "extends: base\nbudget: null\nmodel: nobody-1\n", LIBRARY)
    assert (unknown.budget, unknown.encoding, unknown.margin) == (4000, "o200k_base", 0.1)


def test_every_value_knows_the_layer_that_gave_it() -> None:
    layer_of = origins(layers("extends: [wide, short]\nsections: {recent: {min_share: 0.3}}\n", Presets(PRESETS)))
    given = {path: layer.name for path, layer in layer_of.items()}
    assert given["budget",] == "wide"
    assert (given["window", "max_units"], given["window", "trim_to"]) == ("base", "short")
    assert (given["sections", "recent", "title"], given["sections", "recent", "min_share"]) == ("base", "")
    assert ("retrieval", "per_schema_limit", "note.v1") not in given


def test_what_is_shown_is_a_profile_that_builds_the_same_pages() -> None:
    source = "extends: [wide, short]\nbudget: null\nmodel: gpt-4o\nsystem_prompt: |\n  You are: Mira\n  # always\n"
    settings = profile_settings("mine", source, LIBRARY, "profiles/mine.yaml")
    text = as_yaml(settings)
    assert "budget: 4000  # models.yaml (gpt-4o)\n" in text
    assert "  trim_to: 2  # presets/short.yaml\n" in text
    assert "  - name: recent  # presets/base.yaml\n    title: Recent" in text
    assert "reserve: 0  # default\n" in text
    again = parse_profile("mine", text, LIBRARY)
    mine = parse_profile("mine", source, LIBRARY)
    assert {**yaml.safe_load(text), "model": None} == {
        **yaml.safe_load(as_yaml(profile_settings("mine", text, LIBRARY, "x"))),
        "model": None,
    }
    assert (again.sections, again.retrieval, again.system_prompt) == (mine.sections, mine.retrieval, mine.system_prompt)


def test_only_what_differs_is_compared() -> None:
    one, other = (profile_settings("x", f"extends: {name}\n", LIBRARY, "x") for name in ("wide", "short"))
    assert differing(one, one) == ()
    assert differing(one, other) == (
        ("budget", 9000, 1000),
        ("window.trim_to", 4, 2),
        ("retrieval.per_schema_limit.user.message.v1", 5, None),
        ("retrieval.per_schema_limit.note.v1", 2, None),
        ("retrieval.per_schema_limit", None, {}),
    )
