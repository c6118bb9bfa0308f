"""The answer to a person's message: what the agent says in the end, through all rounds of its tools, on whichever page.

The stream is the truth. A plain subscription to the session only says that it is time to look, and each second is time, too, so
an answer that came while the connection was away is there.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError

from builder.client.connecting import translated
from builder.client.received import Consumer
from builder.client.responses import SCHEMA, Response, questions_of, response_of
from builder.client.sending import USER_MESSAGE, Lifetime, Sending, check, user_message
from builder.client.stream import StreamReader
from builder.client.subscription import LOOK_SECONDS
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.errors import Rejected, Unavailable
from builder.domain.selector import ANSWER, FAILURE
from builder.remember.decode import readable
from builder.wire.records import Outgoing
from builder.wire.session_names import session_text
from builder.wire.subjects import check_token, session_subject

FINAL_SECONDS = 300.0
"""How long `answer` waits for what the agent says in the end: as long as a tool may take."""


class AnswerSteps:
    """What an agent says to a message: awaited, its answer; iterated, each response as it comes, the answer last.

    The message is published when the first of them is requested. `results` of a step fill as they come.
    """

    def __init__(self, steps: Callable[[], AsyncGenerator[Response, None]]) -> None:
        """steps: publishes the message and waits."""
        self._steps = steps

    def __aiter__(self) -> AsyncGenerator[Response, None]:  # noqa: PYI058 - whoever stops early may close it
        return self._steps()

    def __await__(self) -> Generator[Any, Any, str]:
        return self._text().__await__()

    async def _text(self) -> str:
        async with aclosing(self._steps()) as steps:
            return [step.message async for step in steps][-1]


@dataclass(slots=True)
class Turn:
    """An agent's responses to a message, read in the stream's order."""

    agent: str
    places: dict[str, int]
    """Subject → sequence as far as which it was read."""
    triggers: set[str]
    """The message, and each result of a call."""
    calls: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Request id of a call → results of its response, by request id."""

    async def read(self, reader: StreamReader) -> AsyncIterator[Response]:
        """The responses on the first subject that are new; the other one has results only. Raises `Unavailable`."""
        subject, of_no_session = self.places
        async for crumb in self._new(reader, subject):
            if crumb.schema == SCHEMA and self._has_open_calls():
                async for result in self._new(reader, of_no_session):
                    self._take(result)
            if crumb.schema != SCHEMA:
                self._take(crumb)
            # Who writes without the client may name no agent, and no message.
            elif crumb.agent in ("", self.agent) and not self.triggers.isdisjoint(questions_of(crumb)):
                results: dict[str, dict[str, Any]] = {}
                self.calls |= dict.fromkeys(crumb.calls, results)
                yield replace(response_of(crumb, []), results=results)

    async def _new(self, reader: StreamReader, subject: str) -> AsyncIterator[Breadcrumb]:
        async for arrival in reader.behind(subject, self.places[subject]):
            crumb = readable(arrival)
            if crumb is not None and crumb.version == 1:
                yield crumb
            self.places[subject] = arrival.place.sequence  # only now: a loss in between brings it again

    def _has_open_calls(self) -> bool:
        return any(name not in results for name, results in self.calls.items())

    def _take(self, crumb: Breadcrumb) -> None:
        """Keep a result of one of the calls."""
        for name in crumb.calls if crumb.schema in (ANSWER, FAILURE) else ():
            if name in self.calls:
                self.calls[name].setdefault(name, json.loads(crumb.body))
                self.triggers.add(crumb.id)


class Answers(Sending):
    """Messages of people that are sent for an agent's answer."""

    def answer(
        self,
        session: str,
        content: str,
        *,
        consumer: str = "default",
        timeout: float = FINAL_SECONDS,
        message_id: str = "",
        speaker: str = "",
        user_id: str = "",
        created_at: datetime | None = None,
        tags: Iterable[str] = (),
        ttl: Lifetime | None = None,
        memory: bool = True,
    ) -> AnswerSteps:
        """Publish a `user.message.v1`; await what the agent of this consumer says in the end, or iterate over its steps.

        The answer is the first response without tool calls that answers the message, on its own page or on another one that
        covers it. timeout: seconds for all of it. The rest is as in `ask`, and so are the errors, but that `Unavailable` is
        raised when no answer came in time: then the message is in the session, and the same call with its `message_id` waits
        again.
        """
        event = self._event(
            USER_MESSAGE, user_message(content, speaker), session, message_id or str(uuid.uuid4()), tags=tags, user_id=user_id,
            ttl=ttl, created_at=created_at, memory=memory,
        )  # fmt: skip
        publish = partial(self._sequence, event, is_new=not message_id, own_clock=created_at is None)
        return AnswerSteps(partial(self._steps, check(event), consumer, publish, timeout))

    async def _steps(
        self, message: Breadcrumb, consumer: str, publish: Callable[[Breadcrumb], Awaitable[int]], timeout: float
    ) -> AsyncGenerator[Response, None]:
        agent = (await self._check_triggers(consumer, message)).agent or consumer
        subject = session_subject(self.workspace, message.session)
        clock = asyncio.get_running_loop().time
        deadline = clock() + timeout
        async with _changes(self._connection, self.installation.subject(subject)) as change:
            places = dict.fromkeys((subject, session_subject(self.workspace, NO_SESSION, "tool.>")), await publish(message))
            turn = Turn(agent, places, {message.id})
            while True:
                change.clear()
                loss: Unavailable | None = None
                try:
                    async for step in turn.read(self._reader):
                        yield step
                        if not step.tool_requests:
                            return
                except Unavailable as error:
                    loss = error
                remaining = deadline - clock()
                if remaining <= 0 or self._connection.is_closed:
                    raise Unavailable(
                        f"{message.id} was sent, and {agent!r} has not answered it within {timeout:g} s; does it run? "
                        "`context-builder consumers` says who listens, `context-builder dead-letters list` what was given up; "
                        f"the same call with message_id={message.id!r} waits again"
                    ) from loss
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(remaining, LOOK_SECONDS)):
                        await change.wait()

    async def _sequence(self, event: Outgoing, message: Breadcrumb, *, is_new: bool, own_clock: bool) -> int:
        """Of the message in the stream. After two minutes only the service knows that it is there. Raises as `publish` does."""
        if not is_new:
            with suppress(Rejected):
                there = await self.fetch(message.id, 1)
                if (there.session, there.body) == (session_text(message.session), json.loads(message.body)):
                    return there.sequence
        return (await self._publishing.publish(event, own_clock=own_clock)).sequence

    async def _check_triggers(self, consumer: str, message: Breadcrumb) -> Consumer:
        """The consumer. Raises `Rejected` when no context can come, and `Unavailable` when no service runs."""
        profile = await self.consumer(check_token(consumer, "consumer"))
        if refusal := profile.refusal(message):
            raise Rejected(refusal)
        return profile


@asynccontextmanager
async def _changes(connection: Connection, subject: str) -> AsyncIterator[asyncio.Event]:
    """An event that each message on the subject sets. Raises `Unavailable`."""
    change = asyncio.Event()

    async def tell(_message: object) -> None:
        change.set()

    with translated(f"could not subscribe to {subject}", "is the connection to the broker there?"):
        subscription = await connection.subscribe(subject, cb=tell)
    try:
        yield change
    finally:
        with suppress(NatsError):
            await subscription.unsubscribe()
