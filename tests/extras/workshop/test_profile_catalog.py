"""The profiles, presets and templates that we ship, and an operator's beside them."""

from pathlib import Path

import pytest

from builder.app.config import template_folders
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.extras.workshop.profile_catalog import ProfileCatalog, lint_folders


def shelf(folder: Path | None = None) -> ProfileCatalog:
    return ProfileCatalog(template_folders(Settings(templates_dir=folder)))


def written(folder: Path, file: str, text: str) -> Path:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text, "utf-8")
    return folder


def test_everything_that_we_ship_lints_clean() -> None:
    assert shelf().findings() == ()


def test_every_preset_says_what_it_is() -> None:
    assert [held.name for held in shelf().all if not held.about] == []


def test_a_preset_is_looked_up_like_a_profile_and_an_unknown_name_lists_all() -> None:
    assert shelf().entry("minimal").file == "presets/minimal.yaml"
    every = "no profile or preset 'minimall'; write minimal; known are default, framework, recall, cached, character, "
    with pytest.raises(Misconfigured, match=every):
        shelf().entry("minimall")


def test_a_profile_that_cannot_be_read_is_a_finding_and_hides_no_other(tmp_path: Path) -> None:
    written(tmp_path, "profiles/mine.yaml", "extends: minimall\n")
    written(tmp_path, "profiles/yours.yaml", "extends: default\ntriggers: [user.mesage.v1]\n")
    told = shelf(tmp_path).findings()
    assert [(finding.file, finding.place) for finding in told] == [
        ("profiles/mine.yaml", ""),
        ("profiles/yours.yaml", "`triggers`"),
    ]
    assert "it extends 'minimall'" in told[0].problem


def test_only_what_is_named_is_linted(tmp_path: Path) -> None:
    mine = shelf(written(tmp_path, "profiles/mine.yaml", "extends: default\npage: fancy\n"))
    assert mine.findings(("default", "minimal")) == ()
    assert [finding.place for finding in mine.findings(("mine",))] == ["`page`"]


def test_phrases_that_cannot_be_used_are_told_like_every_other_mistake(tmp_path: Path) -> None:
    settings = Settings(templates_dir=written(tmp_path, "phrases/de.yaml", "user: Kunde\nasistant: Berater\n"))
    count, findings = lint_folders(settings)
    assert (count, [str(each) for each in findings]) == (
        0, ["phrases/de.yaml line 2: phrase `asistant`: no phrase has this name; write assistant"],
    )  # fmt: skip
    (tmp_path / "phrases" / "de.yaml").write_text("user: Kunde\n", "utf-8")
    assert lint_folders(settings, ("default", "minimal")) == (2, ())


def test_a_section_for_reminders_that_a_preset_brings_is_no_mistake_of_its_user(tmp_path: Path) -> None:
    written(tmp_path, "profiles/coder.yaml", "extends: [default, coding-agent]\n")
    assert shelf(tmp_path).findings(("coder",)) == ()
    own = "extends: default\nsections:\n  - {name: last, source: reminder, title: Last}\n  - {name: current, source: trigger}\n"
    written(tmp_path, "profiles/coder.yaml", own)
    assert "no reminder is in it" in {finding.problem for finding in shelf(tmp_path).findings(("coder",))}


def test_a_hint_of_ones_own_that_a_profile_chose_is_no_stray_file_and_is_linted_with_the_profile(tmp_path: Path) -> None:
    written(tmp_path, "hints/tool-response.md.j2", "- {{ body.output | readable }}\n")
    written(tmp_path, "profiles/mine.yaml", "extends: default\nhints: {tool.response.v1: tool-response}\n")
    assert shelf(tmp_path).findings() == ()
    written(tmp_path, "hints/tool-response.md.j2", "- {{ body.outptu | readable }}\n")
    assert [finding.file for finding in shelf(tmp_path).findings(("mine",))] == ["hints/tool-response.md.j2"]
