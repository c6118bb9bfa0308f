"""What an operator writes is read up to a size and without aliases, and refused in one line."""

from pathlib import Path

import pytest

from builder.adapters.templates.page_rendering import silence
from builder.app.config import load_library, load_profiles, read_config, read_layers, read_preset, template_folders
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.profile import Profile
from tests.hostile import YAMLS

LONGEST = 2_100
FEW = {name: YAMLS[name] for name in ("aliases", "deep maps", "many documents", "absurd size")}
"""One of each way to be refused, for the files that the same reader reads."""


@pytest.mark.parametrize(
    ("file", "sources"),
    [("profiles/mine.yaml", YAMLS), ("presets/mine.yaml", FEW), ("models.yaml", FEW)],
    ids=["profile", "preset", "models"],
)
def test_yaml_that_is_more_than_it_looks_is_refused_in_one_line(tmp_path: Path, file: str, sources: dict[str, str]) -> None:
    for kind in ("profiles", "presets"):
        (tmp_path / kind).mkdir()
    (tmp_path / "profiles/other.yaml").write_text("extends: mine\n" if file.startswith("presets") else "extends: default\n")
    for name, source in sources.items():
        (tmp_path / file).write_text(source)
        with pytest.raises(Misconfigured) as caught:
            read_config(template_folders(Settings(templates_dir=tmp_path)))
        message = str(caught.value)
        assert ("\n" in message, len(message) < LONGEST) == (False, True), name
        assert message.startswith(("profiles/", "presets/", "models.yaml", str(tmp_path))), (name, message)


