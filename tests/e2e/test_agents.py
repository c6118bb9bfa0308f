"""The examples of `builder/docs/agents.md`, each a file that runs: the page shows the files, so the two cannot differ."""

import asyncio
import json
import os
import re
import runpy
import shlex
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nats
import pytest

from builder.client.sync import SyncClient, connect
from tests.chat_endpoint import Chat, call, calling, endpoint
from tests.commands import DEADLINE
from tests.running import Process, Running, jetstream, wait_for

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "builder" / "docs"
EXAMPLES = DOCS / "examples"
FILES = sorted(file for file in EXAMPLES.iterdir() if file.is_file())
NAMES = (
    "agents.md",
    "answers.md",
    "several-agents.md",
    "own-loop.md",
    "tools.md",
    "protocol.md",
    "frameworks.md",
    "two-lines.md",
)
PAGES = (ROOT / "README.md", *(DOCS / name for name in NAMES))
BLOCK = re.compile(r"<!-- example ([\w./-]+): [^\n]*UPDATE_DOCS=1 -->\n\n?```\w+\n(.*?)```\n", re.DOTALL)
MAX_LINES = 20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The service with the profiles of the examples, without an engine."""
    folder = tmp_path_factory.mktemp("agents")
    profiles = folder / "templates" / "profiles"
    profiles.mkdir(parents=True)
    for file in EXAMPLES.glob("*.yaml"):
        (profiles / file.name).write_text(file.read_text("utf-8"), "utf-8")
    with Running(folder / "data", templates_dir=folder / "templates", embedding__engine="none") as running:
        yield running


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[SyncClient]:
    """A client of the service."""
    with connect(service.url) as connected:
        yield connected


def weather_model(messages: Chat) -> dict[str, Any]:
    """Asks for two cities at once, and then says which is warmer."""
    results = [message for message in messages if message["role"] == "tool"]
    if not results:
        return calling(call("call_1", "weather", city="Oslo"), call("call_2", "weather", city="Lima"))
    return {"role": "assistant", "content": f"Lima is warmer: {' and '.join(each['content'] for each in results)}"}


def test_the_agent_with_a_tool_calls_twice_at_once_and_answers_from_both_results(
    service: Running, client: SyncClient, tmp_path: Path
) -> None:
    with endpoint(weather_model) as chat:
        env = service.env | {"NATS_URL": service.url, "CHAT_URL": f"{chat.base_url}/chat/completions", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(EXAMPLES / "tool_agent.py")]
        with Process(command, env, tmp_path / "agent.log") as agent:
            wait_for(lambda: listens(service, "weather-agent") or not agent.running, "the agent to listen")
            assert agent.running, agent.said()
            talk = runpy.run_path(str(EXAMPLES / "answer.py"))["talk"]
            *tools, said = talk("loop", "Where is it warmer, Oslo or Lima?", service.url)
            wait_for(lambda: len(texts(client, "loop")) == 5, "the answer to be remembered")
            agent.signal(signal.SIGINT)
            assert (agent.wait(), agent.said()) == (0, "")
    question, first, *results, answer = texts(client, "loop")
    assert (question, first) == (("user.message.v1", "Where is it warmer, Oslo or Lima?"), ("agent.response.v1", ""))
    assert sorted(results) == [("tool.response.v1", "weather celsius: 10.0"), ("tool.response.v1", "weather celsius: 19.0")]
    assert answer[1].startswith("Lima is warmer: ")
    assert (tools, said) == (["weather", "weather"], answer[1])
    assert chat.refusals == []
    asked, continued = chat.requests
    assert (asked[-1]["role"], [message["role"] for message in continued[-3:]]) == ("user", ["assistant", "tool", "tool"])
    assert [each["id"] for each in continued[-3]["tool_calls"]] == ["call_1", "call_2"]
    assert [(message["tool_call_id"], "1" in message["content"]) for message in continued[-2:]] == [
        ("call_1", True),
        ("call_2", True),
    ]


def listens(service: Running, consumer: str) -> bool:
    """Whether the consumer has its durable."""
    return f"default={consumer}" in str(durables(service))


def durables(service: Running) -> list[str]:
    """Of the stream of contexts."""

    async def names() -> list[str]:
        async with jetstream(service.url) as js:
            return [info.name for info in await js.consumers_info("CONTEXTS")]

    return asyncio.run(names())


def texts(client: SyncClient, session: str) -> list[tuple[str, str]]:
    """Schema and text of what is remembered of the session."""
    return [(record.schema, record.text) for record in client.history(session)]


def test_the_agent_with_a_tool_is_short_with_its_profile() -> None:
    texts = [(EXAMPLES / name).read_text("utf-8") for name in ("tool_agent.py", "weather-agent.yaml")]
    lines = [line for text in texts for line in text.splitlines()]
    assert sum(bool(line.strip()) and '"""' not in line for line in lines) <= MAX_LINES


