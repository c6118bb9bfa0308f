"""Real processes for tests: a nats-server, the service on top of it, and waiting for what they do."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Self

import nats
from nats.js import JetStreamContext
from nats.js.api import StreamInfo
from nats.js.errors import NotFoundError

from builder.adapters.nats.server import binary
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, DURABLE
from builder.connection.names import DEFAULT, MESSAGE_ID_HEADER
from builder.domain.breadcrumb import SUMMARY
from builder.wire.records import make_record, outgoing
from tests.commands import COMMAND, DEADLINE, Command
from tests.free_ports import LOOPBACK, free_port

ROOT = Path(__file__).parents[1]


def environment(data: Path, **settings: object) -> dict[str, str]:
    """The environment of a subprocess: none of the caller's settings, one thread, free ports, and the given settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CONTEXT_BUILDER_")}
    defaults: dict[str, object] = {"data_dir": data, "nats__port": -1, "http__port": 0}
    mine = {f"CONTEXT_BUILDER_{name.upper()}": str(value) for name, value in (defaults | settings).items()}
    return inherited | mine | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _hear_interrupts() -> None:
    """Whoever runs the tests in the background of a shell has SIGINT ignored, and so would every process of theirs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Process:
    """A subprocess that is always ended: by `stop`, by `kill`, or with the block."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path) -> None:
        self._command = command
        self._env = env
        self._log = log
        self._from = 0
        self._process: subprocess.Popen[bytes] | Command | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> Self:
        """Start, and wait until it is ready. Fails with what the process said when it ends instead."""
        self.launch()
        wait_for(lambda: self._ready() or not self.running, f"{self._command} to be ready")
        assert self.running, self.said()
        return self

    def launch(self) -> None:
        """Start without waiting."""
        assert not self.running
        self._from = self._log.stat().st_size if self._log.exists() else 0
        program, *arguments = self._command
        if program == COMMAND or program.endswith(".py"):
            forked = arguments if program == COMMAND else self._command
            self._process = Command(forked, self._env, self._log, self._log, ROOT)
            return
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._env,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                preexec_fn=_hear_interrupts,  # noqa: PLW1509 - it does nothing that another thread could hold up
            )

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process is not None
        return self._process.pid

    def said(self) -> str:
        """Everything that it wrote since it was started last."""
        if not self._log.exists():
            return ""
        with self._log.open("rb") as file:
            file.seek(self._from)
            return file.read().decode("utf-8", "replace")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for the end; the exit code."""
        assert self._process is not None
        return self._process.wait(DEADLINE)

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _ready(self) -> bool:
        return True


class Broker(Process):
    """A nats-server with JetStream that can be killed and started again on its port and its files."""

    def __init__(self, folder: Path, *, max_payload: str = "8MB", max_storage: str = "", configuration: str = "") -> None:
        """configuration: more lines of its configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._port = free_port()
        storage = f"jetstream {{ max_file_store: {max_storage} }}\n" if max_storage else ""
        (folder / "server.conf").write_text(f"max_payload: {max_payload}\n{storage}{configuration}", "utf-8")
        super().__init__([], dict(os.environ), folder / "server.log")

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"nats://{LOOPBACK}:{self._port}"

    def launch(self) -> None:
        """Start without waiting."""
        self._command = [
            str(binary()), "--config", str(self._folder / "server.conf"), "--addr", LOOPBACK, "--port", str(self._port),
            "--jetstream", "--store_dir", str(self._folder / "data"), "--ports_file_dir", str(self._folder),
        ]  # fmt: skip
        super().launch()

    def _ready(self) -> bool:
        assert self._process is not None
        ports = self._folder / f"nats-server_{self._process.pid}.ports"
        try:
            self._port = int(json.loads(ports.read_text("utf-8"))["nats"][0].rpartition(":")[2])
        except (OSError, ValueError):  # not there yet, or half written
            return False
        return True


