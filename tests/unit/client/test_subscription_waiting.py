"""Waiting for one context, on a broker in memory."""

import asyncio
from typing import cast

import pytest
from nats.js import JetStreamContext

from builder.adapters.memory.broker import MemoryBroker
from builder.adapters.memory.streams import MemoryStream
from builder.client.subscription import ExpectedContext, expected
from builder.connection.names import FORGOTTEN_HEADER
from builder.domain.errors import Rejected, Unavailable

SUBJECT = "contexts.acme.default.s1.c1"


@pytest.fixture
def broker() -> MemoryBroker:
    return MemoryBroker(MemoryStream(name="CONTEXTS", prefix="contexts", one_a_subject=True))


def waiting(broker: MemoryBroker, subject: str = SUBJECT) -> "asyncio.Task[bytes | None]":
    """The wait for a context, begun. subject: of the plain subscription."""

    async def wait() -> bytes | None:
        js = cast("JetStreamContext", broker)
        async with expected(broker.connection, js, ("CONTEXTS", subject)) as arrival:
            there = ExpectedContext(js, arrival._subscription, ("CONTEXTS", SUBJECT), look_seconds=0.01)
            return await there.wait(30, is_repeat=False)

    return asyncio.create_task(wait())


async def test_what_is_published_comes_at_once_and_the_subscription_ends(broker: MemoryBroker) -> None:
    task = waiting(broker)
    while not broker.subscriptions:
        await asyncio.sleep(0)
    await broker.publish(SUBJECT, b"page", stream="CONTEXTS")
    assert await task == b"page"
    assert broker.subscriptions == []


async def test_what_the_subscription_missed_is_found_in_the_stream(broker: MemoryBroker) -> None:
    task = waiting(broker, "contexts.acme.default.s1.other")
    await broker.publish(SUBJECT, b"page", stream="CONTEXTS")
    assert await task == b"page"


async def test_the_stub_of_what_was_forgotten_is_no_context(broker: MemoryBroker) -> None:
    task = waiting(broker)
    await broker.publish(SUBJECT, b"{}", stream="CONTEXTS", headers={FORGOTTEN_HEADER: "1"})
    with pytest.raises(Rejected, match="what it showed was forgotten"):
        await task


async def test_a_connection_that_was_closed_is_unavailable(broker: MemoryBroker) -> None:
    await broker.close()
    with pytest.raises(Unavailable, match=f"could not subscribe to {SUBJECT}"):
        await waiting(broker)