def test_a_person_is_answered_by_one_call(service: Running, client: SyncClient) -> None:
    names = runpy.run_path(str(EXAMPLES / "ask.py"))
    said = asyncio.run(names["answer"]("maya@example.com", "Where does the API key go?", service.url))
    assert re.fullmatch(r"I read \d+ tokens\.", said)
    wait_for(lambda: len(texts(client, "maya@example.com")) == 2, "the answer to be remembered")
    assert texts(client, "maya@example.com") == [("user.message.v1", "Where does the API key go?"), ("agent.response.v1", said)]
    assert asyncio.run(names["answer"]("", "Hello.", service.url)).startswith("That cannot be sent: session is an empty text")


@pytest.mark.parametrize("name", ["agent.py", "sync_agent.py"])
def test_an_agent_answers_until_ctrl_c(service: Running, client: SyncClient, tmp_path: Path, name: str) -> None:
    script = tmp_path / name
    script.write_text((EXAMPLES / name).read_text("utf-8").replace("nats://127.0.0.1:4222", service.url), "utf-8")
    with Process([sys.executable, str(script)], service.env | {"PYTHONPATH": str(ROOT)}, tmp_path / "log") as agent:
        wait_for(lambda: listens(service, "default") or not agent.running, "the agent to listen")
        client.ask(name, "Hello.")
        wait_for(lambda: len(texts(client, name)) == 2, "the agent to answer")
        agent.signal(signal.SIGINT)
        assert (agent.wait(), agent.said()) == (0, "")


def test_a_loop_of_its_own_answers_a_session_to_its_end(service: Running, client: SyncClient) -> None:
    names = runpy.run_path(str(EXAMPLES / "own_loop.py"))
    with ThreadPoolExecutor() as pool:
        loop = pool.submit(asyncio.run, names["answer_all"](service.url))
        wait_for(lambda: listens(service, "default") or loop.done(), "the loop to listen")
        for text in ("Is the kiln hot?", "Goodbye."):
            client.ask("kiln", text)
        assert loop.result() >= 1, "the page of the second message covers the first one where nobody has answered it"


def test_plain_nats_speaks_the_same_protocol(service: Running, client: SyncClient) -> None:
    names = runpy.run_path(str(EXAMPLES / "plain_nats.py"))
    assert "Where does the API key go?" in asyncio.run(names["talk"](service.url))
    wait_for(lambda: len(texts(client, "s1")) == 2, "the answer to be remembered")
    assert texts(client, "s1")[-1] == ("agent.response.v1", "Under Secrets.")


def test_the_commands_of_the_protocol_do_what_they_say(service: Running) -> None:
    """The `nats` command is no Python package, so nats-py does what each line says."""
    found = re.search(r"<!-- commands: .*? -->\n\n```sh\n(.*?)```", (DOCS / "protocol.md").read_text("utf-8"), re.DOTALL)
    assert found
    subscribe, publish, history, context = map(shlex.split, found[1].strip().splitlines())
    page, records, event = asyncio.run(_commands(service.url, subscribe[4], publish[2:], history[2:], context[2:]))
    assert "Where does the API key go?" in page["content"]
    assert (records["breadcrumbs"][-1]["id"], event) == ("m1", page)


async def _commands(url: str, subject: str, publish: list[str], *requests: list[str]) -> list[dict[str, Any]]:
    connection = await nats.connect(url)
    subscription = await connection.subscribe(subject)
    where, _, header, data = publish
    await connection.publish(where, data.encode(), headers=dict([header.split(":", 1)]))
    answers = [(await subscription.next_msg(DEADLINE)).data]
    answers += [(await connection.request(where, data.encode(), timeout=DEADLINE)).data for where, data in requests]
    await connection.close()
    return [json.loads(answer) for answer in answers]


def test_the_test_of_an_agent_passes() -> None:
    runpy.run_path(str(EXAMPLES / "test_my_agent.py"))["test_my_agent_reads_what_was_said_before"]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_the_files(page: Path) -> None:
    text = page.read_text("utf-8")
    filled = BLOCK.sub(lambda block: block[0].removesuffix(f"{block[2]}```\n") + shown(EXAMPLES / block[1]) + "```\n", text)
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(filled, "utf-8")
    assert page.read_text("utf-8") == filled


def shown(file: Path) -> str:
    return file.read_text("utf-8")


def test_each_example_is_on_a_page() -> None:
    assert sorted({name for page in PAGES for name, _ in BLOCK.findall(page.read_text("utf-8"))}) == [file.name for file in FILES]
