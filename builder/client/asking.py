"""A user's message, sent for its context or for the agent's answer.

A subscription wakes the reader, which also looks into the stream each second.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

from builder.client.received import ReceivedContext, read
from builder.client.requests import Requests, pages
from builder.client.results import read_result
from builder.client.sending import Content, MessageFields, PublishResult, Sending, check
from builder.client.subscription import LOOK_SECONDS, expected
from builder.domain.breadcrumb import AGENT_RESPONSE, NO_SESSION, TOOL_ERROR, TOOL_RESPONSE, Breadcrumb
from builder.domain.context import context_id
from builder.domain.errors import Rejected, Unavailable
from builder.domain.json_values import JsonObject
from builder.wire.breadcrumb_records import BreadcrumbRecord
from builder.wire.consumers import Consumer
from builder.wire.records import Outgoing
from builder.wire.requests import MAX_HISTORY_PAGE
from builder.wire.responses import Response, agent_of, questions_of, request_id, response_of
from builder.wire.subjects import CONTEXTS, check_token, context_subject, session_subject, session_text

log = logging.getLogger("builder.client")

CONTEXT_SECONDS = 60.0
LISTENERS_SECONDS = 2.0
ANSWER_SECONDS = 300.0
"""As long as a tool may take."""
Publish = Callable[[], Awaitable[PublishResult]]


@dataclass(frozen=True, slots=True)
class AnswerSteps:
    """The agent's responses to a message: awaited, the answer; iterated, each response.

    The first request publishes the message; `results` fill in later.
    """

    steps: Callable[[], AsyncGenerator[Response, None]]
    """Publishes the message and waits."""

    def __aiter__(self) -> AsyncGenerator[Response, None]:  # noqa: PYI058 - whoever stops early may close it
        return self.steps()

    def __await__(self) -> Generator[Any, Any, str]:
        return self.text().__await__()

    async def text(self) -> str:
        """The answer."""
        async with aclosing(self.steps()) as steps:
            return [step.message async for step in steps][-1]


@dataclass(slots=True)
class _Turn:
    """Responses to a message, read in the stream's order."""

    message: str
    session: str
    agent: str
    sequence: int
    """Sequence of the message in the stream."""
    causes: set[str] = field(default_factory=set)
    calls: dict[str, dict[str, JsonObject]] = field(default_factory=dict)
    is_over: bool = False
    _reached: dict[str, int] = field(default_factory=dict)

    async def read(self, service: Requests) -> AsyncIterator[Response]:
        self.causes.add(self.message)
        async for crumb in self._new(service, self.session):
            if crumb.schema == AGENT_RESPONSE and any(name not in results for name, results in self.calls.items()):
                _ = [result async for result in self._new(service, NO_SESSION)]
            # Who writes without the client may name no agent, and no message.
            is_own = agent_of(crumb.body) in ("", self.agent)
            questions = questions_of(crumb.body) if crumb.schema == AGENT_RESPONSE else ()
            if self.causes.isdisjoint(questions) or not (is_own or self.message not in questions):
                continue
            self.causes.add(crumb.id)
            if is_own:
                response = response_of(crumb.id, crumb.sequence, crumb.text, crumb.body)
                results: dict[str, JsonObject] = {}
                self.calls |= {request_id(call): results for call in response.tool_requests if request_id(call)}
                self.is_over = not response.tool_requests and not crumb.to
                yield replace(response, results=results)

    async def _new(self, service: Requests, session: str) -> AsyncIterator[BreadcrumbRecord]:
        after = str(self._reached.get(session, self.sequence))
        async for page in pages(service, "history", {"session": session, "limit": MAX_HISTORY_PAGE}, after):
            for each in page["breadcrumbs"]:
                crumb = read_result(BreadcrumbRecord, each)
                name = request_id(crumb.body) if crumb.schema in {TOOL_RESPONSE, TOOL_ERROR} else ""
                if crumb.version == 1 and name in self.calls:
                    self.calls[name].setdefault(name, crumb.body)
                    self.causes.add(crumb.id)
                if crumb.version == 1:
                    yield crumb
                self._reached[session] = crumb.sequence  # only now: a loss in between brings it again


