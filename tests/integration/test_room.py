"""No room: the service says which part of it has none and why, loses nothing, and goes on by itself when there is room again."""

import asyncio
import contextlib
import json
import os
import resource
import shutil
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from nats.js.errors import ServiceUnavailableError

from builder.adapters.nats.topology import BREADCRUMBS
from builder.extras.nats_server.server import ANY_PORT, EmbeddedServer, embedded_server
from tests.integration.test_metrics import value
from tests.running import Broker, Running, all_settled, answered, jetstream, say, until

MEGABYTE = 1_000_000


async def is_said(service: Running, status: str, **parts: str) -> bool:
    """Whether /readyz has this status and each of these parts holds these words."""
    code, body = service.get("/readyz")
    said = json.loads(body)
    return code == 200 and said["status"] == status and all(words in said["parts"][name] for name, words in parts.items())


async def test_a_broker_without_room_is_told_and_the_context_comes_once_there_is_room(tmp_path: Path) -> None:
    with (
        Broker(tmp_path / "broker", max_storage="4MB") as broker,
        Running(tmp_path / "service", broker.url, embedding__engine="none") as service,
    ):
        async with jetstream(broker.url) as js:
            await until(lambda: is_said(service, "degraded", store_writes="ok", stream_writes="ok"), "a service without a model")
            service.signal(signal.SIGSTOP)
            asked = await say(js, "Where is the key?", "s1", "m1")
            await fill(js)
            service.signal(signal.SIGCONT)
            await until(
                lambda: is_said(service, "degraded", store_writes="ok", stream_writes="insufficient resources"), "the reason"
            )
            await until(lambda: is_refused(service), "the context to be refused")
            await js.purge_stream(BREADCRUMBS, seq=asked)  # what came before
            for sequence in range(asked + 1, (await js.stream_info(BREADCRUMBS)).state.last_seq + 1):
                await js.delete_msg(BREADCRUMBS, sequence)
            await all_settled(js)
            assert [event["trigger_event_id"] for event in await answered(js)] == ["m1"]
            await until(lambda: is_said(service, "degraded", store_writes="ok", stream_writes="ok"), "a service that is well")
            assert value(service.get("/metrics")[1], "context_builder_disk_free_bytes") > 0


async def fill(js: JetStreamContext) -> None:
    """Publish until the broker takes nothing more."""
    for size in (MEGABYTE, 1000, 10):
        try:
            while True:
                await js.publish("breadcrumbs.acme.s2.log.v1", b"x" * size, stream=BREADCRUMBS)
        except ServiceUnavailableError:
            continue


async def is_refused(service: Running) -> bool:
    """Whether a delivery could not be finished."""
    return "unavailable" in service.outcomes()


async def test_a_store_without_room_is_told_and_everything_is_answered_once_there_is_room(tmp_path: Path) -> None:
    data = tmp_path / "service"
    with Broker(tmp_path / "broker") as broker, Running(data, broker.url, embedding__engine="none") as service:
        async with jetstream(broker.url) as js:
            await say(js, "Hello.", "s1", "m0")
            await all_settled(js)
            largest = max(part.stat().st_size for part in data.iterdir())
            with files_of_at_most(largest, service):
                for number in range(1, 6):
                    await say(js, "A long story. " * 5000, "s1", f"m{number}")
                await until(lambda: is_said(service, "degraded", store_writes="disk", stream_writes="ok"), "the reason")
            await all_settled(js)
            assert len(await answered(js)) == 6
            await until(lambda: is_said(service, "degraded", store_writes="ok", stream_writes="ok"), "a service that is well")
        assert value(service.get("/metrics")[1], "context_builder_store_bytes") > largest
        await until(lambda: is_measured(service), "the size of BREADCRUMBS")


async def is_measured(service: Running) -> bool:
    """Whether the gauge knows what the stream holds."""
    return value(service.get("/metrics")[1], "context_builder_stream_bytes") > 5 * 50_000


@contextmanager
def files_of_at_most(size: int, process: Running) -> Iterator[None]:
    """No file of the process grows beyond so many bytes: the kernel refuses it, as it does on a full disk."""
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)


async def test_the_embedded_server_is_started_again_on_its_port_once_there_is_room_or_when_it_ended(tmp_path: Path) -> None:
    """A stream that could not write refuses everything until then, however much room there is."""
    async with embedded_server(tmp_path / "nats", ANY_PORT) as server, jetstream(server.url) as js:
        url = server.url
        await js.add_stream(StreamConfig(name="S", subjects=["s.>"], storage=StorageType.FILE))
        await js.publish("s.before", b"x" * 1000)
        assert await server.state() == ""
        pid = server_pid(server)
        limit = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (MEGABYTE, limit[1]))

        async def refuses() -> bool:
            with contextlib.suppress(NatsError):
                await js.publish("s.much", b"x" * 200_000, timeout=0.5)
            return "could not write" in await server.state()

        await until(refuses, "a write that is refused")

        async def takes() -> bool:
            try:
                await js.publish("s.after", b"x", timeout=0.5)
            except (NatsError, OSError):
                return False
            return server_pid(server) != pid

        await until(takes, "the server to take what is published")
        assert (server.url, await server.state()) == (url, "")
        pid = server_pid(server)
        os.kill(pid, signal.SIGKILL)
        await until(takes, "another server")
        assert (await js.get_last_msg("S", "s.before")).data == b"x" * 1000


async def test_the_disk_is_the_limit_of_the_embedded_server_and_not_what_was_free_at_its_start(tmp_path: Path) -> None:
    async with embedded_server(tmp_path / "nats", ANY_PORT) as server:
        limit = await asyncio.to_thread(largest_store, server)
    assert limit > 1000 * shutil.disk_usage(tmp_path).total


def largest_store(server: EmbeddedServer) -> int:
    """Bytes that its streams may take."""
    (ports,) = server.log.parent.glob("nats-server_*.ports")
    monitoring = json.loads(ports.read_text("utf-8"))["monitoring"][0]
    with urllib.request.urlopen(f"{monitoring}/jsz") as response:  # noqa: S310 - our own URL
        return int(json.loads(response.read())["config"]["max_storage"])


def server_pid(server: EmbeddedServer) -> int:
    """Of the process that runs now."""
    assert server._process is not None
    return server._process.pid
