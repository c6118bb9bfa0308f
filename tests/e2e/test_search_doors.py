"""A search gives the same answers at every door, a row a door: short facts are found in other words, and chances are chances."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from langgraph.store.base import SearchItem
from mcp import Client
from mcp.types import TextContent

from builder.client import connect as connect_here
from builder.client.sync import SyncClient, connect
from builder.extras.mcp.server import mcp_server
from builder.integrations.langgraph_store import BuilderStore
from builder.integrations.mem0 import Memory
from tests.commands import run
from tests.e2e.test_http import token_of
from tests.http_api import Api
from tests.running import Running

FACTS = (
    "I am a vegetarian and live in Oslo.",
    "My dog is called Bello.",
    "I work as a nurse at night.",
    "The car needs new tyres.",
    "My sister Eva moved to Lima.",
    "I am allergic to nuts.",
    "We fly to Rome on 3 May.",
    "My phone number ends in 77.",
)
QUESTIONS = {"what does she eat?": FACTS[0], "Do I have any pets?": FACTS[1], "What is my profession?": FACTS[2]}
USER, NAMESPACE = "ada", ("facts", "ada")
Results = list[tuple[str, float]]
"""Text and probability, the best first."""


@dataclass(frozen=True)
class Doors:
    """The ways into one service that keeps the facts, as messages of a user and as items of a store."""

    service: Running
    client: SyncClient

    def by_client(self, question: str) -> Results:
        return [(each.text, each.probability) for each in self.client.search(question, user_id=USER)]

    def by_http(self, question: str) -> Results:
        async def ask() -> Results:
            async with Api(self.service.http, token_of(self.service)) as api:
                answer = await api.post("/v1/search", text=question, user_id=USER)
            return [(each["text"], each["probability"]) for each in answer.json["passages"]]

        return asyncio.run(ask())

    def by_mcp(self, question: str) -> Results:
        async def ask() -> str:
            async with Client(mcp_server(lambda: connect_here(self.service.url))) as client:
                (content,) = (await client.call_tool("search", {"text": question, "user_id": USER, "limit": 10})).content
            assert isinstance(content, TextContent)
            return content.text

        lines = re.findall(r"\((\d+)%\): (.+)", asyncio.run(ask()))
        return [(text, int(share) / 100) for share, text in lines]

    def by_command(self, question: str) -> Results:
        done = run("search", question, "--user", USER, "--json", env=self.service.env)
        return [(each["text"], each["probability"]) for each in json.loads(done.stdout)]

    def by_mem0(self, question: str) -> Results:
        results = Memory(self.client).search(question, filters={"user_id": USER})["results"]
        return [(each["memory"], each["score"]) for each in results]

    def by_store(self, question: str) -> Results:
        items: list[SearchItem] = BuilderStore(self.client).search(NAMESPACE, query=question)
        return [(each.value["text"], each.score or 0.0) for each in items]


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with (
        Running(tmp_path_factory.mktemp("doors") / "service") as service,
        connect(service.url) as client,
    ):
        store = BuilderStore(client)
        for number, fact in enumerate(FACTS):
            client.send_user_message("talk", fact, user_id=USER, message_id=f"fact-{number}")
            store.put(NAMESPACE, f"fact-{number}", {"text": fact})
        yield Doors(service, client)


@pytest.mark.parametrize(
    "door",
    [Doors.by_client, Doors.by_http, Doors.by_mcp, Doors.by_command, Doors.by_mem0, Doors.by_store],
    ids=["client", "http", "mcp", "command", "mem0", "langgraph store"],
)
def test_short_facts_are_found_in_other_words_with_the_same_probability(
    doors: Doors, door: Callable[[Doors, str], Results]
) -> None:
    for question, fact in QUESTIONS.items():
        results = door(doors, question)
        assert results[0][0] == fact
        assert {text for text, _ in results} == {*FACTS}, "no fact is held back"
        expected = dict(doors.by_client(question))
        for text, probability in results:
            assert 0 <= probability <= 1
            assert probability == pytest.approx(expected[text], abs=0.006), "MCP says whole hundredths"


def test_the_first_request_of_the_documentation_has_a_probability_of_at_most_one(tmp_path: Path) -> None:
    with Running(tmp_path) as service, connect(service.url) as client:
        client.send_user_message("s1", "The kiln is K-4711.")
        (found,) = client.search("Which kiln is it?", session="s1")
    assert 0 < found.probability <= 1