class Asking(Sending):
    """Messages of users, sent for their context or answer."""

    async def ask(
        self,
        session: str,
        content: Content,
        *,
        consumer: str = "default",
        timeout: float = CONTEXT_SECONDS,
        **fields: Unpack[MessageFields],
    ) -> ReceivedContext:
        """Publish a `user.message.v1` and return this consumer's context. timeout: seconds; the rest as in `send_user_message`.

        Nothing is acknowledged: the consumer's agent gets it too. Raises `Rejected` before publishing (invalid message, unknown
        consumer, no trigger); `Unavailable` without a service or a context in time. To wait again, repeat with the same
        `message_id`.
        """
        message, publish = self._message(session, content, fields)
        await self._check_triggers(consumer, message)
        context = context_id(self.workspace, message.session, message.id, consumer)
        subject = context_subject(self.workspace, consumer, message.session, str(context))
        async with expected(self._connection, self._js, self._address(subject)) as arrival:
            result = await publish()
            data = await arrival.wait(timeout, is_repeat=result.duplicate)
        if data is None:
            raise Unavailable(
                f"{message.id} was sent, and no context for {consumer!r} came within {timeout:g} s; look at `context-builder "
                "dead-letters list` and `context-builder doctor`"
            )
        return read(data, (self.workspace, consumer), OrderedDict())

    def answer(
        self,
        session: str,
        content: Content,
        *,
        consumer: str = "default",
        timeout: float = ANSWER_SECONDS,
        **fields: Unpack[MessageFields],
    ) -> AnswerSteps:
        """Publish a `user.message.v1`; await the agent's answer, or iterate over its steps. Errors as in `ask`.

        The answer is the first response without tool calls that is addressed to nobody else. timeout: seconds for all of it.
        """
        message, publish = self._message(session, content, fields)
        return AnswerSteps(partial(self._steps, message, consumer, timeout, publish))

    def _message(self, session: str, content: Content, fields: MessageFields) -> tuple[Breadcrumb, Publish]:
        """The message as the service reads it, and the function that publishes it once. Raises `Rejected`."""
        _, event = self._user_event(session, content, **fields)
        message, is_new = check(event), not fields.get("message_id")
        return message, partial(self._publish_once, event, message, is_new=is_new, own_clock=fields.get("created_at") is None)

    async def _steps(
        self, message: Breadcrumb, consumer: str, timeout: float, publish: Publish
    ) -> AsyncGenerator[Response, None]:
        agent = (await self._check_triggers(consumer, message)).agent or consumer
        subject = session_subject(self.workspace, message.session, AGENT_RESPONSE)
        clock = asyncio.get_running_loop().time
        deadline, loss = clock() + timeout, None
        async with expected(self._connection, self._js, self._address(subject)) as arrival:
            turn = _Turn(message.id, message.session, agent, (await publish()).sequence)
            silence = await self._silence(consumer)
            if silence:
                log.warning("%s was sent; %s", message.id, silence)
            while (remaining := deadline - clock()) > 0 and not self._connection.is_closed:
                try:
                    async for step in turn.read(self):
                        yield step
                        if turn.is_over:
                            return
                    await arrival.next(min(remaining, LOOK_SECONDS))
                except Unavailable as error:
                    loss = error
        raise Unavailable(
            f"{message.id} was sent, and {agent!r} has not answered it within {timeout:g} s; {silence or 'does it run?'} "
            "`context-builder consumers` says who listens, `context-builder dead-letters list` what was given up; the same call "
            f"with message_id={message.id!r} waits again"
        ) from loss

    async def _silence(self, consumer: str) -> str:
        """That nobody fetches a consumer's contexts; "" = somebody does, or nobody knows."""
        with suppress(Rejected, Unavailable):
            if not (await self.request("listeners", {"consumer": consumer}, LISTENERS_SECONDS))["listening"]:
                return f"no process fetches the contexts of {consumer!r} now: start its agent, which then answers it."
        return ""

    async def _publish_once(self, event: Outgoing, message: Breadcrumb, *, is_new: bool, own_clock: bool) -> PublishResult:
        if not is_new:
            with suppress(Rejected):
                there = await self.fetch(message.id, 1)
                if (there.session, there.body) == (session_text(message.session), json.loads(message.body)):
                    return PublishResult(sequence=there.sequence, duplicate=True)
        return await self._stream.publish(event, own_clock=own_clock)

    async def _check_triggers(self, consumer: str, message: Breadcrumb) -> Consumer:
        profile = await self.consumer(check_token(consumer, "consumer"))
        if refusal := profile.refusal(message):
            raise Rejected(refusal)
        return profile

    def _address(self, subject: str) -> tuple[str, str]:
        return self.installation.stream(CONTEXTS.upper()), self.installation.subject(subject)
