"""A heartbeat ends with its block, however that ends."""

import asyncio

import pytest

from builder.connection.heartbeat import heartbeat
from tests.commands import DEADLINE


async def test_a_heartbeat_goes_on_while_the_block_runs_and_ends_with_it() -> None:
    beats, enough = list[int](), asyncio.Event()

    async def beat() -> None:
        beats.append(len(beats))
        if len(beats) == 3:
            enough.set()

    async with asyncio.timeout(DEADLINE), heartbeat(beat, 0.001):
        await enough.wait()
    assert [task for task in asyncio.all_tasks() if "beats" in repr(task)] == []
    assert beats[:3] == [0, 1, 2]


async def test_a_heartbeat_ends_with_a_block_that_fails_or_is_cancelled() -> None:
    begun = asyncio.Event()

    async def beat() -> None: ...

    async def block() -> None:
        async with heartbeat(beat, 0.001):
            begun.set()
            await asyncio.Event().wait()

    with pytest.raises(ValueError, match="a bug"):
        async with heartbeat(beat, 0.001):
            raise ValueError("a bug")
    task = asyncio.create_task(block())
    await begun.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}
