"""The account of the open pull request."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, Self, cast

from nats.aio.client import Client
from nats.aio.msg import Msg

from builder.connection.pull import Pull, PullTimes
from tests.commands import DEADLINE

PACE = PullTimes(expires=30.0, heartbeat=5.0, pause=0.01)


class Broker:
    """A connection that notes requests."""

    def __init__(self) -> None:
        self.stats = {"reconnects": 0}
        self.is_connected, self.is_closed = True, False
        self.requests: list[tuple[int, str]] = []
        self.arrived = asyncio.Event()
        self.hear: Any = None

    def new_inbox(self) -> str:
        return "_INBOX.x"

    async def subscribe(self, _subject: str, *, cb: Any, **_: Any) -> Any:
        self.hear = cb

        async def drain() -> None:
            """Nothing is on its way."""

        return SimpleNamespace(drain=drain)

    async def publish(self, subject: str, data: bytes, reply: str) -> None:
        assert subject == "$JS.API.CONSUMER.MSG.NEXT.BREADCRUMBS.context-builder"
        self.requests.append((json.loads(data)["batch"], reply))
        self.arrived.set()

    async def next_request(self) -> tuple[int, str]:
        async with asyncio.timeout(DEADLINE):
            await self.arrived.wait()
        self.arrived.clear()
        return self.requests[-1]


class Puller:
    """A pull with so many free places."""

    def __init__(self, free: int) -> None:
        self.broker, self.free, self.messages = Broker(), free, list[Msg]()
        self.pull = Pull(cast("Client", self.broker), ("BREADCRUMBS", "context-builder"), lambda: self.free, self._take, PACE)

    async def _take(self, message: Msg) -> None:
        self.messages.append(message)
        self.free -= 1

    async def __aenter__(self) -> Self:
        await self.pull.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.pull.unsubscribe()


def delivery(**more: Any) -> Any:
    return SimpleNamespace(reply="$JS.ACK.x", headers=None, subject="breadcrumbs.a.b.c", **more)


def status(reply: str, code: str, text: str = "") -> Any:
    return SimpleNamespace(reply="", subject=reply, headers={"Status": code, "Description": text})


async def test_as_many_messages_are_requested_as_there_are_free_places() -> None:
    async with Puller(free=3) as puller:
        assert (await puller.broker.next_request())[0] == 3


async def test_the_next_request_follows_when_the_first_is_used_up() -> None:
    async with Puller(free=2) as puller:
        await puller.broker.next_request()
        for _ in range(2):
            await puller.broker.hear(delivery())
        puller.free = 1
        puller.pull.look()
        assert (await puller.broker.next_request())[0] == 1
        assert len(puller.messages) == 2


async def test_without_a_free_place_nothing_is_requested() -> None:
    async with Puller(free=1) as puller:
        await puller.broker.next_request()
        await puller.broker.hear(delivery())
        puller.pull.look()
        await asyncio.sleep(0)
        puller.free = 2
        assert (await puller.broker.next_request())[0] == 2
        assert len(puller.broker.requests) == 2


async def test_an_expired_request_is_followed_by_another() -> None:
    async with Puller(free=4) as puller:
        _, reply = await puller.broker.next_request()
        await puller.broker.hear(status(reply, "408", "Request Timeout"))
        assert (await puller.broker.next_request())[0] == 4


async def test_the_end_of_an_older_request_ends_nothing() -> None:
    async with Puller(free=4) as puller:
        _, reply = await puller.broker.next_request()
        await puller.broker.hear(status("_INBOX.x.0", "408"))
        await asyncio.sleep(0)
        await puller.broker.hear(status(reply, "408"))
        await puller.broker.next_request()
        assert len(puller.broker.requests) == 2


async def test_after_a_new_connection_the_open_request_counts_as_lost() -> None:
    async with Puller(free=4) as puller:
        await puller.broker.next_request()
        puller.broker.stats["reconnects"] = 1
        assert (await puller.broker.next_request())[0] == 4


async def test_a_refusal_is_logged_once_and_requested_again(caplog: Any) -> None:
    async with Puller(free=1) as puller:
        for _ in range(2):
            _, reply = await puller.broker.next_request()
            await puller.broker.hear(status(reply, "409", "Consumer Deleted"))
        _, reply = await puller.broker.next_request()
        await puller.broker.hear(status(reply, "503", "\nNats-Subject: next"))  # as nats-py reads a 503 without words
        await puller.broker.next_request()
    assert [record.getMessage() for record in caplog.records] == [
        "the broker hands out no messages (409 Consumer Deleted); asking on",
        "the broker hands out no messages (503 Nats-Subject: next); asking on",
    ]


async def test_what_comes_after_the_end_goes_back_to_the_server() -> None:
    async with Puller(free=1) as puller:
        await puller.broker.next_request()
    returned = []

    async def nak() -> None:
        returned.append(True)

    await puller.broker.hear(delivery(nak=nak))
    assert returned == [True]
    assert puller.messages == []
