"""`context-builder profiles` as authors run it."""

import json
from pathlib import Path

from tests.e2e.test_cli import run


def test_profiles_and_presets_are_listed_with_who_triggers_them(tmp_path: Path) -> None:
    listed = {item["name"]: item for item in json.loads(run("profiles", "list", "--json", home=tmp_path).stdout)}
    assert (listed["default"]["kind"], listed["default"]["triggers"]) == ("profile", ["user.message.v1"])
    assert (listed["minimal"]["kind"], listed["minimal"]["triggers"], listed["minimal"]["tokens"]) == ("preset", [], 2000)
    assert "minimal" in run("profiles", "list", home=tmp_path).stdout


def test_show_says_where_each_value_comes_from(tmp_path: Path) -> None:
    assert "budget: 2000  # presets/minimal.yaml\n" in run("profiles", "show", "minimal", home=tmp_path).stdout
    shown = json.loads(run("profiles", "show", "minimal", "--json", home=tmp_path).stdout)
    assert shown["window.keep"] == {"value": 4, "from": "presets/minimal.yaml"}
    unknown = run("profiles", "show", "minimall", home=tmp_path)
    assert (unknown.returncode, "there is no profile or preset 'minimall'" in unknown.stderr) == (78, True)


def test_diff_shows_only_what_differs(tmp_path: Path) -> None:
    differs = json.loads(run("profiles", "diff", "default", "minimal", "--json", home=tmp_path).stdout)
    assert differs["budget"] == [4000, 2000]
    assert "page" not in differs


def test_lint_ends_with_one_when_anything_is_wrong_and_says_what_to_do(tmp_path: Path) -> None:
    clean = run("profiles", "lint", home=tmp_path)
    assert (clean.returncode, clean.stdout) == (0, "")
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("extends: default\ntriggers: [user.mesage.v1]\n")
    told = run("profiles", "lint", home=tmp_path, CONTEXT_BUILDER_TEMPLATES_DIR=str(tmp_path))
    assert told.returncode == 1
    assert told.stdout == "profiles/mine.yaml triggers: no schema is called 'user.mesage.v1'; write user.message.v1\n"
