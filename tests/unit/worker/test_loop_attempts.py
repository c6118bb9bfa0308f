"""Attempts are counted across crashes, and a suspect is tried alone."""

import asyncio

import pytest

from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected
from builder.worker.loop import Attempts
from tests.factories import make_place
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store

ONE, TWO = make_place(1), make_place(2)


@pytest.mark.parametrize("limit", [1, 3])
async def test_the_last_attempt_is_rejected_and_stays_counted(limit: int) -> None:
    store = durable_store()
    attempts = Attempts(make_log(MemoryStream(), store, max_attempts=limit))
    for _ in range(limit - 1):
        async with attempts.start(ONE):
            pass
    for _ in range(2):
        with pytest.raises(Rejected, match=r"attempts ended in a crash or a bug"):
            async with attempts.start(ONE):
                pytest.fail("it was tried")
    assert await store.start_attempt(ONE) == limit + 2


async def test_places_are_in_work_as_long_as_their_attempts_run() -> None:
    log = make_log(MemoryStream(), durable_store())
    attempts, in_work = Attempts(log), log.in_work
    for _ in range(2):
        async with attempts.start(ONE):
            assert in_work == {ONE}
        assert in_work == set()
    with pytest.raises(ValueError, match="a bug"):
        async with attempts.start(TWO):
            raise ValueError("a bug")
    assert in_work == set()


async def test_first_attempts_run_side_by_side_and_suspects_one_after_the_other() -> None:
    log, most = make_log(MemoryStream(), durable_store()), list[int]()
    attempts, running = Attempts(log), log.in_work

    async def run(place: Place) -> None:
        async with attempts.start(place):
            for _ in range(5):
                most.append(len(running))
                await asyncio.sleep(0)

    await asyncio.gather(run(ONE), run(TWO))
    assert max(most) == 2
    most.clear()
    await asyncio.gather(run(ONE), run(TWO))
    assert max(most) == 1
