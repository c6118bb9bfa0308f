"""The connected client of an agent, and the work of `serve`."""

import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError

from builder.client.asking import Asking
from builder.client.connecting import FIRST_SECONDS, open_connection
from builder.client.received import Latest, ReceivedContext
from builder.client.replying import AnsweredMeanwhile, Replying
from builder.client.serving import Handler, OnFailure, ServeRules, Serving, patiently, stop_on_sigterm
from builder.client.subscription import ACK_WAIT_SECONDS, FETCH_SECONDS, Deliver, is_superseded, received, subscribe
from builder.client.tools import MAX_ERROR_CHARS, Tools, called
from builder.domain.errors import Rejected
from builder.wire.subjects import CONTEXTS, DEFAULT, DEFAULT_NAME, Installation, check_token

log = logging.getLogger("builder.client")


@asynccontextmanager
async def connect(
    servers: str = "nats://127.0.0.1:4222",
    workspace: str = "default",
    *,
    name: str = DEFAULT_NAME,
    timeout: float = FIRST_SECONDS,
    **options: Any,
) -> AsyncIterator["Client"]:
    """A connected client for the block; it reconnects without limit.

    servers: comma-separated URLs. name: the installation's `CONTEXT_BUILDER_NAME`. timeout: seconds to connect. options: of
    `open_connection` and nats-py's connect (credentials, TLS). Raises `Unavailable`, and `Rejected` for an invalid workspace or
    name.
    """
    check_token(workspace, "workspace")
    installation = Installation(name)
    connection = await open_connection(servers, timeout=timeout, **options)
    try:
        yield Client(connection, workspace, installation)
    finally:
        with contextlib.suppress(NatsError, OSError):
            await connection.close()


class Client(Asking, Replying):
    """Contexts, messages, look-ups. Errors: fix what is `Rejected`, retry what is `Unavailable`."""

    def __init__(
        self,
        connection: Connection,
        workspace: str,
        installation: Installation = DEFAULT,
        *,
        fetch_seconds: float = FETCH_SECONDS,
    ) -> None:
        """connection: the caller closes it. fetch_seconds: per request for contexts."""
        super().__init__(connection, workspace, installation)
        self._fetch_seconds = fetch_seconds
        self._latest: Latest = OrderedDict()

    async def contexts(
        self, consumer: str, *, durable: str | None = "", deliver: Deliver = "new", skip_superseded: bool = False
    ) -> AsyncGenerator[ReceivedContext, None]:
        """Contexts for this consumer, without end; each is acknowledged when you request the next.

        durable: name of the JetStream consumer, default `{workspace}={consumer}`, shared by processes; None = ephemeral.
        deliver: start of a new durable: "new", "all" of the last day, a timedelta or a datetime. skip_superseded: see
        `is_superseded`. Raises `Unavailable`, `Rejected`.
        """
        async with self.subscribed(consumer, durable=durable, deliver=deliver, skip_superseded=skip_superseded) as contexts:
            async for context in contexts:
                yield context

    @asynccontextmanager
    async def subscribed(
        self, consumer: str, *, durable: str | None = "", deliver: Deliver = "new", skip_superseded: bool = False
    ) -> AsyncIterator[AsyncGenerator[ReceivedContext, None]]:
        """`contexts`, subscribed when the block begins. Warns without a service or triggers."""
        name = self._durable(consumer) if durable == "" else durable
        address = self._address(f"{CONTEXTS}.{self.workspace}.{consumer}.>")
        if warning := await self.check_consumer(consumer):
            log.warning("%s", warning)
        async with (
            subscribe(self._js, address, name, deliver) as subscription,
            aclosing(
                received(
                    subscription,
                    address[1],
                    (self.workspace, consumer),
                    self._latest,
                    self._fetch_seconds,
                    skips=self.is_superseded if skip_superseded else None,
                )
            ) as contexts,
        ):
            yield contexts

    async def is_superseded(self, context: ReceivedContext) -> bool:
        """Whether a later stored context of the speaker contains this message, so that it needs no answer.

        Raises `Unavailable`.
        """
        return await is_superseded(self._js, self._address, context)

    async def serve(
        self,
        consumer: str,
        handler: Handler,
        *,
        tools: Tools | None = None,
        parallel: int = 8,
        attempts: int = 8,
        on_failure: OnFailure | None = None,
        refresh: bool = True,
        ack_wait: float = ACK_WAIT_SECONDS,
        deliver: Deliver = "new",
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
    ) -> None:
        """Answer this consumer's contexts until SIGTERM or cancellation; unanswered ones go to another process.

        handler: context → a reply as in `send_reply`, or None. parallel: sessions at once. attempts: deliveries of a failing
        context, after growing pauses; then `on_failure` gets context and error and may reply, else a dead letter. refresh:
        rebuild the page when its session went on. ack_wait: seconds until contexts of a dead process return. tools: as in
        `send_reply`; deliver: as in `contexts`. Raises `Rejected`.
        """
        if min(parallel, attempts) < 1 or ack_wait <= 0:
            raise Rejected(f"parallel is {parallel}, attempts {attempts}, ack_wait {ack_wait:g}; give numbers above 0")
        address = self._address(f"{CONTEXTS}.{self.workspace}.{consumer}.>")
        if warning := await self.check_consumer(consumer):
            log.warning("%s", warning)
        agent = Agent(
            client=self, handler=handler, tools=tools, on_failure=on_failure, refresh=refresh, speaker=speaker, tags=tuple(tags)
        )
        rules = ServeRules(parallel=parallel, attempts=attempts, ack_wait=ack_wait)
        serving = Serving((self.workspace, consumer), rules, agent.work, agent.give_up)
        with stop_on_sigterm() as stop:
            subscription = partial(subscribe, self._js, address, self._durable(consumer), ack_wait=ack_wait)
            await serving.run(self._connection, (address[0], self._durable(consumer)), subscription, deliver, stop)

    def _durable(self, consumer: str) -> str:
        """'=' fits no token, so no two pairs of names share a durable."""
        return f"{self.workspace}={check_token(consumer, 'consumer')}"


