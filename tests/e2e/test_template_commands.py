"""`context-builder templates` as authors run it."""

import json
from pathlib import Path

from builder.app.config import bundled_folder
from tests import commands
from tests.running import environment

SCHEMA = {"properties": {"title": {"type": "string", "examples": ["Clay"]}, "kilos": {"type": "integer", "examples": [400]}}}


def test_the_bundled_cases_are_as_expected_pages_included(tmp_path: Path) -> None:
    done = commands.run("templates", "test", env=environment(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    cases = [file for file in (bundled_folder("templates") / "cases").iterdir() if file.suffix != ".md"]
    assert done.stderr == f"cases: {len(cases)}, as expected: {len(cases)}\n"
    assert "cases/kiln-talk.jsonl                profile default                      ok\n" in done.stdout


def test_a_first_hint_is_written_edited_and_tested(tmp_path: Path) -> None:
    (tmp_path / "delivery.json").write_text(json.dumps(SCHEMA), "utf-8")
    folder = tmp_path / "templates"
    env = environment(tmp_path)
    new = ("templates", "new", "delivery.v1", "--from-schema", str(tmp_path / "delivery.json"), "--output", str(folder))
    assert commands.run(*new, env=env).stdout == "- Delivery\n  - Title: Clay\n  - Kilos: 400\n"
    again = commands.run(*new, env=env)
    assert (again.returncode, "is there already, and nothing is written over; edit it" in again.stderr) == (78, True)
    own = environment(tmp_path, templates_dir=folder)
    assert commands.run("templates", "test", env=own).returncode == 0
    hint = folder / "hints" / "delivery.v1.md.j2"
    hint.write_text(hint.read_text("utf-8").replace("Kilos: {{ body.kilos | readable | below }}", "{{ body.kilos }} kg"), "utf-8")
    differs = commands.run("templates", "test", env=own)
    assert differs.returncode == 1
    assert differs.stdout == (
        "cases/delivery.v1.json               hints/delivery.v1.md.j2              differs\n"
        "     - Delivery\n       - Title: Clay\n    -  - Kilos: 400\n    +  - 400 kg\n"
    )
    assert commands.run("templates", "test", "--update", env=own).returncode == 0
    assert commands.run("templates", "test", "delivery.v1", env=own).returncode == 0
    assert commands.run("templates", "lint", env=own).returncode == 0
    hint.write_text("{% include 'x' %}", "utf-8")
    broken = commands.run("templates", "lint", env=own)
    assert (broken.returncode, "line 1: {% include %} loads another file" in broken.stdout) == (1, True)


def test_new_and_test_say_what_is_missing(tmp_path: Path) -> None:
    env = environment(tmp_path)
    nowhere = commands.run("templates", "new", "note.v1", env=env)
    assert (nowhere.returncode, "write --output DIR, or set CONTEXT_BUILDER_TEMPLATES_DIR" in nowhere.stderr) == (78, True)
    unknown = commands.run("templates", "test", "nothing.v1", env=env)
    assert (unknown.returncode, "no case, hint or profile is called 'nothing.v1'; " in unknown.stderr) == (78, True)


def test_the_sandbox_is_measured_beside_jinja_alone(tmp_path: Path) -> None:
    done = commands.run("bench", "sandbox", "--rounds", "5", "--json", env=environment(tmp_path))
    figures = json.loads(done.stdout)
    assert figures["fragments"] >= len(figures["hints"]) >= 14
    assert figures["hints"]["user.message.v1"]["sandboxed_ms"] > 0
