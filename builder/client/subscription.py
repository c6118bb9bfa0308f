"""Contexts as they come, or one expected context: subscribed, checked, read, acknowledged.

An expected one is also looked for in the stream.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from nats.aio.client import Client as Connection
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, ConsumerInfo, DeliverPolicy
from nats.js.errors import NotFoundError

from builder.client.received import Latest, ReceivedContext, read
from builder.client.requests import NoService
from builder.connection.heartbeat import heartbeat
from builder.connection.names import FORGOTTEN_HEADER
from builder.connection.opening import translated
from builder.domain.errors import Rejected, Unavailable
from builder.domain.json_values import JsonObject
from builder.wire.subjects import context_subject
from builder.wire.traces import trace_of

log = logging.getLogger("builder.client")

ACK_WAIT_SECONDS = 60.0
EPHEMERAL_SECONDS = 3600.0
FETCH_SECONDS = 5.0
"""Per request: how long a deleted durable may go unnoticed."""

Deliver = Literal["new", "all"] | timedelta | datetime
"""New contexts, all kept ones (24 hours), a time span ago, or a time."""
LOOK_SECONDS = 1.0
"""Between two looks into the stream."""
Address = tuple[str, str]
MAX_LINKS = 50
"""Contexts of a chain that are read."""


Make = Callable[[JsonObject], Awaitable[object]]
"""Beginning and `ack_wait` of a durable, as `DurableRequest` has them → asks the service to make it."""


@asynccontextmanager
async def subscribe(
    js: JetStreamContext, address: Address, durable: str, make: Make, ack_wait: float | None, deliver: Deliver
) -> AsyncIterator[JetStreamContext.PullSubscription]:
    """A pull subscription of a durable for the block.

    address: stream and subject. ack_wait: seconds until an abandoned context returns; changes an existing durable. deliver: for a
    new one, which the service makes. Raises `Unavailable`, also for a durable with another subject and without a service, and
    `Rejected` for another `deliver`.
    """
    stream, subject = address
    request = {**_beginning(deliver), "ack_wait": ack_wait or ACK_WAIT_SECONDS}
    with translated(f"could not subscribe to {subject}", "has the service run once on this broker?"):
        info = await _info(js, stream, durable)
        if info is None or (ack_wait and info.config.ack_wait != ack_wait):
            await _ensure(make, request, is_there=info is not None)
        subscription = await js.pull_subscribe_bind(durable=durable, stream=stream)
    try:
        _check_subject(info, subject)
        yield subscription
    finally:
        await settled(subscription.unsubscribe())


@asynccontextmanager
async def subscribe_once(
    js: JetStreamContext, address: Address, deliver: Deliver
) -> AsyncIterator[JetStreamContext.PullSubscription]:
    """A pull subscription that ends with the block; it needs the right to make consumers. Raises as `subscribe`."""
    stream, subject = address
    beginning = _beginning(deliver)
    since = beginning.get("since") or (datetime.now(UTC) - timedelta(seconds=beginning["seconds"]) if beginning else None)
    # The broker would forget the consumer five seconds after an agent began to think.
    config = ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_TIME if since else DeliverPolicy.NEW, opt_start_time=since,
        ack_wait=ACK_WAIT_SECONDS, max_deliver=-1, inactive_threshold=EPHEMERAL_SECONDS,
    )  # fmt: skip
    with translated(f"could not subscribe to {subject}", "has the service run once on this broker?"):
        subscription = await js.pull_subscribe(subject, stream=stream, config=config)
    try:
        yield subscription
    finally:
        await settled(subscription.unsubscribe())


async def _info(js: JetStreamContext, stream: str, durable: str) -> ConsumerInfo | None:
    try:
        info: ConsumerInfo = await js.consumer_info(stream, durable)
    except NotFoundError:
        return None
    return info


async def _ensure(make: Make, request: JsonObject, *, is_there: bool) -> None:
    """A durable that is there goes on as it is without a service."""
    try:
        await make(request)
    except NoService:
        if not is_there:
            raise


def _check_subject(info: ConsumerInfo | None, subject: str) -> None:
    if info is None:
        return
    filters = [info.config.filter_subject] if info.config.filter_subject else info.config.filter_subjects or []
    if filters != [subject]:
        theirs = ", ".join(filters) or "everything"
        raise Unavailable(f"the durable {info.name} hears {theirs}, wanted is {subject}; take another name, or delete it")


async def received(
    subscription: JetStreamContext.PullSubscription,
    subject: str,
    recipient: tuple[str, str],
    latest: Latest,
    fetch_seconds: float = FETCH_SECONDS,
    skips: Callable[[ReceivedContext], Awaitable[bool]] | None = None,
) -> AsyncGenerator[ReceivedContext, None]:
    """Contexts without end, each acknowledged when you request the next.

    recipient: workspace and consumer. fetch_seconds: per request. skips: whether to skip one. Raises `Unavailable`.
    """
    while True:
        heed_cancellation()
        for message in await _fetch(subscription, subject, fetch_seconds):
            heed_cancellation()
            context = await readable(message, recipient, latest)
            if context is None:
                continue
            if skips is None or not await skips(context):
                async with _kept_alive(message):
                    yield context
            await settled(message.ack())  # an acknowledgement that is lost brings the context again


async def settled(settling: Awaitable[object]) -> None:
    """A word to the broker that may be lost: it acts by itself after a while."""
    with suppress(NatsError, OSError, TimeoutError):
        await settling


def heed_cancellation() -> None:
    """In Python 3.11 wait_for, within nats-py, drops a cancellation that comes with its message."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class ExpectedContext:
    """A context on its own subject; nothing is acknowledged."""

    def __init__(self, js: JetStreamContext, subscription: Subscription, address: Address, look_seconds: float) -> None:
        self._js = js
        self._subscription = subscription
        self._address = address
        self._look_seconds = look_seconds

    async def wait(self, seconds: float, *, is_repeat: bool) -> bytes | None:
        """None after the time. is_repeat: it may exist. Raises `Rejected` if forgotten, `Unavailable`."""
        deadline = asyncio.get_running_loop().time() + seconds
        data = await self._stored() if is_repeat else None
        while data is None and (remaining := deadline - asyncio.get_running_loop().time()) > 0:
            data = await self.next(min(remaining, self._look_seconds)) or await self._stored()
        return data

    async def next(self, seconds: float) -> bytes | None:
        """None after the time. Raises as `wait`."""
        with translated(f"listening to {self._address[1]} failed", "ask again"):
            try:
                message = await self._subscription.next_msg(seconds)
            except (NatsTimeout, TimeoutError):
                return None
            finally:
                heed_cancellation()
        return _unforgotten(self._address[1], message.headers, message.data)

    async def _stored(self) -> bytes | None:
        return await _last(self._js, self._address)


