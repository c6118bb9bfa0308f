"""Where nobody answers, whoever asks is told soon, in one sentence; nothing waits without end and nothing floods the log."""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import nats
import pytest

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, Topology, ensure_streams
from builder.client import Client, Rejected, Unavailable, connect, sync
from builder.client.requests import Requests
from builder.connection.opening import FIRST_SECONDS, open_connection
from tests.commands import COMMAND, DEADLINE, run
from tests.free_ports import LOOPBACK
from tests.integration.profiles import with_profiles
from tests.running import Broker, Process, Running, dead_letters, environment, jetstream, until, wait_for

LONG = "A message without room on the page. " * 99


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nothing listens while the block runs."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        yield f"nats://{LOOPBACK}:{taken.getsockname()[1]}"


@asynccontextmanager
async def broker_alone(folder: Path) -> AsyncIterator[Broker]:
    """A broker on which a service has run, and none runs now."""
    with Broker(folder) as broker:
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
        yield broker


@contextmanager
def mute() -> Iterator[str]:
    """An address at which something listens that says nothing."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        yield f"nats://{LOOPBACK}:{listening.getsockname()[1]}"


@pytest.mark.parametrize("place", [nobody, mute])
async def test_connecting_to_nobody_is_unavailable_with_the_address(
    place: Callable[[], AbstractContextManager[str]], caplog: pytest.LogCaptureFixture
) -> None:
    with place() as url, pytest.raises(Unavailable, match=f"no NATS server answered at {url}: "):
        async with asyncio.timeout(DEADLINE), connect(url):
            raise AssertionError(url)
    assert caplog.records == []


def test_the_first_connection_leaves_a_command_time_to_answer_within_five_seconds() -> None:
    assert FIRST_SECONDS < 3


@pytest.mark.parametrize(
    "command",
    [
        ("send", "Hello."),
        ("send", "Hello.", "--wait", "default"),
        ("watch",),
        ("history", "s1"),
        ("fetch", "m1"),
        ("context", "-s", "s1"),
        ("forget", "m1"),
        ("import", "FILE"),
        ("export", "s1"),
        ("dead-letters", "list"),
    ],
    ids=" ".join,
)
def test_every_command_says_in_one_sentence_that_nobody_answers(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"id": "m1", "schema_name": "note.v1", "context": {"content": "One."}}\n', "utf-8")
    with nobody() as url:
        done = run(*(str(file) if word == "FILE" else word for word in command), env=environment(tmp_path, nats__servers=url))
    assert (done.returncode, done.stdout) == (69, "")
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("context-builder: ")]
    assert sentence.startswith(f"context-builder: no NATS server answered at {url}: ")
    assert "Traceback" not in done.stderr


async def test_who_was_connected_once_reconnects_and_says_so_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with broker_alone(tmp_path / "broker") as broker:
        attempts: list[Exception] = []
        connection = await open_connection(broker.url, reconnect_time_wait=0.05)
        try:
            heard = connection._error_cb

            async def listen(error: Exception) -> None:
                attempts.append(error)
                await heard(error)

            connection._error_cb = listen
            assert broker.stop() is not None
            await until(lambda: has(len(attempts) > 10), "attempts to connect again")
            broker.start()
            await until(lambda: has(connection.is_connected and len(caplog.records) > 1), "the connection, and both lines")
            await Client(connection, "acme").send_user_message("s1", "Still here.")
        finally:
            await connection.close()
    lost, back = [record.getMessage() for record in caplog.records]
    assert lost.startswith(f"no connection to {broker.url}: ")
    assert back == f"connected to {broker.url} again"
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


async def has(condition: bool) -> bool:
    return condition


def test_while_the_broker_is_away_its_service_says_so_in_a_line_of_each_part_and_no_answer_is_lost(tmp_path: Path) -> None:
    with (
        Broker(tmp_path / "broker") as broker,
        Running(tmp_path / "data", broker.url) as service,
        ThreadPoolExecutor() as threads,
        sync.connect(broker.url, reconnect_time_wait=0.05) as client,
    ):
        before = len(service.said())
        answer = threads.submit(lambda: client.answer("s1", "Hello.", message_id="m1").text)
        wait_for(lambda: bool(list(client.history("s1"))), "the message to be remembered")
        broker.stop()
        wait_for(lambda: "watching the streams failed" in service.said(), "the watchdog to say so")
        broker.start()
        wait_for(lambda: "again" in service.said()[before:].rpartition("connected to")[2], "the connection to come back")
        with sync.connect(broker.url) as agent:
            creator = {"type": "agent", "agent_id": "default"}
            body = {"message": "Hello to you.", "trigger_event_id": "m1", "creator": creator}
            agent.send("agent.response.v1", body, session="s1")
        assert answer.result(DEADLINE) == "Hello to you."
        lines = [line for line in service.said()[before:].splitlines() if " WARNING " in line or " ERROR " in line]
        assert sum("no connection to" in line for line in lines) == 1
        assert sum("watching the streams failed" in line for line in lines) == 1
        assert "Traceback" not in service.said()[before:]


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker) -> Iterator[Running]:
    """The service with a profile that nothing triggers, and one on whose page no long message has room."""
    profiles = {"on-demand": "extends: default\ntriggers: []\n", "tiny": "extends: default\nbudget: 50\n"}
    with Running(folder / "service", broker.url, templates_dir=with_profiles(folder, profiles)) as running:
        yield running


@pytest.mark.parametrize("command", [("watch", "-c", "nosuch"), ("send", "Hello.", "--wait", "nosuch")])
def test_an_agent_that_no_profile_names_is_refused_with_the_known_names(service: Running, command: tuple[str, ...]) -> None:
    done = run(*command, env=service.env)
    assert (done.returncode, done.stderr.count("\n")) == (65, 1)
    known = "default, framework, on-demand, recall, tiny"
    assert f"no profile of the service names the consumer 'nosuch'; known are {known}" in done.stderr


async def test_a_client_that_listens_for_nobody_is_told(service: Running, caplog: pytest.LogCaptureFixture) -> None:
    async with connect(service.url) as client:
        assert (await client.consumer("on-demand")).triggers == ()
        with pytest.raises(Rejected, match="no profile of the service names the consumer 'nosuch'"):
            await anext(client.contexts("nosuch"))
        async with client.subscribed("on-demand", durable=None):
            assert [record.getMessage() for record in caplog.records] == [
                "no contexts come for 'on-demand': its profile has no triggers; add one"
            ]


async def test_a_client_that_listens_while_no_service_runs_is_told_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        broker_alone(tmp_path / "broker") as broker,
        connect(broker.url, "acme") as client,
        client.subscribed("default", durable=None) as contexts,
    ):
        (warning,) = [record.getMessage() for record in caplog.records]
        assert warning.startswith("no contexts come for 'default' until a service runs: nobody answers on requests.acme.")
        with Running(tmp_path / "data", broker.url):
            await client.send_user_message("s1", "Hello.", message_id="m1")
            assert (await asyncio.wait_for(anext(contexts), DEADLINE)).trigger_event_id == "m1"


async def test_waiting_for_a_context_that_cannot_come_is_refused_before_anything_is_sent(service: Running) -> None:
    async with jetstream(service.url) as js:
        before = (await js.stream_info(BREADCRUMBS)).state.last_seq
        done = await asyncio.to_thread(run, "send", "Hello.", "--wait", "on-demand", env=service.env)
        assert (done.returncode, done.stderr.count("\n")) == (65, 1)
        assert "no contexts come for 'on-demand': its profile has no triggers; add one" in done.stderr
        assert (await js.stream_info(BREADCRUMBS)).state.last_seq == before


async def test_a_question_that_nobody_answers_in_time_is_unavailable(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        connection = await nats.connect(broker.url)
        try:
            await connection.subscribe("requests.acme.fetch")
            await connection.flush()
            with pytest.raises(Unavailable, match=r"no answer came on requests\.acme\.fetch within 0.2 s"):
                await Requests(connection, "acme").request("fetch", {"id": "m1"}, timeout=0.2)
        finally:
            await connection.close()


@pytest.mark.parametrize("command", [("watch",), ("send", LONG, "--wait", "tiny")], ids=["watch", "send"])
async def test_ctrl_c_ends_a_command_that_waits_without_a_traceback(service: Running, command: tuple[str, ...]) -> None:
    log = Path(service.env["CONTEXT_BUILDER_DATA_DIR"]) / f"interrupted-{command[0]}"
    async with jetstream(service.url) as js:

        async def listening() -> int:
            return len(await js.consumers_info(CONTEXTS)) + len(await dead_letters(js))

        before = await listening()
        with Process([COMMAND, *command], service.env, log) as process:

            async def is_listening() -> bool:
                return await listening() > before

            await until(is_listening, "the command to listen")
            process.signal(signal.SIGINT)
            process.wait()
    assert "Traceback" not in log.read_text("utf-8")
