"""The client of agents and of all other senders: one connection, one workspace."""

import contextlib
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError

from builder.client.answering import Answer, Answering
from builder.client.answers import Answers
from builder.client.connecting import FIRST_SECONDS, open_connection
from builder.client.received import Latest, ReceivedContext, read
from builder.client.replies import Tools, read_reply, run_calls
from builder.client.responses import Response, read_conversation
from builder.client.sending import TOOL_RESPONSE, USER_MESSAGE, Lifetime, check, user_message
from builder.client.subscription import FETCH_SECONDS, Deliver, expected, is_superseded, received, subscribe
from builder.domain.context import context_id
from builder.domain.errors import Rejected, Unavailable
from builder.domain.selector import trigger_text, wait_for_tools
from builder.wire.subjects import CONTEXTS, DEFAULT, DEFAULT_NAME, Installation, check_token, context_subject

log = logging.getLogger("builder.client")

ANSWER_SECONDS = 60.0
"""How long `ask` waits for its context."""


@asynccontextmanager
async def connect(
    servers: str = "nats://127.0.0.1:4222",
    workspace: str = "default",
    *,
    name: str = DEFAULT_NAME,
    timeout: float = FIRST_SECONDS,
    **options: Any,
) -> AsyncIterator["Client"]:
    """A client for the block. It reconnects without end once it was connected.

    servers: comma-separated URLs. name: of the installation, its `CONTEXT_BUILDER_NAME`. timeout: seconds for the first
    connection. options: more arguments of `open_connection` and of nats-py's connect (credentials, TLS). Raises `Unavailable`
    when no server answers, `Rejected` when workspace or name do not fit a subject.
    """
    check_token(workspace, "workspace")
    installation = Installation(name)
    connection = await open_connection(servers, timeout=timeout, **options)
    try:
        yield Client(connection, workspace, installation)
    finally:
        with contextlib.suppress(NatsError, OSError):
            await connection.close()


