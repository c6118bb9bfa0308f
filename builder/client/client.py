"""The connected client of an agent, and the work of `serve`."""

import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, repeat
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError

from builder.client.asking import Asking
from builder.client.heartbeat import Open
from builder.client.received import Latest, ReceivedContext
from builder.client.replying import AnsweredMeanwhile, Replying
from builder.client.requests import NoService
from builder.client.responses import read_conversation
from builder.client.serving import Handler, OnFailure, Serving, entered, stop_on_sigterm
from builder.client.subscription import (
    FETCH_SECONDS,
    Deliver,
    Make,
    is_superseded,
    received,
    subscribe,
    subscribe_once,
)
from builder.client.tools import MAX_ERROR_CHARS, Tools, called
from builder.connection.errors import patiently
from builder.connection.names import DEFAULT, DEFAULT_NAME, Installation
from builder.connection.opening import FIRST_SECONDS, open_connection
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.wire.subjects import CONTEXTS, check_token
from builder.wire.times import moment

log = logging.getLogger("builder.client")

SERVE_SECONDS = 15.0
"""Until contexts of a dead process go to another one."""
CALLBACKS = frozenset({"error_cb", "disconnected_cb", "closed_cb", "discovered_server_cb", "reconnected_cb", "lame_duck_mode_cb"})
"""Options that belong to the caller's loop."""
RECENT = timedelta(minutes=5)
"""Before its first start: what an agent answers that nobody answers."""


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
    quiet = {name: value for name, value in options.items() if name not in CALLBACKS}
    reopen = partial(open_connection, servers, timeout=timeout, **quiet)
    try:
        yield Client(connection, workspace, installation, reopen=reopen)
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
        reopen: Open | None = None,
    ) -> None:
        """connection: the caller closes it. fetch_seconds: per request for contexts. reopen: see `Serving`."""
        super().__init__(connection, workspace, installation)
        self._reopen = reopen
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
        async with AsyncExitStack() as stack:
            if name is None:
                subscription = await stack.enter_async_context(subscribe_once(self._js, address, deliver))
            else:
                entering = partial(subscribe, self._js, address, name, partial(self._make_durable, consumer, name), None, deliver)
                wait = partial(entered, stack, entering)
                subscription = await patiently(wait, "the subscription to contexts", NoService)
            skips = self.is_superseded if skip_superseded else None
            recipient = self.workspace, consumer
            contexts = received(subscription, address[1], recipient, self._latest, self._fetch_seconds, skips=skips)
            yield await stack.enter_async_context(aclosing(contexts))

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
        ack_wait: float = SERVE_SECONDS,
        deliver: Deliver | None = None,
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
    ) -> None:
        """Answer this consumer's contexts until SIGTERM or cancellation; unanswered ones go to another process.

        handler: context → a reply as in `send_reply`, or None. parallel: sessions at once. attempts: deliveries of a failing
        context, after growing pauses; then `on_failure` gets context and error and may reply, else a dead letter. refresh:
        rebuild the page when its session went on. ack_wait: seconds until contexts of a dead process return. tools: as in
        `send_reply`; deliver: as in `contexts`, by default the questions of the last five minutes that nobody answers. Raises
        `Rejected`.
        """
        if min(parallel, attempts) < 1 or ack_wait <= 0:
            raise Rejected(f"parallel is {parallel}, attempts {attempts}, ack_wait {ack_wait:g}; give numbers above 0")
        address = self._address(f"{CONTEXTS}.{self.workspace}.{consumer}.>")
        if warning := await self.check_consumer(consumer):
            log.warning("%s", warning)
        agent = Agent(
            client=self, handler=handler, tools=tools, on_failure=on_failure, refresh=refresh, speaker=speaker, tags=tuple(tags),
            takes_unanswered=deliver is None,
        )  # fmt: skip
        serving = Serving(
            (self.workspace, consumer), agent.work, agent.give_up, self._reopen, parallel=parallel, attempts=attempts,
            ack_wait=ack_wait,
        )  # fmt: skip
        with stop_on_sigterm() as stop:
            durable, make = self._durable(consumer), agent.noting(partial(self._make_durable, consumer, self._durable(consumer)))
            subscription = partial(subscribe, self._js, address, durable, make, ack_wait)
            await serving.run(self._connection, (address[0], durable), subscription, RECENT if deliver is None else deliver, stop)

    async def _make_durable(self, consumer: str, name: str, request: Mapping[str, Any]) -> JsonObject:
        moments = {key: moment(value) if isinstance(value, datetime) else value for key, value in request.items()}
        return await self.request("durable", {"consumer": consumer, "name": name, **moments})

    def _durable(self, consumer: str) -> str:
        """'=' fits no token, so no two pairs of names share a durable."""
        return f"{self.workspace}={check_token(consumer, 'consumer')}"


REFRESH_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 60.0)
"""Time-outs of successive attempts."""


@dataclass(slots=True, kw_only=True)
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
    takes_unanswered: bool
    """Questions from before its durable was made that nobody answers."""
    start: str = ""
    """When its durable was made now, by the broker's clock; "" = it was there."""

    def noting(self, make: Make) -> Make:
        """make: see `subscribe`; it notes the time at which a new durable was made."""

        async def note(request: JsonObject) -> JsonObject:
            answer: JsonObject = await make(request)  # type: ignore[assignment]
            self.start = answer["made_at"] or self.start
            return answer

        return note

    async def work(self, context: ReceivedContext, is_repeat: bool) -> None:
        """Answer a context once, also after restarts. Raises what the handler raises."""
        is_earlier = self.takes_unanswered and self._is_earlier(context)
        if is_earlier and context.trigger_event_id not in context.questions:
            return
        has_answer = (is_repeat or is_earlier) and await self._is_answered(context, by_others=is_earlier)
        page = None if has_answer else await self._page(context)
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

    def _is_earlier(self, context: ReceivedContext) -> bool:
        """Whether it was asked for before the durable was made."""
        return bool(self.start) and datetime.fromisoformat(context.event["assembled_at"]) < datetime.fromisoformat(self.start)

    async def _is_answered(self, context: ReceivedContext, *, by_others: bool) -> bool:
        """by_others: whether their answers count."""
        conversation = await patiently(partial(read_conversation, self.client, context), "what was said before")
        for response in conversation.responses:
            if self.tools is not None and response.open_calls:
                await self.client.run_tools(context, response, self.tools, tags=self.tags)
        return bool(conversation.responses) or (by_others and conversation.is_answered_by_others)

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
