"""Killed without a warning, at every stop of the line and at any moment: nothing is lost, nothing is answered twice."""

import asyncio
import json
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import nats
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from tests.chaos.dying import FILLING, STOPS
from tests.integration.inside import service_here, settings
from tests.running import (
    Broker,
    Running,
    all_settled,
    answered,
    context_bytes,
    dead_letters,
    jetstream,
    remembered,
    say,
    triggers,
    until,
)

DYING = str(Path(__file__).with_name("dying.py"))
ROUNDS, SESSIONS, TRIGGERS = 6, 8, 30


async def test_a_service_that_is_killed_at_any_stop_of_the_line_answers_everything_once_after_its_restart(tmp_path: Path) -> None:
    await asyncio.gather(*(killed_at(stop, tmp_path / stop) for stop in STOPS))


async def killed_at(stop: str, data: Path) -> None:
    """Two messages, the second of which kills the service at this stop; then the service as it should be, and one more."""
    said = {"m1": "The blue kiln is K-4711.", "m2": "This one is fatal.", "m3": "Is anybody there?"}
    dying = Running(data, command=(DYING, stop), worker__ack_wait_seconds=2)
    try:
        await asyncio.to_thread(dying.start)
        async with jetstream(dying.url) as js:
            for identity in ("m1", "m2"):
                await say(js, said[identity], "s1", identity)
        assert await asyncio.to_thread(dying.wait) == -signal.SIGKILL, stop
    finally:
        dying.kill()
    restarted = Running(data, worker__ack_wait_seconds=2)
    try:
        await asyncio.to_thread(restarted.start)
        async with jetstream(restarted.url) as js:
            await say(js, said["m3"], "s1", "m3")
            await all_settled(js)
            events = await answered(js)
            assert await dead_letters(js) == [], stop
        assert await asyncio.to_thread(restarted.stop) == 0, stop
    finally:
        restarted.kill()
    assert [event["trigger_event_id"] for event in events] == list(said), stop
    for number, event in enumerate(events, 1):
        for text in list(said.values())[:number]:
            assert text in event["content"], stop
    assert [id_ for _, _, id_ in remembered(data)] == list(said), stop
    assert unfinished(data) == 0, stop


async def test_a_service_that_is_killed_while_it_fills_vectors_in_goes_on_where_it_was(tmp_path: Path) -> None:
    for stop in FILLING:
        await killed_while(stop, tmp_path / stop)


async def killed_while(stop: str, data: Path) -> None:
    """Three messages without a model, a service that dies on the vectors of the second, and then one as it should be."""
    with Broker(data / "broker") as broker:
        async with jetstream(broker.url) as js:
            with Running(data / "service", broker.url, embedding__engine="none"):
                for number, text in enumerate(("The blue kiln is K-4711.", "This one is fatal.", "Is anybody there?")):
                    await say(js, text, "s1", f"m{number}")
                await all_settled(js)
            before = await context_bytes(js)
            dying = Running(data / "service", broker.url, command=(DYING, stop))
            try:
                dying.launch()
                assert await asyncio.to_thread(dying.wait) == -signal.SIGKILL, stop
            finally:
                dying.kill()
            assert lacking(data / "service") == (["m1", "m2"] if stop == "filling" else ["m2"])
            async with service_here(settings(data / "service", broker.url)) as service:

                async def filled() -> bool:
                    return not await service.core.store.count_missing_vectors()

                await until(filled, "the vectors")
                await say(js, "Which kiln is blue?", "s1", "m3")
                await all_settled(js)
            *sent, last = await context_bytes(js)
            assert await dead_letters(js) == []
    assert sent == before
    assert json.loads(last)["assembly"]["flags"] == []
    assert "K-4711" in json.loads(last)["content"]


async def test_a_service_that_is_killed_at_random_moments_answers_every_trigger_once(tmp_path: Path) -> None:
    chance = random.Random(20261121)  # noqa: S311 - no secret
    data = tmp_path / "service"
    with (
        Broker(tmp_path / "broker") as broker,
        # A crash uses up an attempt of what was being built: ten of them may use up the usual five of an unlucky one.
        Running(data, broker.url, worker__ack_wait_seconds=2, worker__max_attempts=2 * ROUNDS) as service,
    ):
        async with jetstream(broker.url) as js, plain_subscriber(broker.url) as heard:
            for number in range(ROUNDS):
                publishing = asyncio.create_task(load(js, number))
                enough = chance.randrange(TRIGGERS)
                await until(partial(has_done, service, enough), f"{enough} deliveries")
                service.kill()
                await publishing
                await asyncio.to_thread(service.start)
            await all_settled(js)
            assert await dead_letters(js) == []
            expected = [("acme", f"s{n % SESSIONS}", f"m{r}-{n}", "default") for r in range(ROUNDS) for n in range(TRIGGERS)]
            held = await answered(js)
            assert triggers(held) == sorted(expected)
            # A publication that the stream refuses is one to whoever listens without the stream.
            await until(partial(has_heard, heard, len(held)), "the plain subscriber")
            assert Counter(heard) == Counter(event["id"] for event in held)
    assert sorted(remembered(data)) == sorted(trigger[:3] for trigger in expected)
    assert unfinished(data) == 0


@asynccontextmanager
async def plain_subscriber(url: str) -> AsyncIterator[list[str]]:
    """Ids of the contexts, as whoever listens without JetStream hears them."""
    heard: list[str] = []

    async def hear(message: Msg) -> None:
        heard.append(json.loads(message.data)["id"])

    connection = await nats.connect(url)
    try:
        await connection.subscribe("contexts.>", cb=hear)
        await connection.flush()
        yield heard
    finally:
        await connection.close()


async def has_heard(heard: list[str], count: int) -> bool:
    """Whether that many contexts came."""
    return len(heard) >= count


async def load(js: JetStreamContext, number: int) -> None:
    """The triggers of one round."""
    for n in range(TRIGGERS):
        await say(
            js, f"Round {number}, message {n}, about {('kilns', 'glazes', 'tyres')[n % 3]}.", f"s{n % SESSIONS}", f"m{number}-{n}"
        )


async def has_done(service: Running, count: int) -> bool:
    """Whether the process that runs now has ended that many deliveries."""
    return len(service.outcomes()) >= count


def lacking(data: Path) -> list[str]:
    """Which breadcrumbs lack vectors, as the store knows it."""
    with closing(sqlite3.connect(data / "store.sqlite3")) as store:
        text = "SELECT id FROM lacking JOIN breadcrumbs USING (workspace, session, incarnation, sequence) ORDER BY sequence"
        return [id_ for (id_,) in store.execute(text)]


def unfinished(data: Path) -> int:
    """Deliveries that were begun and never finished, as the store knows it."""
    with closing(sqlite3.connect(data / "store.sqlite3")) as store:
        return int(store.execute("SELECT count(*) FROM attempts").fetchone()[0])
