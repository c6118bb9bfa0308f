"""One runner for all jobs: it guards, pauses after failures, reports them, and gives way."""

import asyncio

import pytest
from typing_extensions import override

from builder.domain.errors import Unavailable
from builder.worker.jobs import Job, JobRunner, Observer, Pace, Pauses
from tests.commands import DEADLINE

PACE = Pace(wait=0, max_waits=3, pauses=Pauses(0, 0))


class Failures(Observer):
    def __init__(self) -> None:
        self.names: list[str] = []

    @override
    def job_failed(self, name: str) -> None:
        self.names.append(name)


async def test_a_job_goes_on_after_an_outage_and_a_bug_which_are_counted_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    failures, done = Failures(), asyncio.Event()
    troubles: list[Exception] = [Unavailable("the disk is away"), Unavailable("the disk is away"), ValueError("private words")]

    async def run_once() -> None:
        if troubles:
            raise troubles.pop(0)
        done.set()

    runner = JobRunner(busy=lambda: False, observer=failures, pace=PACE)
    task = asyncio.create_task(runner.run(Job(name="filling in", every=0, run_once=run_once)))
    async with asyncio.timeout(DEADLINE):
        await done.wait()
    task.cancel()
    await asyncio.wait({task})
    assert failures.names == ["filling in"] * 3
    assert caplog.text.count("filling in failed and is tried again: the disk is away") == 1
    assert "a bug in filling in" in caplog.text
    assert "private words" not in caplog.text


async def test_a_job_that_gives_way_waits_for_deliveries_but_not_for_ever() -> None:
    looks, done = list[bool](), asyncio.Event()

    def busy() -> bool:
        looks.append(done.is_set())
        return True

    async def run_once() -> None:
        done.set()

    runner = JobRunner(busy=busy, observer=Observer(), pace=PACE)
    task = asyncio.create_task(runner.run(Job(name="cleaning", every=60, run_once=run_once, gives_way=True)))
    async with asyncio.timeout(DEADLINE):
        await done.wait()
    task.cancel()
    await asyncio.wait({task})
    assert looks == [False] * (PACE.max_waits + 1)
