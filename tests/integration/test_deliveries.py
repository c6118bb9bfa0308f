"""How messages reach the worker: at once, as many as there is room for, and back to the broker when the service ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nats.aio.msg import Msg
from nats.js import JetStreamContext

from builder.adapters.nats.inbox import NatsInbox
from builder.adapters.nats.topology import BREADCRUMBS, DURABLE, Topology, ensure_durable, ensure_streams
from builder.connection.pull import Pull, PullTimes
from builder.domain.breadcrumb import ORIGIN
from builder.ports.stream import Delivery
from tests.commands import DEADLINE
from tests.running import Broker, all_settled, jetstream, say, settled, until

SILENCE = 5.05
"""Seconds: a little more than the five after which nats-py's `fetch` and the server give a request up at the same time."""
PATIENT = Topology(ack_wait=10 * DEADLINE)
"""Nothing is delivered again because its time is over: what comes within DEADLINE was given back."""


@asynccontextmanager
async def bus(broker: Broker) -> AsyncIterator[tuple[JetStreamContext, int]]:
    """JetStream with our streams and the durable, and the incarnation of BREADCRUMBS."""
    async with jetstream(broker.url) as js:
        incarnation = await ensure_streams(js, PATIENT)
        await ensure_durable(js, PATIENT, ORIGIN, incarnation)
        yield js, incarnation


@asynccontextmanager
async def inbox_on(
    broker: Broker, process: Callable[[Delivery], Coroutine[Any, Any, None]], places: int = 32, graceful: float = 5.0
) -> AsyncIterator[JetStreamContext]:
    """The service's subscription, with this in the place of the worker."""
    async with bus(broker) as (js, incarnation):
        inbox = NatsInbox({"servers": [broker.url]}, places, graceful, process, lambda: incarnation)
        application = inbox.application([])
        await application.start()
        try:
            yield js
        finally:
            await application.stop()


async def deliveries(broker: Broker, silences: int) -> int:
    """How many deliveries it took until three messages after each silence were taken."""
    taken = asyncio.Event()

    async def process(delivery: Delivery) -> None:
        await delivery.ack()
        taken.set()

    async with inbox_on(broker, process) as js:
        for silence in range(silences):
            await asyncio.sleep(SILENCE)  # nothing comes: that is what is tested
            for number in range(3):
                await say(js, "Hello.", "s1", f"m{silence}-{number}")
                await taken.wait()
                taken.clear()
        return int((await js.consumer_info(BREADCRUMBS, DURABLE)).delivered.consumer_seq)


async def test_a_message_is_taken_at_its_first_delivery_however_long_nothing_came_before_it(tmp_path: Path) -> None:
    """A message that goes to a request which was given up is delivered again, once the ack wait is over.

    Whether a fetch or the server gives up first is a matter of luck, so there are several brokers.
    """

    async def trial(number: int) -> int:
        with Broker(tmp_path / str(number)) as broker:
            return await deliveries(broker, silences=2)

    assert set(await asyncio.gather(*map(trial, range(12)))) == {2 * 3}


async def test_no_more_is_in_work_than_there_are_places_and_everything_comes_once_and_in_order(tmp_path: Path) -> None:
    working, most, came = 0, 0, []

    async def process(delivery: Delivery) -> None:
        nonlocal working, most
        came.append(delivery.arrival.place.sequence)
        working += 1
        most = max(most, working)
        await asyncio.sleep(0)
        working -= 1
        await delivery.ack()

    with Broker(tmp_path / "broker") as broker:
        async with inbox_on(broker, process, places=4) as js:
            for number in range(200):
                await say(js, "Hello.", f"s{number % 7}", f"m{number}")
            await all_settled(js)
            assert ((await js.consumer_info(BREADCRUMBS, DURABLE)).num_waiting or 0) <= 1
    assert came == list(range(1, 201))
    assert most <= 4