class Running(Process):
    """The service as a process. servers: of a broker; none = it starts its own."""

    def __init__(self, data: Path, servers: str = "", command: tuple[str, ...] = (COMMAND, "up"), **settings: object) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self.env = environment(data, nats__servers=servers, **settings)
        super().__init__(list(command), self.env, data / "log")

    @property
    def url(self) -> str:
        """URL of the broker that it talks to."""
        return self._logged(r"NATS     (\S+)")

    @property
    def http(self) -> str:
        """URL in front of /readyz."""
        return self._logged(r"health   (\S+)/readyz")

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of an HTTP request."""
        try:
            with urllib.request.urlopen(self.http + path, timeout=DEADLINE) as response:  # noqa: S310 - our own URL
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def outcomes(self) -> list[str]:
        """Outcome of every delivery so far, in the order of their ends."""
        return re.findall(r"builder.events  (\w+) ", self.said())

    def _ready(self) -> bool:
        return bool(self._logged(r"health   (\S+)/readyz"))

    def _logged(self, pattern: str) -> str:
        found = re.search(pattern, self.said())
        return found.group(1) if found else ""


def wait_for(condition: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Wait until the condition is true. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.02)  # between two looks at another process, which has no event to wait for


async def until(condition: Callable[[], Awaitable[object]], what: str, seconds: float = DEADLINE) -> None:
    """Wait until the condition is true. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def jetstream(url: str | list[str], timeout: float = DEADLINE) -> AsyncIterator[JetStreamContext]:
    """JetStream of a broker, for looking into streams and for publishing what no client would. timeout: seconds of a request."""
    connection = await nats.connect(url)
    try:
        yield connection.jetstream(timeout=timeout)
    finally:
        await connection.close()


async def say(
    js: JetStreamContext, text: str, session: str, identity: str, workspace: str = "acme", *, message_id: str = "", **record: Any
) -> int:
    """Publish a user message (or, with `schema`, another breadcrumb of that text) and return its sequence."""
    schema = record.pop("schema", "user.message.v1")
    event = outgoing(make_record(schema, identity, session, record.pop("body", {"content": text}), **record), workspace)
    headers = {MESSAGE_ID_HEADER: message_id or event.message_id}
    return (await js.publish(event.subject, event.data, stream=BREADCRUMBS, headers=headers, timeout=DEADLINE)).seq


async def answered(js: JetStreamContext, workspace: str = "*", consumer: str = "*", session: str = "*") -> list[dict[str, Any]]:
    """The contexts in the stream, in the order of their triggers."""
    return [json.loads(data) for data in await context_bytes(js, workspace, consumer, session)]


async def context_bytes(js: JetStreamContext, workspace: str = "*", consumer: str = "*", session: str = "*") -> list[bytes]:
    """The bytes of the contexts in the stream, in the order of their triggers."""
    info = await js.stream_info(CONTEXTS, subjects_filter=f"contexts.{workspace}.{consumer}.{session}.*")
    held = info.state.subjects or {}
    assert all(count == 1 for count in held.values())
    found = [(await js.get_last_msg(CONTEXTS, subject, direct=True)).data or b"" for subject in held]
    return sorted(found, key=lambda data: int(json.loads(data).get("trigger_seq", 0)))


async def dead_letters(js: JetStreamContext) -> list[dict[str, Any]]:
    """The dead letters in the stream, in the order of what they are about."""
    info: StreamInfo = await js.stream_info(DEADLETTERS, subjects_filter="deadletters.>")
    held = [await js.get_last_msg(DEADLETTERS, subject, direct=True) for subject in info.state.subjects or {}]
    return sorted((json.loads(letter.data or b"") for letter in held), key=lambda letter: letter["sequence"])


async def settled(js: JetStreamContext) -> bool:
    """Whether everything in the stream has been delivered and settled."""
    try:
        durables = [await js.consumer_info(BREADCRUMBS, DURABLE)]
        with contextlib.suppress(NotFoundError):  # a subscription alone has none
            durables.append(await js.consumer_info(BREADCRUMBS, DEFAULT.replays_durable))
        if any(info.num_pending or info.num_ack_pending for info in durables):
            return False
        last = (await js.stream_info(BREADCRUMBS)).state.last_seq
    except (NotFoundError, nats.errors.TimeoutError):  # a service in this process may keep the event loop for long
        return False
    # What is pending comes a little after the message: the last sequence tells whether it has been seen.
    return all(info.delivered is not None and info.delivered.stream_seq >= last for info in durables)


async def all_settled(js: JetStreamContext) -> None:
    """Wait until everything in the stream has been delivered and settled."""
    await until(lambda: settled(js), "everything to be settled")


def triggers(events: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Who was answered for what: (workspace, session, trigger id, consumer) of each context, sorted."""
    return sorted((event["workspace"], event["session_id"], event["trigger_event_id"], event["consumer_id"]) for event in events)


def remembered(data: Path) -> list[tuple[str, str, str]]:
    """What the store of a service holds of others: (workspace, session, id) in stream order. data: its data folder.

    Not its own summaries: they come when they are ready.
    """
    held = f"SELECT workspace, session, id FROM breadcrumbs WHERE schema <> '{SUMMARY}' ORDER BY incarnation, sequence"
    with closing(sqlite3.connect(data / "store.sqlite3")) as store:
        return store.execute(held).fetchall()
