"""An edit of templates is seen beside the version before: on a stored message, on a file of events, on standard input."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client import connect
from tests.commands import COMMAND, run
from tests.running import Running

CHAT = (
    {"role": "user", "content": "I keep two kilns, one gas and one electric."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Which of them is cheaper to run?"},
)
WIDE = {"COLUMNS": "160"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An author's folder with one edit."""
    (tmp_path / "mine" / "hints").mkdir(parents=True)
    (tmp_path / "mine" / "hints" / "user.message.v1.md.j2").write_text("- {{ speaker }} said: {{ text | block }}\n", "utf-8")
    return tmp_path / "mine"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("preview"), embedding__engine="none") as running:
        yield running


async def test_an_edit_is_seen_on_a_message_that_the_service_has_answered(service: Running, folder: Path) -> None:
    async with connect(service.url) as client:
        await client.ask("s1", "Which kiln is cheaper to run?", message_id="q1")
    done = run("templates", "preview", "--trigger", "q1", "--templates", str(folder), env=service.env | WIDE)
    assert done.returncode == 0, done.stderr
    assert "│ ≠ │ - User: Which kiln is cheaper to run? │ - User said: Which kiln is cheaper to run? │" in done.stdout
    assert re.search(r"^current +(\d+) +\d+ +\+1$", done.stdout, re.MULTILINE)
    answer = json.loads(run("templates", "preview", "-t", "q1", "--templates", str(folder), "--json", env=service.env).stdout)
    assert answer["after"]["token_count"] == answer["before"]["token_count"] + 1
    async with connect(service.url) as client:
        assert (await client.context(session="s1")).content == answer["before"]["content"]


def test_an_edit_is_seen_on_a_file_of_events_beside_another_version(service: Running, folder: Path, tmp_path: Path) -> None:
    events, other = tmp_path / "chat.jsonl", tmp_path / "other"
    events.write_text("\n".join(map(json.dumps, CHAT)), "utf-8")
    (other / "hints").mkdir(parents=True)
    (other / "hints" / "user.message.v1.md.j2").write_text("- {{ speaker }} asked: {{ text | block }}\n", "utf-8")
    arguments = ("templates", "preview", str(events), "--templates", str(folder))
    done = run(*arguments, "--before", str(other), "--page", env=service.env | WIDE)
    assert "│ - User asked: Which of them is cheaper to run? " in done.stdout
    assert done.stdout.endswith("## Current User Message\n- User said: Which of them is cheaper to run?\n")


def test_standard_input_is_a_fixture_too(service: Running, folder: Path) -> None:
    command = [COMMAND, "templates", "preview", "-", "--templates", str(folder), "--profile", "minimal"]
    chat = "\n".join(map(json.dumps, CHAT))
    done = subprocess.run(command, input=chat, env=service.env | WIDE, capture_output=True, text=True, check=False)
    assert "User said: Which of them is cheaper to run?" in done.stdout, done.stderr


def test_an_edit_that_cannot_be_used_says_where_and_what_to_write(service: Running, folder: Path, tmp_path: Path) -> None:
    events = tmp_path / "chat.jsonl"
    events.write_text("\n".join(map(json.dumps, CHAT)), "utf-8")
    (folder / "hints" / "user.message.v1.md.j2").write_text("- {{ speaker }}: {{ text | blok }}\n", "utf-8")
    done = run("templates", "preview", str(events), "--templates", str(folder), env=service.env)
    assert done.returncode != 0
    assert "hints/user.message.v1.md.j2 line 1: there is no filter 'blok'; write block" in done.stderr


def test_without_a_folder_or_anything_to_look_at_it_says_what_to_name(service: Running, folder: Path) -> None:
    assert "use --templates DIR" in run("templates", "preview", "-t", "q1", env=service.env).stderr
    assert "--trigger ID of a stored message" in run("templates", "preview", "--templates", str(folder), env=service.env).stderr
    missing = run("templates", "preview", "nofile.jsonl", "--templates", str(folder), env=service.env)
    assert (missing.returncode, missing.stderr) == (
        65,
        "context-builder: nofile.jsonl cannot be read: No such file or directory; name another file\n",
    )
