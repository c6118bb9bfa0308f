"""An agent's loop: many sessions at once, one context each, answered once.

Failing contexts return after growing pauses; unanswered ones at the end.
"""

import asyncio
import contextlib
import logging
import signal
import threading
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from nats.aio.client import Client as Connection
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from builder.client.heartbeat import Heartbeat, Open
from builder.client.received import Latest, ReceivedContext
from builder.client.subscription import Deliver, readable, settled
from builder.client.tools import is_cancelled
from builder.connection.errors import patiently
from builder.connection.heartbeat import heartbeat
from builder.connection.pull import Pull
from builder.domain.errors import Unavailable
from builder.wire.traces import span

log = logging.getLogger("builder.client")

T = TypeVar("T")
Handler = Callable[[ReceivedContext], Any]
"""Context → reply, or None; plain (in a thread) or async."""
OnFailure = Callable[[ReceivedContext, Exception], Any]
"""Context and its last error → reply or None; plain or async."""
Work = Callable[[ReceivedContext, bool], Awaitable[None]]
"""Context, whether it was delivered before."""
Subscribe = Callable[[Deliver], AbstractAsyncContextManager[JetStreamContext.PullSubscription]]
"""Start of a new durable → the subscription; an existing one resumes."""
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Before each next attempt; the last one repeats."""
BEATS = 3
"""Signs of life within the time after which a context comes again."""
LOOK_SECONDS = 5.0
"""Between two looks for the durable."""
STOPS = set[asyncio.Event]()
"""One per serving loop of this process."""
WAITING = 16
"""Contexts in sessions at work, per parallel session."""


@dataclass(frozen=True, slots=True)
class _Delivery:
    message: Msg
    context: ReceivedContext


class Serving:
    """The contexts of one consumer."""

    def __init__(
        self,
        recipient: tuple[str, str],
        work: Work,
        give_up: OnFailure,
        reopen: Open | None,
        *,
        parallel: int,
        attempts: int,
        ack_wait: float,
    ) -> None:
        """recipient: workspace and consumer. Exceptions of work and give_up count as failures.

        parallel: sessions at once. attempts: deliveries of a failing context. ack_wait: seconds until contexts of a dead process
        return. reopen: another connection, so that signs of life go on while a handler blocks the loop; None = they wait for it.
        """
        self._reopen = reopen
        self._recipient = recipient
        self._room = parallel * WAITING
        self._attempts = attempts
        self._every = ack_wait / BEATS
        self._work = work
        self._give_up = give_up
        self._latest: Latest = OrderedDict()
        self._sessions: dict[str, deque[_Delivery]] = {}
        self._tasks = set[asyncio.Task[None]]()
        self._slots = asyncio.Semaphore(parallel)
        self._pull: Pull | None = None

    async def run(
        self, connection: Connection, durable: tuple[str, str], subscribe: Subscribe, deliver: Deliver, stop: asyncio.Event
    ) -> None:
        """Serve until `stop` is set or cancellation.

        durable: stream and name. Raises `Unavailable` when the connection was closed.
        """
        async with self._beating():
            await self._run(connection, durable, subscribe, deliver, stop)

    async def _run(
        self, connection: Connection, durable: tuple[str, str], subscribe: Subscribe, deliver: Deliver, stop: asyncio.Event
    ) -> None:
        try:
            while not stop.is_set():
                async with AsyncExitStack() as stack:
                    entering = partial(entered, stack, partial(subscribe, deliver))
                    waiting = asyncio.create_task(patiently(entering, "the subscription to contexts"))
                    await _either(waiting, stop)
                    if stop.is_set():
                        return
                    subscription = await waiting
                    if self._pull is None:
                        self._pull = Pull(connection, durable, self._free, self._take)
                        await self._pull.open()
                    while not stop.is_set() and await _is_there(connection, subscription):
                        deliver = datetime.now(UTC)  # where a durable begins that is made again
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
        finally:
            await self._close(connection)

    def _free(self) -> int:
        return self._room - sum(map(len, self._sessions.values()))

    async def _take(self, message: Msg) -> None:
        context = await readable(message, self._recipient, self._latest)
        if context is None:
            return
        waiting = self._sessions.setdefault(context.session_id, deque())
        waiting.append(_Delivery(message, context))
        if len(waiting) == 1:
            task = asyncio.create_task(self._serve_session(context.session_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve_session(self, session: str) -> None:
        waiting = self._sessions[session]
        while waiting:
            async with self._slots:
                await self._serve(waiting[0])
            waiting.popleft()
            if self._pull:
                self._pull.look()
        del self._sessions[session]

    async def _serve(self, delivery: _Delivery) -> None:
        message, context = delivery.message, delivery.context
        number = message.metadata.num_delivered
        try:
            with span("answer context", "consumer", context.trace) as note:
                note(consumer=context.consumer_id)
                await self._work(context, number > 1)
        except (Exception, asyncio.CancelledError) as cause:  # a handler is anybody's code; one context must not end the others
            if is_cancelled():
                raise
            error = cause if isinstance(cause, Exception) else RuntimeError(repr(cause))
            what = (context.id, number, self._attempts, type(error).__name__, error)
            log.warning("context %s failed, attempt %d of %d: %s: %s", *what)
            log.debug("context %s failed", context.id, exc_info=error)
            if number < self._attempts or not await self._is_given_up(context, error):
                pause = PAUSES[min(number, len(PAUSES)) - 1]
                await settled(message.nak(pause))
                return
        await settled(message.ack())

    async def _is_given_up(self, context: ReceivedContext, error: Exception) -> bool:
        try:
            await self._give_up(context, error)
        except Exception as failure:  # noqa: BLE001 - as above
            log.warning("context %s cannot be given up: %s", context.id, failure)
            return False
        return True

    def _addresses(self) -> list[str]:
        """Reply addresses of the contexts at work or waiting; also called from another thread, which sees some moment of it."""
        return [delivery.message.reply for waiting in [*self._sessions.values()] for delivery in [*waiting]]

    def _beating(self) -> AbstractAsyncContextManager[None]:
        if self._reopen:
            return Heartbeat(self._reopen, self._every, self._addresses)
        return heartbeat(self._beat, self._every)

    async def _beat(self) -> None:
        for delivery in [each for waiting in self._sessions.values() for each in waiting]:
            await settled(delivery.message.in_progress())

    async def _close(self, connection: Connection) -> None:
        if self._pull:
            await self._pull.unsubscribe()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        for delivery in [each for waiting in self._sessions.values() for each in waiting]:
            await settled(delivery.message.nak())
        await settled(connection.flush())
        await asyncio.gather(*tasks, return_exceptions=True)


async def entered(
    stack: AsyncExitStack, subscribe: Callable[[], AbstractAsyncContextManager[JetStreamContext.PullSubscription]]
) -> JetStreamContext.PullSubscription:
    """The subscription, which ends with the stack."""
    return await stack.enter_async_context(subscribe())


async def _either(task: "asyncio.Task[T]", stop: asyncio.Event) -> None:
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _is_there(connection: Connection, subscription: JetStreamContext.PullSubscription) -> bool:
    if connection.is_closed:
        raise Unavailable("the connection to the broker was closed, so no context comes any more; connect again")
    try:
        await subscription.consumer_info()
    except NotFoundError:
        return False
    except (NatsError, OSError, TimeoutError):
        return True
    return True


def _stop_all() -> None:
    for stop in STOPS:
        stop.set()


@contextmanager
def stop_on_sigterm() -> Iterator[asyncio.Event]:
    """Set by SIGTERM if nothing else handles it."""
    stop = asyncio.Event()
    is_free = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if is_free:
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _stop_all)
    STOPS.add(stop)
    try:
        yield stop
    finally:
        STOPS.discard(stop)
        if is_free:
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