class Client(Answers):
    """What an agent needs: contexts, what it sends, what it looks up. Errors: `Rejected` = mend it, `Unavailable` = try again."""

    def __init__(
        self,
        connection: Connection,
        workspace: str,
        installation: Installation = DEFAULT,
        *,
        fetch_seconds: float = FETCH_SECONDS,
    ) -> None:
        """connection: open; the caller closes it. fetch_seconds: of one request for contexts."""
        super().__init__(connection, workspace, installation)
        self._fetch_seconds = fetch_seconds
        self._answering = Answering(self._reader, self._publishing)
        self._latest: Latest = OrderedDict()
        self._checked: set[str] = set()

    async def contexts(
        self, consumer: str, *, durable: str | None = "", deliver: Deliver = "new", skip_superseded: bool = False
    ) -> AsyncGenerator[ReceivedContext, None]:
        """Contexts for this consumer, without end. Each is kept alive, and acknowledged when the next one is requested.

        durable: name of the JetStream consumer, default `{workspace}={consumer}`; processes with the same name share the work;
        None = ephemeral. deliver: where the first subscription begins: "new", "all" of the last day, a timedelta (so long ago) or
        a datetime; a durable that exists goes on where it was. skip_superseded: leave out a context when that of a later
        message of the same speaker is there, see `is_superseded`.
        Messages that are no context of this consumer are skipped with a warning. Raises `Unavailable`, and `Rejected` for
        a consumer that no profile of the service names.
        """
        async with self.subscribed(consumer, durable=durable, deliver=deliver, skip_superseded=skip_superseded) as contexts:
            async for context in contexts:
                yield context

    @asynccontextmanager
    async def subscribed(
        self, consumer: str, *, durable: str | None = "", deliver: Deliver = "new", skip_superseded: bool = False
    ) -> AsyncIterator[AsyncGenerator[ReceivedContext, None]]:
        """Like `contexts`, but the subscription exists as soon as the block begins: what is published in it is not missed.

        Where no service answers, or the consumer's profile has no triggers, a warning in the log says so.
        """
        # '=' fits no token: workspace a with consumer b-c has another durable than workspace a-b with consumer c.
        name = f"{self.workspace}={check_token(consumer, 'consumer')}" if durable == "" else durable
        place = self._place(f"{CONTEXTS}.{self.workspace}.{consumer}.>")
        if warning := await self.check_consumer(consumer):
            log.warning("%s", warning)
        async with (
            subscribe(self._js, place, name, deliver) as subscription,
            aclosing(
                received(
                    subscription,
                    place[1],
                    (self.workspace, consumer),
                    self._latest,
                    self._fetch_seconds,
                    self.is_superseded if skip_superseded else None,
                )
            ) as contexts,
        ):
            yield contexts

    async def is_superseded(self, context: ReceivedContext) -> bool:
        """Whether the same speaker said more before anything answered this context, and the context of that is there.

        That page has the message of this one too, so an agent may leave this one unanswered. Raises `Unavailable`.
        """
        return await is_superseded(self._js, self._place, context)

    async def ask(
        self,
        session: str,
        content: str,
        *,
        consumer: str = "default",
        timeout: float = ANSWER_SECONDS,
        message_id: str = "",
        speaker: str = "",
        user_id: str = "",
        created_at: datetime | None = None,
        tags: Iterable[str] = (),
        ttl: Lifetime | None = None,
        memory: bool = True,
    ) -> ReceivedContext:
        """Publish a `user.message.v1` and return the context that it leads to for this consumer.

        timeout: seconds. The rest is as in `send_user_message`. Nothing is acknowledged: an agent of this consumer gets the
        context too, and two callers get each their own. Raises `Rejected`, before anything is sent, for what the service would
        reject, for an unknown consumer and for one whose profile causes no context on it; `Unavailable` when no service runs,
        and when no context came in time: then the message is in the session, and the same call with its `message_id` waits again.
        """
        identity = message_id or str(uuid.uuid4())
        event = self._event(
            USER_MESSAGE, user_message(content, speaker), session, identity, tags=tags, user_id=user_id, ttl=ttl,
            created_at=created_at, memory=memory,
        )  # fmt: skip
        message = check(event)
        await self._check_triggers(consumer, message)
        context = context_id(self.workspace, message.session, identity, consumer)
        subject = context_subject(self.workspace, consumer, message.session, str(context))
        async with expected(self._connection, self._js, self._place(subject)) as arrival:
            result = await self._publishing.publish(event, own_clock=created_at is None)
            data = await arrival.wait(timeout, is_repeat=result.duplicate)
        if data is None:
            raise Unavailable(
                f"{identity} was sent, and no context for {consumer!r} came within {timeout:g} s; look at `context-builder "
                "dead-letters list` and `context-builder doctor`"
            )
        return read(data, (self.workspace, consumer), OrderedDict())

    async def send_response(
        self,
        context: ReceivedContext,
        message: str,
        *,
        tool_requests: Iterable[dict[str, Any]] = (),
        step: int | None = None,
        message_id: str = "",
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
    ) -> Answer:
        """Publish an `agent.response.v1` to a context: a step with tool calls, say, and once their results are there the answer.

        tool_requests: {tool, input, requestId} each. speaker: the name on later pages; where several agents talk, give theirs.
        The id follows from the context and the step. Without a `step` it is read from the stream: the first one whose round is
        not over, so an agent that died and answers again gets its first answer back as `already_answered`, whatever the words;
        a round is over when each of its calls has a result, or when it was sent or found through this very `context` object.
        message_id: an id of one's own; another response under it is an error. Raises `Rejected` and `Unavailable`.
        """
        body: dict[str, Any] = {
            "message": message,
            "trigger_event_id": context.trigger_event_id,
            "creator": {"type": "agent", "agent_id": context.agent_id},
            "speaker": speaker,
        }
        if calls := list(tool_requests):
            body["tool_requests"] = calls
        if context.questions:
            body["questions"] = list(context.questions)
        return await self._answering.send(context, body, step, message_id, tuple(tags))

    async def send_reply(
        self,
        context: ReceivedContext,
        reply: Any,
        *,
        tools: Tools | None = None,
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
    ) -> Answer:
        """Publish what a model replied, run the tools that it calls, and publish what they give.

        reply: a message or a whole completion of OpenAI or Anthropic, as a dict or an object of their SDKs, or a text. tools:
        name → function, plain or async, that takes the call's arguments by name; calls run side by side, and what a function
        raises is sent as the call's error. Where the context was answered before, the open calls of that answer are run
        instead. With `tool.response.v1` in the profile's triggers the next context comes when the last call is answered.
        Without `tools` nothing is run. Raises as `send_response` does.
        """
        labels, words = tuple(tags), read_reply(reply)
        answer = await self.send_response(context, words.text, tool_requests=words.tool_requests, speaker=speaker, tags=labels)
        if tools is None:
            return answer
        if words.tool_requests:
            await self._check_tool_trigger(context.consumer_id)
        calls = words.tool_requests
        if answer.already_answered:
            calls = next((each.open_calls for each in await self.responses(context) if each.id == answer.id), ())

        async def send(tool: str, identity: str, output: Any, error: Any) -> None:
            await self.send_tool_result(context.session_id, tool, identity, output, error=error, tags=labels)

        await run_calls(calls, tools, send)
        return answer

    async def responses(self, context: ReceivedContext) -> tuple[Response, ...]:
        """What this agent has said to a context, by step, with its tool calls and their results, for an agent that starts again.

        Raises `Rejected` when too much was said since (see `send_response`'s `step`), and `Unavailable`.
        """
        return (await read_conversation(self._reader, context)).responses

    async def _check_tool_trigger(self, consumer: str) -> None:
        """Warn once where no context will come for the results of an agent's tools."""
        if consumer in self._checked:
            return
        self._checked.add(consumer)
        with contextlib.suppress(Rejected, Unavailable):
            triggers = (await self.consumer(consumer)).selectors
            if not wait_for_tools(triggers):
                log.warning(
                    "no context comes for the results of these tools: the profile of %r has the triggers %s; add %s",
                    *(consumer, ", ".join(map(trigger_text, triggers)) or "none", TOOL_RESPONSE),
                )

    def _place(self, subject: str) -> tuple[str, str]:
        """Stream and subject of contexts, as the broker knows them."""
        return self.installation.stream(CONTEXTS.upper()), self.installation.subject(subject)