REFRESH_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 60.0)
"""Time-outs of successive attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Arguments of `Client.serve`."""

    client: "Client"
    handler: Handler
    tools: Tools | None
    on_failure: OnFailure | None
    refresh: bool
    """A session with newer messages gives a new page."""
    speaker: str
    tags: tuple[str, ...]

    async def work(self, context: ReceivedContext, is_repeat: bool) -> None:
        """Answer a context once, also after restarts. Raises what the handler raises."""
        page = None if is_repeat and await self._is_answered(context) else await self._page(context)
        while page and not page.is_over and (reply := await called(self.handler, page)) is not None:
            try:
                await self._send(page, reply)
                break
            except AnsweredMeanwhile:  # a person asked two things, and another page's answer has one of them
                before, page = page, await self._refreshed(context)
                if page and page.questions == before.questions:
                    raise

    async def give_up(self, context: ReceivedContext, error: Exception) -> None:
        """As `on_failure` says, by default with a dead letter."""
        if self.on_failure is not None:
            try:
                if (reply := await called(self.on_failure, context, error)) is not None:
                    await self._send(context, reply)
            except Exception as failure:  # noqa: BLE001 - a handler is anybody's code
                error = failure
            else:
                return
        names = {"consumer": context.consumer_id, "trigger": context.trigger_event_id, "session": context.session_token}
        await self.client.request("fail", names | {"error": f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]})

    async def _is_answered(self, context: ReceivedContext) -> bool:
        responses = await patiently(partial(self.client.responses, context), "what was said before")
        for response in responses:
            if self.tools is not None and response.open_calls:
                await self.client.run_tools(context, response, self.tools, tags=self.tags)
        return bool(responses)

    async def _page(self, context: ReceivedContext) -> ReceivedContext | None:
        has_gone_on = partial(self.client.has_gone_on, context)
        if context.is_over or not await patiently(has_gone_on, "a look at the session"):
            return context
        if self.refresh:
            return await self._refreshed(context)
        return None if await patiently(partial(self.client.is_superseded, context), "a look at later contexts") else context

    async def _refreshed(self, context: ReceivedContext) -> ReceivedContext | None:
        """None = cannot be built. Time-outs start short: a dying service loses the request."""
        seconds = chain(REFRESH_SECONDS, repeat(REFRESH_SECONDS[-1]))
        try:
            return await patiently(
                lambda: self.client.refresh(context, timeout=next(seconds)), f"a new page for context {context.id}"
            )
        except Rejected as error:
            log.warning("context %s is left without an answer: %s", context.id, error)
            return None

    async def _send(self, page: ReceivedContext, reply: Any) -> None:
        send = partial(self.client.send_reply, page, reply, tools=self.tools, speaker=self.speaker, tags=self.tags)
        await patiently(send, f"the reply to context {page.id}")
