"""`context-builder profiles` as authors run it."""

import json
import subprocess
from pathlib import Path

from tests import commands
from tests.models import MODELS_DIR, prepared
from tests.running import environment


def run(*arguments: str, home: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """A command with its data in `home`."""
    prepared()
    return commands.run(*arguments, env=environment(home, embedding__models_dir=MODELS_DIR, **settings))


def test_profiles_and_presets_are_listed_with_who_triggers_them(tmp_path: Path) -> None:
    listed = {item["name"]: item for item in json.loads(run("profiles", "list", "--json", home=tmp_path).stdout)}
    assert (listed["default"]["kind"], listed["default"]["triggers"]) == ("profile", ["user.message.v1"])
    assert (listed["minimal"]["kind"], listed["minimal"]["triggers"], listed["minimal"]["tokens"]) == ("preset", [], 2000)
    assert "minimal" in run("profiles", "list", home=tmp_path).stdout


def test_show_says_where_each_value_comes_from(tmp_path: Path) -> None:
    assert "budget: 2000  # presets/minimal.yaml\n" in run("profiles", "show", "minimal", home=tmp_path).stdout
    shown = json.loads(run("profiles", "show", "minimal", "--json", home=tmp_path).stdout)
    assert shown["window.trim_to"] == {"value": 4, "from": "presets/minimal.yaml"}
    unknown = run("profiles", "show", "minimall", home=tmp_path)
    assert (unknown.returncode, "there is no profile or preset 'minimall'" in unknown.stderr) == (78, True)


def test_diff_shows_only_what_differs(tmp_path: Path) -> None:
    differs = json.loads(run("profiles", "diff", "default", "minimal", "--json", home=tmp_path).stdout)
    assert differs["budget"] == [4000, 2000]
    assert "page" not in differs


def test_lint_ends_with_one_for_errors_and_with_nought_for_notes_and_says_what_to_do(tmp_path: Path) -> None:
    clean = run("profiles", "lint", home=tmp_path)
    assert (clean.returncode, clean.stdout) == (0, "")
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("extends: default\ntriggers: [user.mesage.v1]\n")
    told = run("profiles", "lint", home=tmp_path, templates_dir=tmp_path)
    assert told.returncode == 1
    assert told.stdout == "profiles/mine.yaml line 2: `triggers`: no schema is called 'user.mesage.v1'; write user.message.v1\n"
    (tmp_path / "profiles" / "mine.yaml").write_text("extends: default\ntriggers: [order.placed.v2]\n")
    note = [run("profiles", "lint", "mine", *more, home=tmp_path, templates_dir=tmp_path) for more in ((), ("--strict",))]
    assert [done.returncode for done in note] == [0, 1]
    assert note[0].stdout.startswith(
        "profiles/mine.yaml line 2: note: `triggers`: no sender of 'order.placed.v2' is known; mend "
    )


def events(folder: Path) -> str:
    """A file of a short talk."""
    lines = [{"id": f"m{n}", "schema_name": "user.message.v1", "context": {"content": f"Line {n}."}} for n in range(4)]
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return str(folder / "events.jsonl")


def test_build_says_in_a_line_what_a_hint_could_not_render_and_shows_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "hints").mkdir()
    hint = "{{ speaker }}: {{ text }}{% if text.startswith('Line') %}{{ text[500] }}{% endif %}"
    (tmp_path / "hints" / "user.message.v1.md.j2").write_text(hint)
    done = run("build", events(tmp_path), home=tmp_path, templates_dir=tmp_path)
    assert done.returncode == 0
    assert [f"user.message.v1: content: Line {n}." in done.stdout for n in range(4)] == [True] * 4
    assert done.stderr == (
        "hints/user.message.v1.md.j2 failed 4 times, the generic hint is shown: line 1: str object has no element 500\n"
    )


def test_a_hint_with_a_misspelt_name_is_told_by_build_and_by_lint_before_anything_is_made_with_it(tmp_path: Path) -> None:
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints" / "user.message.v1.md.j2").write_text("{{ speaker }}: {{ txet }}")
    mine = {"templates_dir": tmp_path}
    done = run("build", events(tmp_path), home=tmp_path, **mine)
    assert (done.returncode, done.stdout) == (78, "")
    said = "hints/user.message.v1.md.j2 line 1: 'txet' is no value of a template; write text\n"
    assert done.stderr == f"context-builder: {said}"
    assert "'txet' is no value of a template; write text" in run("profiles", "lint", home=tmp_path, **mine).stdout
