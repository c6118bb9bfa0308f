"""Four workers share one durable: one context per trigger, the bytes of one worker, and a fair share for each."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.profiles import with_profiles
from tests.postgres import new_database
from tests.running import Broker, answered, context_bytes, dead_letters, jetstream, triggers
from tests.workers import SHARE, Load, Workers, all_done, alone, restless, send, steady

TRIGGERS = int(os.environ.get("WORKERS_TRIGGERS", "120"))
"""WORKERS_TRIGGERS=20000 takes some minutes."""
ALONE = 4
FAST: dict[str, Any] = {"embedding__engine": "none", "worker__ack_wait_seconds": 2, "worker__max_attempts": 20}


def stores(kind: str) -> Callable[[int], str]:
    """Of the workers: a file each, or one database; the worker that answers alone has a file."""
    url = new_database("workers") if kind == "postgresql" else ""
    return lambda number: url if number < ALONE else ""


async def test_four_workers_publish_what_one_publishes_alone(tmp_path: Path) -> None:
    load, slow = Load(triggers=TRIGGERS // 3, sessions=20), {"worker__ack_wait_seconds": 10}
    with Broker(tmp_path / "broker") as broker:
        workers = Workers(folder=tmp_path, broker=broker, options=slow)
        async with jetstream(broker.url) as js:
            shares = await steady(workers, js, load, range(ALONE))
            together = await context_bytes(js)
            assert triggers(await answered(js)) == load.names()
            assert await dead_letters(js) == []
        assert sum(shares) == load.triggers
        assert min(shares) >= SHARE * load.triggers / len(shares), shares
        assert await alone(workers, ALONE) == together


@pytest.mark.parametrize("store", ["file", "postgresql"])
async def test_workers_that_come_die_and_are_rolled_change_nothing_but_the_speed(store: str, tmp_path: Path) -> None:
    load = Load(triggers=TRIGGERS, sessions=60)
    with Broker(tmp_path / "broker") as broker:
        workers = Workers(folder=tmp_path, broker=broker, options=FAST, stores=stores(store))
        async with jetstream(broker.url) as js:
            await restless(workers, js, load)
            together = await context_bytes(js)
            assert triggers(await answered(js)) == load.names()
            assert await dead_letters(js) == []
        assert await alone(workers, ALONE) == together


async def test_workers_with_two_versions_of_a_profile_answer_each_message_once(tmp_path: Path) -> None:
    load = Load(triggers=TRIGGERS // 2, sessions=50)
    with Broker(tmp_path / "broker") as broker:
        workers = Workers(folder=tmp_path, broker=broker, options=FAST)
        newer = {"templates_dir": with_profiles(tmp_path, {"default": "extends: default\nbudget: 2000\n"})}
        async with jetstream(broker.url) as js:
            with workers.make(0), workers.make(1, **newer):
                await send(js, load)
                await all_done(js)
            events = await answered(js)
        assert triggers(events) == load.names()
        assert {event["token_budget"] for event in events} == {2000, 4000}