@asynccontextmanager
async def expected(
    connection: Connection, js: JetStreamContext, address: Address, look_seconds: float = LOOK_SECONDS
) -> AsyncIterator[ExpectedContext]:
    """address: stream and subject. Raises `Unavailable`."""
    subject = address[1]
    with translated(f"could not subscribe to {subject}", "is the connection to the broker there?"):
        subscription = await connection.subscribe(subject)
    try:
        yield ExpectedContext(js, subscription, address, look_seconds)
    finally:
        await settled(subscription.unsubscribe())


async def is_superseded(js: JetStreamContext, address_of: Callable[[str], Address], context: ReceivedContext) -> bool:
    """Whether the session's newest context supersedes this one. address_of: of a subject. Raises `Unavailable`."""
    identity = "*"
    for _ in range(MAX_LINKS):
        address = address_of(context_subject(context.workspace, context.consumer_id, context.session_token, identity))
        event: JsonObject = {}
        with suppress(Rejected):
            event = json.loads(await _last(js, address) or b"{}")
        identity = str(event.get("supersedes") or "")
        if identity == context.id:
            return True
        if not identity or int(event["trigger_seq"]) <= context.trigger_seq:
            return False
    return False


def _beginning(deliver: Deliver) -> JsonObject:
    """`since` or `seconds`; {} = with the next context."""
    match deliver:
        case "new":
            return {}
        case "all":
            return {"since": datetime.fromtimestamp(0, UTC)}
        case timedelta():
            return {"seconds": deliver.total_seconds()}
        case datetime():
            return {"since": deliver.astimezone(UTC)}
        case _:
            raise Rejected(f'deliver is {deliver!r}; give "new", "all", a timedelta or a datetime')


async def readable(message: Msg, recipient: tuple[str, str], latest: Latest) -> ReceivedContext | None:
    """None = not ours, and settled."""
    if FORGOTTEN_HEADER in (message.headers or {}):
        log.info("passing over %s: what it showed was forgotten", message.subject)
        await settled(message.ack())
        return None
    try:
        return replace(read(message.data, recipient, latest), trace=trace_of(message.headers))
    except Rejected as error:
        log.warning("passing over %s: %s", message.subject, error)
        await settled(message.term())
        return None


async def _fetch(subscription: JetStreamContext.PullSubscription, subject: str, fetch_seconds: float) -> list[Msg]:
    with translated(f"listening to {subject} failed", "subscribe again"):
        try:
            return await subscription.fetch(1, timeout=fetch_seconds)
        except (NatsTimeout, TimeoutError):
            return []


@asynccontextmanager
async def _kept_alive(message: Msg) -> AsyncIterator[None]:
    try:
        async with heartbeat(lambda: settled(message.in_progress()), ACK_WAIT_SECONDS / 3):
            yield
    except BaseException:
        await settled(message.nak())
        raise


async def _last(js: JetStreamContext, address: Address) -> bytes | None:
    stream, subject = address
    with translated(f"reading {subject} of {stream} failed", "has the service run once on this broker?"):
        try:
            message = await js.get_last_msg(stream, subject, direct=True)
        except NotFoundError:
            return None
    return _unforgotten(subject, message.headers, message.data or b"")


def _unforgotten(subject: str, headers: dict[str, str] | None, data: bytes) -> bytes:
    if FORGOTTEN_HEADER in (headers or {}):
        raise Rejected(f"the context on {subject} was taken away, because what it showed was forgotten; ask again")
    return data
