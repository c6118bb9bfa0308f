"""The client of agents and of everything else that talks: one connection, one workspace."""

import contextlib
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import nats
from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from builder.client.asking import Asking
from builder.client.received import Latest, ReceivedContext
from builder.client.subscription import received, subscribe
from builder.domain.breadcrumb import NO_SESSION
from builder.domain.errors import Rejected, Unavailable
from builder.domain.usage import USAGE, Usage
from builder.wire.lines import Outgoing, make_record, outgoing
from builder.wire.subjects import CONTEXTS, MESSAGE_ID_HEADER, REPLAY_HEADER, check_token

log = logging.getLogger("builder.client")

MAX_BODY = 1_048_576
"""Bytes of a breadcrumb that the service takes by default."""
HEADERS = 2_048
"""Bytes of what the broker takes that are left to a breadcrumb's headers: it hangs up on more, without a word to the sender."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Where a breadcrumb stands in the stream. duplicate: the stream had it before, under the same message id."""

    sequence: int
    duplicate: bool


@asynccontextmanager
async def connect(servers: str = "nats://127.0.0.1:4222", workspace: str = "default", **options: Any) -> AsyncIterator["Client"]:
    """A client for the block. servers: comma-separated URLs; options: more arguments of nats-py's connect (credentials, TLS).

    Raises `Unavailable` when nobody answers, `Rejected` when the workspace does not fit a subject.
    """
    check_token(workspace, "workspace")
    arguments = {"max_reconnect_attempts": -1, "connect_timeout": 5, **options}
    try:
        connection = await nats.connect(servers=[part.strip() for part in servers.split(",")], **arguments)
    except (OSError, TimeoutError, NatsError) as error:
        raise Unavailable(f"no NATS server answered at {servers}: {error!r}; is it up, and is the address right?") from error
    try:
        yield Client(connection, workspace)
    finally:
        with contextlib.suppress(NatsError, OSError):
            await connection.close()


