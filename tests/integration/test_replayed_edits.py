"""An edit of templates is seen beside the published page of a stored message."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client import connect
from tests.commands import run
from tests.running import Running

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
    done = run("replay", "q1", "--templates", str(folder), env=service.env | WIDE)
    assert done.returncode == 0, done.stderr
    assert "│ ≠ │ - User: Which kiln is cheaper to run? │ - User said: Which kiln is cheaper to run? │" in done.stdout
    assert re.search(r"^current +(\d+) +\d+ +\+1$", done.stdout, re.MULTILINE)
    answer = json.loads(run("replay", "q1", "--templates", str(folder), "--json", env=service.env).stdout)
    assert answer["after"]["token_count"] == answer["before"]["token_count"] + 1
    async with connect(service.url) as client:
        assert (await client.context(session="s1")).content == answer["before"]["content"]
