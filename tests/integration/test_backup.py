"""A backup, taken beside the running service, makes the same streams on an empty broker, and no trigger has two contexts."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, DURABLE, incarnation_of, original_incarnation
from builder.client import connect
from builder.connection.names import Installation
from tests.commands import COMMAND, run
from tests.running import Broker, Process, Running, all_settled, context_bytes, environment, jetstream, say, wait_for

STREAMS = (BREADCRUMBS, CONTEXTS, DEADLETTERS)
OPTIONS: dict[str, Any] = {"embedding__engine": "none", "worker__ack_wait_seconds": 2}
SESSIONS, BEFORE, BESIDE = 4, 10, 60
NEW_DURABLES: dict[str, Literal["all", "new"]] = {"all": "all", "later": "new"}
Content = dict[int, tuple[object, ...]]


async def content_of(js: JetStreamContext, stream: str) -> Content:
    """Sequence → time, subject, headers and bytes of each message."""
    content: Content = {}
    state = (await js.stream_info(stream)).state
    for sequence in range(state.first_seq, state.last_seq + 1):
        try:
            message = await js.get_msg(stream, sequence)
        except NotFoundError:
            continue
        content[sequence] = (message.time, message.subject, message.headers, message.data)
    return content


async def talk(js: JetStreamContext, first: int, end: int) -> None:
    for number in range(first, end):
        await say(js, f"Message {number} is about the blue kiln.", f"s{number % SESSIONS}", f"m{number}")


def is_start(part: Content, whole: Content) -> bool:
    """Whether this is the whole up to some sequence."""
    return bool(part) and part == {sequence: each for sequence, each in whole.items() if sequence <= max(part)}


async def test_what_is_saved_beside_the_running_service_comes_back_as_it_was_and_is_answered_once(tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    with Broker(tmp_path / "one") as broker, Running(tmp_path / "service", broker.url, **OPTIONS) as service:
        async with jetstream(broker.url) as js:
            await js.publish("breadcrumbs.acme.s0.user.message.v1", b"no record", stream=BREADCRUMBS)
            await talk(js, 0, BEFORE)
            await js.delete_msg(BREADCRUMBS, 3)
            await all_settled(js)
            talking = asyncio.create_task(talk(js, BEFORE, BEFORE + BESIDE))
            saved = await asyncio.to_thread(run, "backup", str(folder), "--json", env=service.env)
            assert saved.returncode == 0, saved.stderr
            await talking
            await all_settled(js)
            before = {stream: await content_of(js, stream) for stream in STREAMS}
            answers = await context_bytes(js)
        service.kill()
        broker.kill()
    rows = {row["stream"]: row for row in json.loads(saved.stdout)["streams"]}
    with Broker(tmp_path / "two") as broker:
        restored = run("restore", str(folder), "--json", env=environment(tmp_path / "new", nats__servers=broker.url))
        assert restored.returncode == 0, restored.stderr
        async with jetstream(broker.url) as js:
            after = {stream: await content_of(js, stream) for stream in STREAMS}
            for stream in STREAMS:
                assert is_start(after[stream], before[stream])
                assert len(after[stream]) >= rows[stream]["messages"]
                assert max(after[stream]) <= rows[stream]["last"]
            with Running(tmp_path / "new", broker.url, **OPTIONS):
                await all_settled(js)
                held = await context_bytes(js)
                assert held == answers[: len(held)]
                assert len(held) >= len(after[BREADCRUMBS])  # of the deleted message, too; an unreadable one has none
                await say(js, "Where is the blue kiln?", "s0", "later")
                await all_settled(js)
                assert len(await context_bytes(js)) == len(held) + 1


async def test_messages_that_waited_for_a_worker_are_answered_after_the_restore(tmp_path: Path) -> None:
    with Broker(tmp_path / "one") as broker, Broker(tmp_path / "two") as empty:
        service = Running(tmp_path / "service", broker.url, **OPTIONS)
        async with jetstream(broker.url) as js, jetstream(empty.url) as other:
            with service:
                await talk(js, 0, 4)
                await all_settled(js)
            await talk(js, 4, 7)
            saved = run("backup", str(tmp_path / "backup"), env=service.env)
            assert (saved.returncode, "3 messages wait for a worker" in saved.stderr) == (0, True)
            with service:
                await all_settled(js)
            assert run("restore", str(tmp_path / "backup"), "--servers", empty.url, env=service.env).returncode == 0
            assert len(await context_bytes(other)) == 4
            with Running(tmp_path / "new", empty.url, **OPTIONS):
                await all_settled(other)
                assert await context_bytes(other) == await context_bytes(js)


async def test_a_backup_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, **OPTIONS) as service:
        async with jetstream(broker.url) as js:
            service.kill()
            await talk(js, 0, 5)
            await in_work(js)
            with Process([COMMAND, "backup", str(folder)], service.env, tmp_path / "log"):
                wait_for((folder / "manifest.json").exists, "the first stream")  # the next one waits for the message in work
            first = json.loads((folder / "manifest.json").read_text("utf-8"))["streams"]
            assert list(first) == [BREADCRUMBS]
            unfinished = run("restore", str(folder), env=environment(tmp_path / "other", nats__servers=broker.url))
            assert (unfinished.returncode, "was interrupted: run `context-builder backup" in unfinished.stderr) == (65, True)
            service.start()
            await all_settled(js)
            again = run("backup", str(folder), env=service.env)
            assert again.returncode == 0, again.stderr
            whole = json.loads((folder / "manifest.json").read_text("utf-8"))["streams"]
            assert (whole[BREADCRUMBS], list(whole)) == (first[BREADCRUMBS], [*STREAMS])
            third = run("backup", str(folder), env=service.env)
            assert (third.returncode, "name another folder" in third.stderr) == (65, True)


async def in_work(js: JetStreamContext) -> None:
    """Take a message of the durable without settling it, once no killed worker asks for it."""
    subscription = await js.pull_subscribe_bind(DURABLE, BREADCRUMBS)
    await subscription.fetch(1)


async def test_durables_of_agents_go_on_where_they_were(tmp_path: Path) -> None:
    """One has acknowledged one context and holds another, one has heard of none yet, and one wants only what comes later."""
    with Broker(tmp_path / "one") as broker, Broker(tmp_path / "two") as empty:
        with Running(tmp_path / "service", broker.url, **OPTIONS) as service:
            async with jetstream(broker.url) as js:
                await talk(js, 0, 3)
                await all_settled(js)
            async with (
                connect(broker.url, "acme") as client,
                client.subscribed("default", durable="old", deliver="all") as contexts,
            ):
                await anext(contexts)
                await anext(contexts)
            for name, deliver in NEW_DURABLES.items():
                async with connect(broker.url, "acme") as client, client.subscribed("default", durable=name, deliver=deliver):
                    pass
            assert run("backup", str(tmp_path / "backup"), env=service.env).returncode == 0
        assert run("restore", str(tmp_path / "backup"), "--servers", empty.url, env=service.env).returncode == 0
        async with jetstream(empty.url) as js:
            pending = {info.name: info.num_pending for info in await js.consumers_info(CONTEXTS)}
        assert pending == {"old": 2, "all": 3, "later": 0}


async def test_a_durable_that_was_saved_ahead_of_its_stream_passes_over_nothing(tmp_path: Path) -> None:
    """The backup is of nats-server 2.11 under load: the stream ends at 1,200, and the durable was at 1,461 a moment later."""
    with Broker(tmp_path / "broker") as broker:
        env = environment(tmp_path, nats__servers=broker.url)
        restored = run("restore", str(Path(__file__).with_name("backup-of-nats-2.11")), env=env)
        assert restored.returncode == 0, restored.stderr
        async with jetstream(broker.url) as js:
            assert (await js.stream_info(BREADCRUMBS)).state.last_seq == 1200
            with Running(tmp_path / "service", broker.url, **OPTIONS):
                assert await say(js, "Where is the blue kiln?", "s1", "m1") == 1201
                await all_settled(js)
                assert [json.loads(data)["trigger_seq"] for data in await context_bytes(js)] == [1201]


async def test_a_restored_stream_is_another_incarnation_whatever_its_server_says(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        env = environment(tmp_path, nats__servers=broker.url)
        folder = Path(__file__).with_name("backup-of-nats-2.11")
        assert run("restore", str(folder), env=env).returncode == 0
        before = json.loads((folder / "manifest.json").read_text("utf-8"))["incarnation"]
        async with jetstream(broker.url) as js:
            info = await js.stream_info(BREADCRUMBS)
            info.created = datetime.fromtimestamp(before / 1e6, UTC)  # as nats-server 2.11 leaves it
            assert incarnation_of(info) > before
            assert await original_incarnation(js, Installation()) == before