class Client(Asking):
    """Publishing is acknowledged by the stream before a method returns, and safe to repeat with the same id."""

    def __init__(self, connection: Connection, workspace: str) -> None:
        """connection: open; the caller closes it."""
        super().__init__(connection, workspace)
        self._js = connection.jetstream()
        self._latest: Latest = OrderedDict()

    async def contexts(
        self, consumer: str, *, durable: str | None = "", only_new: bool = False
    ) -> AsyncGenerator[ReceivedContext, None]:
        """Contexts for this consumer, for ever. Each is acknowledged when the next one is asked for, and kept alive till then.

        durable: name under which NATS remembers what was handed out, default `{workspace}={consumer}`; processes with the
        same name share the work; None = nothing is remembered. only_new: skip what waited before the first subscription.
        What is no context of this consumer is passed over with a warning in the log. Raises `Unavailable`.
        """
        async with self.subscribed(consumer, durable=durable, only_new=only_new) as contexts:
            async for context in contexts:
                yield context

    @asynccontextmanager
    async def subscribed(
        self, consumer: str, *, durable: str | None = "", only_new: bool = False
    ) -> AsyncIterator[AsyncGenerator[ReceivedContext, None]]:
        """Like `contexts`, but the subscription exists as soon as the block begins: what is published in it is not missed."""
        # '=' fits no token: workspace a with consumer b-c has another durable than workspace a-b with consumer c.
        name = f"{self.workspace}={check_token(consumer, 'consumer')}" if durable == "" else durable
        subject = f"{CONTEXTS}.{self.workspace}.{consumer}.>"
        async with (
            subscribe(self._js, subject, name, only_new=only_new) as subscription,
            aclosing(received(subscription, subject, (self.workspace, consumer), self._latest)) as contexts,
        ):
            yield contexts

    async def send_user_message(
        self, session: str, content: str, *, message_id: str = "", speaker: str = "", created_at: datetime | None = None
    ) -> str:
        """Publish a `user.message.v1`; returns its id. Raises `Rejected` for what the service would reject, `Unavailable`."""
        body = {"content": content, **({"speaker": speaker} if speaker else {})}
        return await self._send("user.message.v1", session, body, message_id, created_at)

    async def send_response(
        self,
        context: ReceivedContext,
        message: str,
        *,
        tool_requests: Iterable[dict[str, Any]] = (),
        message_id: str = "",
        speaker: str = "Assistant",
    ) -> str:
        """Publish the `agent.response.v1` to a context; returns its id.

        tool_requests: {tool, input, requestId} each. speaker: the name on later pages; where several agents talk, give theirs.
        Without a `message_id` the id follows from the context, so an agent that crashes and answers again answers once.
        """
        body: dict[str, Any] = {
            "message": message,
            "trigger_event_id": context.trigger_event_id,
            "creator": {"type": "agent", "agent_id": context.consumer_id},
            "speaker": speaker,
        }
        if calls := list(tool_requests):
            body["tool_requests"] = calls
        identity = message_id or str(uuid.uuid5(uuid.UUID(context.event["id"]), "agent.response.v1"))
        return await self._send("agent.response.v1", context.session_id, body, identity, None)

    async def send_tool_result(
        self, session: str, tool: str, request_id: str, output: Any, *, error: Any = None, message_id: str = ""
    ) -> str:
        """Publish a `tool.response.v1`; returns its id. error: set = the call failed."""
        body = {"tool": tool, "request_id": request_id, "status": "success" if error is None else "error"}
        body |= {"output": output} if error is None else {"error": error}
        return await self._send("tool.response.v1", session, body, message_id, None)

    async def report_usage(
        self, context: ReceivedContext, model: str, used: int, *, session: str = NO_SESSION, message_id: str = ""
    ) -> str:
        """Publish the `agent.usage.v1` of a context; returns its id. Profiles with `calibrate` size later pages by it.

        model: which read it, as the provider calls it. used: tokens that the provider counted for exactly `context.content`;
        take off what else was in the prompt. Below half and above twice the page's `token_count` it does not count, which is
        logged as a warning, nor for a page below 100 tokens. session: where it counts; `_` = in all sessions of the workspace.
        Without a `message_id` the id follows from context and model, so the same report twice is one.
        """
        if not Usage(model=model, counted=context.token_count, used=used).is_plausible:
            log.warning(
                "used is %s for a page of %s tokens, which will not count: report what %s counted for context.content alone, "
                "without the rest of the prompt, with what came from a cache",
                *(used, context.token_count, model),
            )
        identity = message_id or str(uuid.uuid5(uuid.UUID(context.event["id"]), f"{USAGE} {model}"))
        body = {
            "model": model,
            "counted": context.token_count,
            "used": used,
            "context_id": context.event["id"],
            "creator": {"type": "agent", "agent_id": context.consumer_id},
        }
        return await self._send(USAGE, session, body, identity, None)

    async def publish(self, event: Outgoing, *, replay: bool = False) -> Published:
        """Publish any breadcrumb. replay: remembered, never a trigger. Raises `Rejected` when it is too large, `Unavailable`."""
        limit = min(MAX_BODY, self._connection.max_payload - HEADERS)
        if len(event.data) > limit:
            raise Rejected(f"the breadcrumb has {len(event.data):,} bytes, allowed are {limit:,}; send a link to the large part")
        headers = {MESSAGE_ID_HEADER: event.message_id, **({REPLAY_HEADER: "1"} if replay else {})}
        try:
            ack = await self._js.publish(event.subject, event.data, stream="BREADCRUMBS", headers=headers)
        except (APIError, NatsError, OSError) as error:
            raise Unavailable(f"publishing on {event.subject} failed: {error!r}; is the service up on this broker?") from error
        return Published(sequence=int(ack.seq), duplicate=bool(ack.duplicate))

    async def stream_created(self) -> str:
        """When the stream of breadcrumbs was made: tells one stream from the next of the same name. Raises `Unavailable`."""
        try:
            info = await self._js.stream_info("BREADCRUMBS")
        except (APIError, NatsError, OSError) as error:
            raise Unavailable(f"there is no stream BREADCRUMBS: {error!r}; has the service run once on this broker?") from error
        return str(info.created)

    async def _send(self, schema: str, session: str, body: dict[str, Any], identity: str, created_at: datetime | None) -> str:
        identity = identity or str(uuid.uuid4())
        record = make_record(schema, identity, session, body, created_at=created_at)
        await self.publish(outgoing(record, self.workspace))
        return identity