async def test_a_service_that_ends_gives_what_it_does_not_finish_to_the_next_one_at_once(tmp_path: Path) -> None:
    begun, came = asyncio.Semaphore(0), []

    async def stuck(_delivery: Delivery) -> None:
        begun.release()
        await asyncio.Event().wait()

    async def process(delivery: Delivery) -> None:
        came.append((delivery.arrival.place.sequence, delivery.arrival.deliveries))
        await delivery.ack()

    with Broker(tmp_path / "broker") as broker:
        async with inbox_on(broker, stuck, places=4, graceful=0.0) as js:
            for number in range(20):
                await say(js, "Hello.", f"s{number}", f"m{number}")
            for _ in range(4):
                await begun.acquire()
        async with inbox_on(broker, process) as js:
            await until(lambda: settled(js), "everything")
    assert sorted(came) == [(sequence, 2 if sequence <= 4 else 1) for sequence in range(1, 21)]


async def test_what_lies_between_the_server_and_a_subscription_that_ends_goes_back_at_once(tmp_path: Path) -> None:
    first, go_on, taken = asyncio.Event(), asyncio.Event(), []

    async def slow(message: Msg) -> None:
        taken.append(message.metadata.sequence.stream)
        first.set()
        await go_on.wait()

    async def take(message: Msg) -> None:
        taken.append(message.metadata.sequence.stream)
        await message.ack()

    with Broker(tmp_path / "broker") as broker:
        async with bus(broker) as (js, _):
            for number in range(10):
                await say(js, "Hello.", "s1", f"m{number}")
            ending = Pull(js._nc, (BREADCRUMBS, DURABLE), lambda: 10, slow)
            await ending.open()
            await first.wait()
            end = asyncio.create_task(ending.unsubscribe())
            await asyncio.sleep(0)
            go_on.set()
            await end
            begun = list(taken)
            after = Pull(js._nc, (BREADCRUMBS, DURABLE), lambda: 10, take)
            await after.open()

            async def all_came() -> bool:
                return len(taken) == 10

            await until(all_came, "the rest")
            await after.unsubscribe()
    assert sorted(taken) == list(range(1, 11))
    assert len(begun) < 10


async def test_requests_that_expire_a_durable_that_is_made_again_and_a_broker_that_is_killed_stop_nothing(tmp_path: Path) -> None:
    came: list[str] = []

    async def take(message: Msg) -> None:
        came.append(message.subject.split(".")[2])
        await message.ack()

    async def arrives(js: JetStreamContext, session: str) -> None:
        await say(js, "Hello.", session, session)

        async def is_there() -> bool:
            return session in came

        await until(is_there, session)

    with Broker(tmp_path / "broker") as broker:
        async with bus(broker) as (js, incarnation):
            pull = Pull(js._nc, (BREADCRUMBS, DURABLE), lambda: 3, take, PullTimes(expires=0.05, heartbeat=0.02, pause=0.05))
            await pull.open()
            for number in range(50):
                await arrives(js, f"expiring-{number}")
            await js.delete_consumer(BREADCRUMBS, DURABLE)
            await ensure_durable(js, PATIENT, ORIGIN, incarnation)
            await arrives(js, "made-again")
            broker.kill()
            broker.start()
            async with jetstream(broker.url) as another:
                await arrives(another, "killed")
            await pull.unsubscribe()
    assert len(came) == 52


async def test_however_long_the_broker_was_away_no_more_comes_than_there_are_places(tmp_path: Path) -> None:
    """What nobody could ask for meanwhile must not all be asked for at once."""
    places, work = 4, list[Msg]()
    pace = PullTimes(expires=10 * DEADLINE, heartbeat=1, pause=0.02)

    async def take(message: Msg) -> None:
        work.append(message)

    async def silence_is_noticed() -> bool:
        return pull._is_lost()

    with Broker(tmp_path / "broker") as broker:
        async with bus(broker) as (js, _):
            pull = Pull(js._nc, (BREADCRUMBS, DURABLE), lambda: places - len(work), take, pace)
            await pull.open()
            broker.kill()
            for _ in range(20):
                await until(silence_is_noticed, "silence")
                pull.renew()
            broker.start()
            async with jetstream(broker.url) as another:
                for number in range(20 * places):
                    await say(another, "Hello.", "s1", f"m{number}")

                async def all_places_are_taken() -> bool:
                    return len(work) >= places

                await until(all_places_are_taken, "the first messages")
                await say(another, "Hello.", "s1", "last")
                waiting = (await another.consumer_info(BREADCRUMBS, DURABLE)).num_ack_pending
            await pull.unsubscribe()
    assert (len(work), waiting) == (places, places)