def test_whoever_reads_templates_again_goes_on_counting_what_they_could_not_render(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    folders = template_folders(Settings(templates_dir=tmp_path))
    first = read_config(folders, None, silence)
    (tmp_path / "profiles/mine.yaml").write_text("extends: default\n")
    assert read_config(folders, first, silence).failures is first.failures
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints/note.v1.md.j2").write_text("Noted: {{ text }}")
    assert read_config(folders, first, silence).failures is not first.failures


def profiles_of(folder: Path, **files: str) -> dict[str, Profile]:
    """Name → profile, of the bundled folder and one with these files: `profiles__mine` is profiles/mine.yaml."""
    for name, text in files.items():
        file = folder / f"{name.replace('__', '/').replace('_', '-')}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    folders = template_folders(Settings(templates_dir=folder))
    library = load_library(read_layers(folders))
    presets = {name: read_preset(name, library) for name in library.presets if name != "default"}
    return presets | {profile.consumer: profile for profile in load_profiles(read_layers(folders), library)}


@pytest.mark.parametrize("beginning", ["", "extends: default\n", "extends: [default]\n"])
def test_ones_own_default_profile_is_laid_over_the_bundled_one(tmp_path: Path, beginning: str) -> None:
    own = f"{beginning}budget: 2000\nsections: {{conversation: {{title: Gespräch}}, summary: null}}\n"
    before, after = profiles_of(tmp_path)["default"], profiles_of(tmp_path, profiles__default=own)["default"]
    assert (after.budget, after.retrieval, after.triggers) == (2000, before.retrieval, before.triggers)
    assert [rule.name for rule in after.sections] == [rule.name for rule in before.sections if rule.name != "summary"]
    assert next(rule.title for rule in after.sections if rule.name == "conversation") == "Gespräch"


def test_one_conversation_becomes_two_sections_where_a_profile_changes_one_of_them(tmp_path: Path) -> None:
    own = "sections: {recent: {max_share: 0.3}}\n"
    profile = profiles_of(tmp_path, profiles__default=own)["default"]
    assert [(rule.name, rule.source) for rule in profile.sections][-3:] == [
        ("recent", "window"), ("relevant", "retrieval"), ("current", "trigger"),
    ]  # fmt: skip
    assert profile.sections[-3].max_share == 0.3


def test_a_change_of_the_default_profile_leaves_every_bundled_preset_but_that_of_frameworks_as_it_is(tmp_path: Path) -> None:
    before = profiles_of(tmp_path)
    own = "language: de\nsections:\n  - {name: open, source: trigger, title: Offen}\nretrieval: {schemas: []}\nsummaries: null\n"
    after = profiles_of(tmp_path, profiles__default=own)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["default", "framework"]


def test_what_extends_default_means_ones_own_and_a_preset_the_bundled_one(tmp_path: Path) -> None:
    profiles = profiles_of(
        tmp_path,
        profiles__default="language: de\nbudget: 3000\n",
        profiles__mine="extends: default\n",
        profiles__coder="extends: coding-agent\n",
        profiles__both="extends: [default, coding-agent]\n",
    )
    pages = {name: (profiles[name].language, profiles[name].budget) for name in ("mine", "coder", "both")}
    assert pages == {"mine": ("de", 3000), "coder": ("en", 16_000), "both": ("de", 16_000)}


def test_a_preset_of_ones_own_may_extend_the_bundled_one_of_its_name(tmp_path: Path) -> None:
    profiles = profiles_of(
        tmp_path, presets__coding_agent="extends: coding-agent\nbudget: 9000\n", profiles__coder="extends: coding-agent\n"
    )
    assert [(profiles[name].budget, profiles[name].tool_output.fold_keep) for name in ("coder", "coding-agent")] == [
        (9000, None)
    ] * 2


def test_a_preset_that_is_asked_for_is_read_as_a_profile_too() -> None:
    config = read_config(template_folders(Settings()), preset="three_tier")
    assert [profile.consumer for profile in config.profiles] == ["default", "framework", "recall", "three_tier"]
    assert len(read_config(template_folders(Settings()), preset="default").profiles) == 3


def test_a_profile_whose_own_hint_does_not_exist_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "default.yaml").write_text("hints:\n  note.v1: knowlege.v1\n", "utf-8")
    with pytest.raises(
        Misconfigured,
        match=r"profiles/default.yaml line 2: `hints.note.v1`: hints/knowlege.v1.md.j2 does not exist; write knowledge.v1",
    ):
        read_config(template_folders(Settings(templates_dir=tmp_path)))


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"profiles__default": "budget: 900\na: &x 1\nb: *x"}, "profiles/default.yaml: the alias *x is not taken; "),
        ({"profiles__default": "budget: 900\nbudget: 800"}, "profiles/default.yaml line 2: 'budget' is there twice; "),
        ({"profiles__ant": "extends: base", "presets__base": "budget: 900\n\t"}, "presets/base.yaml line 2: "),
        (
            {"profiles__ant": "extends: bee", "profiles__bee": "extends: ant"},
            "profiles/bee.yaml line 1: ant extends bee extends ant; take one of them out",
        ),
        ({"profiles__bee": "- b"}, "profiles/bee.yaml: it is a list, not a mapping of settings"),
        (
            {"profiles__ant": "extends: default\nretrieval: {scope: team room}"},
            '"team room" is not allowed; use one of session, user, workspace, or a list of sessions: [team room]',
        ),
        ({"profiles__ant": "extends: default\nsections: {recent: {max_share: 30%}}"}, '"30%" is not a number; write 0.3'),
    ],
)
def test_a_mistake_names_the_file_that_has_it(tmp_path: Path, files: dict[str, str], told: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        profiles_of(tmp_path, profiles__aaa="extends: default\n", **files)
    assert told in str(caught.value)


def test_a_file_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints/note.v1.md.j2").write_bytes(b"- \xff")
    with pytest.raises(Misconfigured, match=r"hints/note\.v1\.md\.j2: it cannot be read: 'utf-8' codec .*; write it as UTF-8"):
        read_layers((tmp_path,))


def test_listed_sessions_are_of_any_text(tmp_path: Path) -> None:
    own = "extends: default\nretrieval: {scope: [team room, s42, maya@example.com]}\n"
    scope = profiles_of(tmp_path, profiles__mine=own)["mine"].retrieval.scope
    assert scope == ("_x-team_20room", "s42", "_x-maya_40example_2Ecom")


def test_a_session_that_is_no_text_is_a_mistake_of_its_file(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"profiles/mine\.yaml: session is an empty text; give the conversation a name"):
        profiles_of(tmp_path, profiles__mine='extends: default\nretrieval: {scope: [""]}\n')


def test_a_profile_that_was_on_trial_makes_no_consumer_and_its_author_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "lean.yaml").write_text("shadow_of: default\nbudget: 300\n", "utf-8")
    config = read_config(template_folders(Settings(templates_dir=tmp_path)))
    assert "lean" not in {profile.consumer for profile in config.profiles}
    assert caplog.text.count("profiles/lean.yaml: there is no setting `shadow_of` any more") == 1
