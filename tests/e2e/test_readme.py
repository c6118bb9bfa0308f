"""The README's code is run, its pages and commands are real."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from builder.app import open_service, serving
from builder.bench.datasets import sample_lines
from builder.bench.tokens import LAST_JSON, baselines
from builder.cli.commands import application
from builder.cli.demo import run_demo
from builder.client import connect
from builder.settings import Embedding, Http, Nats, Settings
from tests.models import MODELS_DIR, prepared

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, mark
    return found[1]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    prepared()
    return Settings(data_dir=tmp_path, nats=Nats(port=-1), http=Http(port=0), embedding=Embedding(models_dir=MODELS_DIR))


async def test_the_agent_of_the_readme_answers(settings: Settings) -> None:
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(block("agent"), "README.md", "exec"), names)  # noqa: S102 - our own README
    async with open_service(settings) as service, serving(service):
        agent = asyncio.create_task(names["agent"](service.url))
        async with connect(service.url) as client:
            await client.send_user_message("s1", "Where does the API key go?")
            deadline = asyncio.get_running_loop().time() + 60
            while "I read " not in await _page(client):
                assert asyncio.get_running_loop().time() < deadline
        agent.cancel()
        await asyncio.wait({agent})


async def _page(client: Any) -> str:
    """Ask again as somebody else and read what the agent has said by then."""
    contexts = client.contexts("default", durable=None)
    identity = await client.send_user_message("s1", "And what have you read so far?")
    try:
        async for context in contexts:
            if context.trigger_event_id == identity:
                return str(context.content)
    finally:
        await contexts.aclose()
    return ""


async def test_the_page_of_the_readme_is_the_demo_s(settings: Settings) -> None:
    result = await run_demo(settings, 120)
    page = result["context"]["content"].splitlines()
    for line in filter(None, block("demo").splitlines()):
        assert line in page
    assert block("before") in baselines(sample_lines())[LAST_JSON]
    tokens = {name: row["tokens"] for name, row in result["baselines"].items()}
    assert f"{tokens['this context']:,} tokens" in README
    assert f"{tokens['last 20 as pretty JSON with the catalog']:,} tokens" in README


def test_every_command_of_the_readme_exists() -> None:
    tree = get_command(application)
    for words in re.findall(r"context-builder ([a-z][a-z -]*[a-z])", README):
        command: Any = tree
        for word in words.split():
            if not hasattr(command, "commands"):
                break
            assert word in command.commands, words
            command = command.commands[word]


def test_every_link_of_the_readmes_leads_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "builder" / "README.md"):
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), target
