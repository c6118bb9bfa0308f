"""The README is short, its figures are the demo's, and its commands work. Its examples are files that `test_agents.py` runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from builder.app.settings import EmbeddingSettings, HttpSettings, NatsSettings, Settings
from builder.cli.build import build_once
from builder.extras.demo.playback import run_demo
from tests.commands import COMMAND, NOBODY_LISTENS
from tests.models import MODELS_DIR, prepared
from tests.running import Running

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
MAX_LINES, MAX_WORDS, MAX_FIRST_WORDS = 150, 900, 150
"""Of the whole, and before the first command."""
SMALL = "extends: default\nbudget: 200\nshow_tool_catalog: false\n"
"""The profile of the page that it shows."""
EVIDENCE = "The key stands in the secrets configuration now"
ROWS = {
    "the last 20 messages and tools, as JSON": "last 20 as pretty JSON with the catalog",
    "the last 20 messages, as text": "last 20 as text",
    "the default page, of at most 4,000": "this context",
}
"""Rows of the README → what the demo calls them."""
PAGE_TOLERANCE = 0.01
"""Of the page's tokens: another processor makes other vectors, and then other finds have the last of the room."""


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark}: .*? -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, mark
    return found[1]


def test_the_readme_is_read_in_one_go() -> None:
    assert len(README.splitlines()) <= MAX_LINES
    assert len(README.split()) <= MAX_WORDS
    assert len(README.partition("make demo")[0].split()) <= MAX_FIRST_WORDS
    assert len(re.findall(r"^!\[[^]]+\]\(builder/docs/pictures/", README, re.MULTILINE)) == 2


def test_each_step_of_the_demo_says_what_it_took(tmp_path: Path) -> None:
    command = ["make", "--dry-run", "--always-make", "demo", f"VENV={tmp_path}"]
    steps = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert re.findall(r'echo "(.*) took', steps) == ["pip", "preparing the model", "the demo"]


async def test_the_small_page_of_the_readme_is_built_from_the_sample(tmp_path: Path) -> None:
    prepared()
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "small.yaml").write_text(SMALL, "utf-8")
    settings = Settings(templates_dir=tmp_path, embedding=EmbeddingSettings(models_dir=MODELS_DIR))
    sample = (ROOT / "builder" / "extras" / "demo" / "events.jsonl").read_text("utf-8").splitlines()
    event = await build_once(settings, sample, "default", "sample", "small", "", lambda _: None)
    told = re.search(r"^\| the page above \| (\d+) \| 1 of 3 \|", README, re.MULTILINE)
    assert told
    assert event["token_count"] <= 200
    assert int(told[1]) == pytest.approx(event["token_count"], rel=0.1), "another processor finds other messages"
    assert EVIDENCE in event["content"]
    assert EVIDENCE in block("output")


async def test_the_tokens_of_the_readme_are_the_demo_s(tmp_path: Path) -> None:
    prepared()
    settings = Settings(
        data_dir=tmp_path,
        nats=NatsSettings(port=-1),
        http=HttpSettings(port=0),
        embedding=EmbeddingSettings(models_dir=MODELS_DIR),
    )
    result = await run_demo(settings, 120)
    for row, name in ROWS.items():
        figures = result["baselines"][name]
        told = re.search(rf"^\| {row} \| ([\d,]+) \| {figures['answers']} of {figures['of']} \|", README, re.MULTILINE)
        assert told, row
        tolerance = PAGE_TOLERANCE if name == "this context" else 0
        assert int(told[1].replace(",", "")) == pytest.approx(figures["tokens"], rel=tolerance, abs=0)


def test_the_commands_of_the_readme_work_in_a_shell_that_knows_nothing(tmp_path: Path) -> None:
    """Only the environment is another one here: the tests may run in any."""
    prepared()
    makes, send = block("commands").splitlines(), block("send")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [line.split()[:2] for line in makes] == [["make", "demo"], ["make", "test"]]
    assert {"demo", "test", "up"} <= set(targets)
    with Running(tmp_path, embedding__models_dir=MODELS_DIR) as service:
        env = {"PATH": os.defpath, "CONTEXT_BUILDER_DATA_DIR": service.env["CONTEXT_BUILDER_DATA_DIR"], "PYTHONPATH": str(ROOT)}
        script = send.replace(".venv/bin/context-builder", COMMAND)
        done = subprocess.run(["bash", "-e", "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, NOBODY_LISTENS)
    assert "Where does the API key go?" in done.stdout


@pytest.mark.parametrize("word", ["tool.response.v1", "chat_format: openai"])
def test_the_readme_says_what_the_profile_needs_for_the_tool_loop(word: str) -> None:
    assert word in README
