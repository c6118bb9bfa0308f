"""One at a time has a key's lock."""

import asyncio

from builder.recall.keyed_lock import KeyedLock
from tests.commands import DEADLINE


async def test_one_at_a_time_holds_a_keys_lock_and_first_comes_first() -> None:
    locks, steps = KeyedLock[str](), list[str]()

    async def work(name: str) -> None:
        async with locks.of("a"):
            steps.append(f"{name} begins")
            await asyncio.sleep(0)
            steps.append(f"{name} ends")

    await asyncio.gather(work("one"), work("two"), work("three"))
    assert steps == [f"{name} {step}" for name in ("one", "two", "three") for step in ("begins", "ends")]


async def test_another_keys_lock_is_free() -> None:
    locks = KeyedLock[str]()
    async with locks.of("a"):
        assert locks.of("a").locked()
        assert not locks.of("b").locked()


async def test_a_lock_that_is_held_or_waited_for_is_the_keys_only_one() -> None:
    locks = KeyedLock[str]()
    async with locks.of("a") as _, asyncio.timeout(DEADLINE):
        waiting = asyncio.ensure_future(hold(locks))
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    assert not locks.of("a").locked()


async def hold(locks: KeyedLock[str]) -> None:
    async with locks.of("a"):
        assert locks.of("a").locked()
