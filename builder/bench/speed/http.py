"""`bench http`: the API of a service in a process of its own: asking beside the client, searches a second, idle listeners."""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from builder.app.address import RunningService, running
from builder.app.settings import Settings
from builder.app.tokens import OWN_TOKEN
from builder.bench.data.synthetic import texts
from builder.bench.speed.quantiles import milliseconds
from builder.client import Client, connect

SESSION = "bench"
SEARCHERS = 16
"""Connections that search at once."""
QUESTIONS = 50
"""Different ones of one sentence, asked again and again."""
HANDSHAKES = 500
"""Connections that are opened at once."""
WARM_UP = 5
PATIENCE_SECONDS = 300.0
"""Until the pages of all messages are built."""


async def run(messages: int, rounds: int, seconds: float, listeners: int, step: Callable[[], None]) -> dict[str, Any]:
    """The report."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (listeners + 1_000,) * 2)
    with tempfile.TemporaryDirectory(prefix="context-builder-bench-") as folder:
        async with _service(Path(folder)) as (service, token), connect(service.nats) as client:
            door = _Door(service.http, token)
            for number, text in enumerate(texts(messages)):
                await client.send_user_message(SESSION, text, message_id=f"m{number}")
            await client.ask(SESSION, "Is everything there?", timeout=PATIENCE_SECONDS)  # its pages come in order
            step()
            figures = await _asks(client, door, rounds)
            step()
            figures |= {"searches_per_second": round(await _searches(door, seconds))}
            step()
            figures |= await _idle(door, service.pid, listeners)
            step()
            return figures


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[tuple[RunningService, str]]:
    own = {"DATA_DIR": folder, "NATS__PORT": -1, "HTTP__PORT": 0, "HTTP__REQUESTS_A_MINUTE": 0, "LOG__LEVEL": "WARNING"}
    env = os.environ | {f"CONTEXT_BUILDER_{name}": str(value) for name, value in own.items()}
    process = subprocess.Popen([sys.executable, "-m", "builder", "up"], env=env)
    try:
        while not (service := running(Settings(data_dir=folder))):
            if process.poll() is not None:
                raise RuntimeError(f"the service ended with {process.returncode}")
            await asyncio.sleep(0.05)
        yield service, (folder / OWN_TOKEN).read_text("utf-8")
    finally:
        process.terminate()
        process.wait()


class _Door:
    """Requests on connections that stay open, with as little work as can be: the service is measured."""

    def __init__(self, url: str, token: str) -> None:
        self._host, self._port = url.removeprefix("http://").split(":")
        self._head = f"Host: {self._host}\r\nAuthorization: Bearer {token}\r\n"

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._host, int(self._port))

    async def post(self, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], path: str, **body: Any) -> bytes:
        reader, writer = connection
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        content = await reader.readexactly(size)
        if b" 200 " not in answer.partition(b"\r\n")[0]:
            raise RuntimeError(f"{path}: {content[:200]!r}")
        return content

    async def listen(self) -> asyncio.StreamWriter:
        reader, writer = await self.open()
        writer.write(f"GET /v1/contexts/default/events HTTP/1.1\r\n{self._head}\r\n".encode())
        await reader.readuntil(b"id: ")
        return writer


async def _asks(client: Client, door: _Door, rounds: int) -> dict[str, Any]:
    """Each goes first in every second round: what the one before left to do slows down the next."""
    connection = await door.open()
    questions = iter(texts(2 * (rounds + WARM_UP)))
    asks: dict[str, Callable[[str], Awaitable[object]]] = {
        "client": lambda question: client.ask("client", question),
        "http": lambda question: door.post(connection, "/v1/contexts", session="http", content=question),
    }
    times: dict[str, list[float]] = {name: [] for name in asks}
    for number in range(rounds + WARM_UP):
        for name in sorted(asks, reverse=bool(number % 2)):
            started = perf_counter()
            await asks[name](next(questions))
            if number >= WARM_UP:
                times[name].append(perf_counter() - started)
    connection[1].close()
    return {f"ask_{name}_p50_ms": milliseconds(statistics.median(values)) for name, values in times.items()}


async def _searches(door: _Door, seconds: float) -> float:
    """A second, over several connections, after a first round of the questions."""
    questions = [text.partition(". ")[0] for text in texts(QUESTIONS)]
    number = 0

    async def search(until: float) -> None:
        nonlocal number
        connection = await door.open()
        while perf_counter() < until:
            number += 1
            await door.post(connection, "/v1/search", text=questions[number % QUESTIONS], session=SESSION)
        connection[1].close()

    connection = await door.open()
    for question in questions:
        await door.post(connection, "/v1/search", text=question, session=SESSION)
    connection[1].close()
    started, number = perf_counter(), 0
    await asyncio.gather(*(search(started + seconds) for _ in range(SEARCHERS)))
    return number / (perf_counter() - started)


async def _idle(door: _Door, pid: int, listeners: int) -> dict[str, Any]:
    before, writers = _resident_mb(pid), list[asyncio.StreamWriter]()
    for start in range(0, listeners, HANDSHAKES):
        writers += await asyncio.gather(*(door.listen() for _ in range(min(HANDSHAKES, listeners - start))))
    after = _resident_mb(pid)
    for writer in writers:
        writer.close()
    return {"listeners": listeners, "listeners_mb": round(after - before, 1), "mb_before": round(before, 1)}


def _resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
