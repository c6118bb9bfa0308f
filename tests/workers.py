"""Several workers on one durable: what they publish together is compared with what one worker publishes alone."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DURABLE, Topology, ensure_durable, ensure_streams
from builder.domain.breadcrumb import Place
from tests.commands import DEADLINE
from tests.running import Broker, Running, context_bytes, jetstream, say, settled, until

TOPICS = ("kilns", "glazes", "tyres", "invoices", "trains")
SENDERS = 20
SHARE = 0.25
"""No worker does less than this part of its fair share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Messages of people: `triggers` in `sessions`, by turns."""

    triggers: int
    sessions: int

    def names(self) -> list[tuple[str, str, str, str]]:
        """Of the contexts, as `tests.running.triggers` has them."""
        return sorted(("acme", f"s{number % self.sessions}", f"m{number}", "default") for number in range(self.triggers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Makes workers. Each has a data folder, and a store of its own unless `stores` names one for it."""

    folder: Path
    broker: Broker
    options: dict[str, Any]
    stores: Callable[[int], str] = lambda _number: ""
    """Worker → CONTEXT_BUILDER_STORE__URL; "" = a file in its data folder."""

    def make(self, number: int, **more: Any) -> Running:
        """A worker that does not run yet."""
        store = {"store__url": url} if (url := self.stores(number)) else {}
        return Running(self.folder / f"worker{number}", self.broker.url, **(self.options | store | more))


async def send(js: JetStreamContext, load: Load, first: int = 0, end: int | None = None) -> None:
    """Publish a part of the load, each session in its order."""

    async def person(sender: int) -> None:
        for number in range(first, end or load.triggers):
            session = number % load.sessions
            if session % SENDERS == sender:
                await say(js, f"Message {number} is about {TOPICS[session % len(TOPICS)]}.", f"s{session}", f"m{number}")

    await asyncio.gather(*map(person, range(SENDERS)))


async def all_done(js: JetStreamContext) -> None:
    """Wait until everything in the stream is settled."""
    await until(lambda: settled(js), "everything to be settled", 2 * DEADLINE)


async def alone(workers: Workers, number: int) -> list[bytes]:
    """The contexts of the whole stream, as one fresh worker publishes them; those of the others are thrown away first."""
    async with jetstream(workers.broker.url) as js:
        await js.delete_stream(CONTEXTS)
        await js.delete_consumer(BREADCRUMBS, DURABLE)
        incarnation = await ensure_streams(js, Topology())
        # As after the loss of a stream: a durable that delivers everything.
        await ensure_durable(js, Topology(), Place(1, 0), incarnation)
        with workers.make(number):
            await all_done(js)
            return await context_bytes(js)


def published(service: Running) -> int:
    """Contexts of a worker since its start, without those that its line calls published before.

    A delivery comes again when a slow machine keeps its worker from saying within the ack wait that it is at work.
    """
    return sum(map(int, re.findall(r"builder.events  published .* contexts=(\d+)", service.said())))


async def steady(workers: Workers, js: JetStreamContext, load: Load, numbers: Sequence[int]) -> list[int]:
    """Send the load to workers that all run; how many contexts each of them published."""
    with ExitStack() as stack:
        services = [stack.enter_context(workers.make(number)) for number in numbers]
        await send(js, load)
        await all_done(js)
        for service in services:  # the last lines of a log come after the acknowledgement
            assert await asyncio.to_thread(service.stop) == 0
        return [published(service) for service in services]


async def restless(workers: Workers, js: JetStreamContext, load: Load) -> None:
    """Send the load in parts: to two workers, to four, to three and a killed one that comes back, to four with two rolled."""
    parts = [load.triggers * number // 4 for number in range(5)]
    with ExitStack() as stack:
        services = [stack.enter_context(workers.make(number)) for number in range(2)]
        await send(js, load, parts[0], parts[1])
        sending = asyncio.create_task(send(js, load, parts[1], parts[2]))
        for number in (2, 3):
            services.append(workers.make(number))
            stack.callback(services[-1].kill)
            await asyncio.to_thread(services[-1].start)
        await sending
        sending = asyncio.create_task(send(js, load, parts[2], parts[3]))
        await until(lambda: has_published(services[0], 1), "work for the worker that is killed")
        services[0].kill()
        await sending
        await asyncio.to_thread(services[0].start)
        sending = asyncio.create_task(send(js, load, parts[3], parts[4]))
        for service in services[:2]:
            assert await asyncio.to_thread(service.stop) == 0
            await asyncio.to_thread(service.start)
        await sending
        await all_done(js)


async def has_published(service: Running, number: int) -> bool:
    """Whether a worker has published so many contexts since its start."""
    return published(service) >= number
