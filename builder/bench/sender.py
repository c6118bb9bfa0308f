"""The load of `bench load`, sent by a process of its own: people and agents are not in the worker's process either."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import get_context

from builder.client import connect
from builder.wire.lines import make_record, outgoing

AT_ONCE = 64
"""Publications that wait for the stream's acknowledgement side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message to publish."""

    schema: str
    session: str
    id: str
    text: str


class Sender:
    """Publishes from another process."""

    def __init__(self, pool: ProcessPoolExecutor, url: str, workspace: str) -> None:
        self._pool = pool
        self._url = url
        self._workspace = workspace

    async def send(self, messages: tuple[Said, ...]) -> None:
        """Publish all, in order; returns once the stream holds them."""
        await asyncio.get_running_loop().run_in_executor(self._pool, _send, self._url, self._workspace, messages)


@asynccontextmanager
async def open_sender(url: str, workspace: str) -> AsyncIterator[Sender]:
    """The sender, with its process started."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        sender = Sender(pool, url, workspace)
        await sender.send(())
        yield sender


def _send(url: str, workspace: str, messages: tuple[Said, ...]) -> None:
    asyncio.run(_publish(url, workspace, messages))


async def _publish(url: str, workspace: str, messages: tuple[Said, ...]) -> None:
    async with connect(url, workspace) as client:
        for start in range(0, len(messages), AT_ONCE):
            batch = messages[start : start + AT_ONCE]
            records = (make_record(said.schema, said.id, said.session, {"content": said.text}) for said in batch)
            await asyncio.gather(*(client.publish(outgoing(record, workspace)) for record in records))
