"""Figures of `client.serve` for agents.md: `python -m tests.bench.serve` prints them."""

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from builder.client import Client, ReceivedContext, connect
from tests.running import Running, until

PEOPLE, MODEL_SECONDS = 5, 3.0


async def seconds_until(client: Client, sessions: list[str], start: float) -> float:
    """Until each session has an answer."""

    async def are_answered() -> bool:
        counts = [len([1 async for each in client.history(name) if each.schema == "agent.response.v1"]) for name in sessions]
        return all(counts)

    await until(are_answered, "answers")
    return asyncio.get_running_loop().time() - start


async def parallel(client: Client) -> float:
    """Five people write at once; the model takes three seconds."""

    async def reply(_context: ReceivedContext) -> str:
        await asyncio.sleep(MODEL_SECONDS)
        return "Yes."

    return await _served(client, reply, [f"p{number}" for number in range(PEOPLE)])


async def retry(client: Client) -> float:
    """The model refuses the first time."""
    attempts: list[str] = []

    def reply(context: ReceivedContext) -> str:
        attempts.append(context.id)
        if len(attempts) == 1:
            raise RuntimeError("429")
        return "Yes."

    return await _served(client, reply, ["r"])


async def hand_back(client: Client) -> float:
    """A process ends while its model thinks; another one is there."""
    entered = asyncio.Event()

    async def thinking(_context: ReceivedContext) -> str:
        entered.set()
        await asyncio.Event().wait()
        return ""

    first = asyncio.create_task(client.serve("default", thinking))
    await client.send_user_message("h", "Hello.")
    await entered.wait()
    second = asyncio.create_task(client.serve("default", lambda _context: "Yes."))
    start = asyncio.get_running_loop().time()
    await _ended(first)
    seconds = await seconds_until(client, ["h"], start)
    await _ended(second)
    return seconds


async def _served(client: Client, reply: Any, sessions: list[str]) -> float:
    task, start = asyncio.create_task(client.serve("default", reply)), asyncio.get_running_loop().time()
    await asyncio.gather(*(client.send_user_message(name, "Hello.") for name in sessions))
    seconds = await seconds_until(client, sessions, start)
    await _ended(task)
    return seconds


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def main(url: str) -> None:
    """Print each figure in seconds."""
    async with connect(url) as client:
        async with client.subscribed("default"):
            pass
        for figure in (parallel, retry, hand_back):
            print(f"{figure.__name__:10} {await figure(client):.2f} s  {figure.__doc__}")  # noqa: T201 - its purpose


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder), embedding__engine="none") as service:
        asyncio.run(main(service.url))
