"""What is missing on a page, in cells, as a picture and in a line of the command that waits for it."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client import Client, connect
from builder.extras.explain.strip_picture import strip_svg
from tests.commands import run
from tests.running import Running

SESSION, MUCH = "shop", 70
FACT, QUESTION = "The openrouter key goes into the secrets configuration, under Settings.", "Where does the openrouter key go?"
TALK = (
    "nobody came by, the weather was fine again today, and so I swept the shop from one end to the other and back, washed the "
    "windows, watered the plants, and put the new bowls into the rack by the door, where the light of the morning falls on them."
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("strips"), embedding__engine="none") as running:
        yield running


async def talk(client: Client) -> None:
    """A fact far away from the end of the session."""
    await client.send_user_message(SESSION, FACT, message_id="fact")
    for number in range(MUCH):
        await client.send_user_message(SESSION, f"Number {number}: {TALK}")


@pytest.fixture(scope="module")
def asked(service: Running) -> str:
    """Id of a question on whose page the fact is a find; its workspace is changed by nobody."""

    async def prepare() -> str:
        async with connect(service.url, "strip") as client:
            await talk(client)
            return (await client.ask(SESSION, QUESTION)).trigger_event_id

    return asyncio.run(prepare())


async def test_the_session_of_a_page_is_listed_in_cells_and_drawn(asked: str, service: Running, tmp_path: Path) -> None:
    async with connect(service.url, "strip") as client:
        await check_cells(client, asked, tmp_path, service)


async def check_cells(reader: Client, asked: str, tmp_path: Path, service: Running) -> None:
    published, strip = await reader.request("context", {"trigger": asked}), await reader.request("strip", {"trigger": asked})
    states = {cell["id"]: cell["state"] for cell in strip["cells"]}
    assert (len(states), strip["earlier"], strip["content"]) == (MUCH + 2, 0, published["content"])
    assert (states["fact"], states[asked]) == ("found", "whole")
    assert [*states.values()].count("not") == published["omissions"]["count"]
    assert (await reader.request("strip", {"trigger": asked, "most": 2}))["cells"] == strip["cells"][-2:]
    done = run("explain", asked, "--svg", str(tmp_path / "page.svg"), "--workspace", "strip", env=service.env)
    assert (done.returncode, f"drawn into {tmp_path / 'page.svg'}" in done.stderr) == (0, True), done.stderr
    assert (tmp_path / "page.svg").read_text("utf-8") == strip_svg(strip)


async def test_send_and_wait_says_in_a_line_what_is_not_on_the_page_and_how_to_ask_why(service: Running) -> None:
    async with connect(service.url, "line") as client:
        await talk(client)
    done = run("send", QUESTION, "--session", SESSION, "--wait", "default", "--workspace", "line", env=service.env)
    said = re.search(
        r"^\d+ breadcrumbs are not on the page \([\d,]+ tokens; likeliest (\S+), [\w ]+ %\); "
        r"context-builder (why \1 -t \S+ -c default)$", done.stderr, re.MULTILINE,
    )  # fmt: skip
    assert said, done.stderr
    reason = run(*said[2].split(), "--workspace", "line", env=service.env)
    assert " is not on the page: " in reason.stdout
    silent = run("send", "Hello.", "--session", "new", "--wait", "default", "--workspace", "line", env=service.env)
    assert "not on the page" not in silent.stderr
