"""Replies to contexts: responses, tool calls and results. Each step is stored once."""

import contextlib
import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nats.aio.client import Client as Connection

from builder.client.received import ReceivedContext
from builder.client.replies import Reply, reply_of
from builder.client.requests import Requests
from builder.client.responses import Conversation, read_conversation, response_id
from builder.client.sending import BreadcrumbStream, Conflict, Sending, as_json, check
from builder.client.tools import Tools, run_calls
from builder.connection.errors import patiently
from builder.connection.names import DEFAULT, Installation
from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_RESPONSE
from builder.domain.errors import Rejected, Unavailable
from builder.domain.json_values import JsonObject
from builder.domain.selector import trigger_text, wait_for_tools
from builder.wire.records import Outgoing, make_record
from builder.wire.requests import MAX_RESPONSES
from builder.wire.responses import Response
from builder.wire.traces import trace_scope


class AnsweredMeanwhile(Rejected):
    """A part of the context's questions was answered on another one."""


MAX_ATTEMPTS = 50
"""At most one per agent that answers at the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored response."""

    id: str
    step: int
    """From 1."""
    sequence: int
    already_answered: bool
    """The stream had it before; nothing was stored."""


class Answering:
    """Sends responses; the stream refuses one that overlooks another response."""

    def __init__(self, stream: BreadcrumbStream, service: Requests, max_messages: int = MAX_RESPONSES) -> None:
        self._max_messages = max_messages
        self._service = service
        self._stream = stream

    async def send(
        self,
        context: ReceivedContext,
        body: JsonObject,
        step: int | None,
        message_id: str,
        tags: tuple[str, ...] = (),
        to: tuple[str, ...] = (),
    ) -> Answer:
        """Store a response under its step, or return the stored one.

        step: None = next. message_id: "" = derived. Raises `Rejected`, `Unavailable`.
        """
        if step is not None and step < 1:
            raise Rejected(f"step is {step}; the steps of an agent are 1, 2, 3, …")
        for _ in range(MAX_ATTEMPTS):
            conversation = await self._read(context, step)
            there = next((each for each in conversation.responses if each.id == message_id), None)
            number = step or (there.step if there else conversation.free_step(context.steps, body, has_own_id=bool(message_id)))
            event, identity = _event(context, body, number, message_id, tags, to)
            if there is None and conversation.at(number) is None and (other := _other_answer(context, conversation)):
                return replace(_stored_answer(other), step=number)
            if there is not None:
                await self._stream.check_same(event, there.sequence, own_clock=True)
            elif message_id:
                _check_free(conversation, number)
            else:
                there = conversation.at(number)
            try:
                answer = _stored_answer(there) if there else await self._store(context, event, identity, number, conversation)
            except Conflict:
                continue
            context.steps.add(answer.step)
            return answer
        raise Unavailable(
            f"the response to {context.trigger_event_id} was not stored in {MAX_ATTEMPTS} attempts, because other responses come "
            f"in session {context.session_id!r} all the time; send it again"
        )

    async def _read(self, context: ReceivedContext, step: int | None) -> Conversation:
        return await read_conversation(self._service, context, with_results=step is None, most=self._max_messages)

    async def _store(
        self, context: ReceivedContext, event: Outgoing, identity: str, step: int, conversation: Conversation
    ) -> Answer:
        if identity in conversation.tombstones:
            raise Rejected(f"the response {identity} was forgotten, nothing is kept under its id again; take another step or id")
        if context.trigger_event_id in conversation.tombstones:
            raise Rejected(f"the message {context.trigger_event_id} was deleted meanwhile; nothing answers it")
        published = await self._stream.publish(event, own_clock=True, last=conversation.last)
        return Answer(id=identity, step=step, sequence=published.sequence, already_answered=published.duplicate)


def _other_answer(context: ReceivedContext, conversation: Conversation) -> Response | None:
    others = [conversation.others[name] for name in context.questions if name in conversation.others]
    if others and len(others) < len(context.questions):
        raise AnsweredMeanwhile(
            f"{len(others)} of the {len(context.questions)} messages that context {context.id} answers were answered meanwhile, "
            f"by {others[-1].id}; ask for what is left: context = await client.refresh(context)"
        )
    return others[-1] if others else None


def _check_free(conversation: Conversation, step: int) -> None:
    other = conversation.at(step)
    if other is not None:
        raise Rejected(f"step {step} has the response {other.id!r} already; take another step, or its id")


def _event(
    context: ReceivedContext, body: JsonObject, step: int, message_id: str, tags: tuple[str, ...], to: tuple[str, ...]
) -> tuple[Outgoing, str]:
    identity = message_id or response_id(context.id, step)
    record = make_record(AGENT_RESPONSE, identity, context.session_token, {**body, "step": step}, tags=tags, to=to)
    event = as_json(record, context.workspace)
    check(event)
    return event, identity


def _stored_answer(response: Response) -> Answer:
    return Answer(id=response.id, step=response.step, sequence=response.sequence, already_answered=True)


log = logging.getLogger("builder.client")


class Replying(Sending):
    """Stores each step of an agent once, and one result per call."""

    def __init__(self, connection: Connection, workspace: str, installation: Installation = DEFAULT) -> None:
        super().__init__(connection, workspace, installation)
        self._answering = Answering(self._stream, self)
        self._checked: set[str] = set()

    async def send_response(
        self,
        context: ReceivedContext,
        message: str,
        *,
        tool_requests: Iterable[JsonObject] = (),
        reasoning: str = "",
        server_tools: Iterable[JsonObject] = (),
        step: int | None = None,
        message_id: str = "",
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
        to: str | Iterable[str] = (),
    ) -> Answer:
        """Publish an `agent.response.v1`: a step with tool calls, or the answer. Raises `Rejected`, `Unavailable`.

        tool_requests: {tool, input, requestId} each. reasoning: what the model thought. server_tools: {tool, input, output} of
        calls that the model's vendor ran. speaker: name on pages. step: default the first one whose round is not
        over, so a restarted agent gets its stored answer as `already_answered`; a round is over when each call has a result or
        was sent through this `context`. message_id: default derived from context and step. to: agents; default everybody.
        """
        body: JsonObject = {
            "message": message,
            "trigger_event_id": context.trigger_event_id,
            "creator": {"type": "agent", "agent_id": context.agent_id},
            "speaker": speaker,
        }
        lists = {"tool_requests": list(tool_requests), "server_tools": list(server_tools), "reasoning": reasoning}
        body |= {name: value for name, value in lists.items() if value}
        if context.questions:
            body["questions"] = list(context.questions)
        with trace_scope(context.trace):
            return await self._answering.send(
                context, body, step, message_id, tuple(tags), (to,) if isinstance(to, str) else tuple(to)
            )

    async def send_reply(
        self,
        context: ReceivedContext,
        reply: Any,
        *,
        tools: Tools | None = None,
        speaker: str = "Assistant",
        tags: Iterable[str] = (),
        to: str | Iterable[str] = (),
    ) -> Answer:
        """Publish a model's reply, run its tool calls concurrently, publish their results. Raises as `send_response`.

        reply: a message or a whole answer of any vendor (dict or SDK object), or a text. tools: name → function, plain or
        async, with the call's arguments; an exception becomes the call's error; None = run nothing. Open calls of an earlier
        answer are run. to: for a reply without calls.
        """
        labels, words = tuple(tags), read_reply(reply, f"{context.id} {sorted(context.steps)}")
        delivery = replace(context, steps={*context.steps})  # a call that fails has sent nothing that a repetition comes after
        answer = await self.send_response(
            delivery,
            words.text,
            tool_requests=words.tool_requests,
            reasoning=words.reasoning,
            server_tools=words.server_tools,
            speaker=speaker,
            tags=labels,
            to=() if words.tool_requests else to,
        )
        if tools is None:
            context.steps.update(delivery.steps)
            return answer
        if words.tool_requests:
            await self._check_tool_trigger(context.consumer_id)
        responses = await self.responses(context) if words.tool_requests or answer.already_answered else ()
        for response in responses:
            if response.id == answer.id:
                await self.run_tools(context, response, tools, tags=labels)
        context.steps.update(delivery.steps)
        return answer

    async def run_tools(self, context: ReceivedContext, response: Response, tools: Tools, *, tags: Iterable[str] = ()) -> None:
        """Run a response's calls that have no result, and publish the results; stored ones stay.

        Raises `Unavailable` for reads only.
        """

        async def send(tool: str, request: str, output: Any, error: Any) -> None:
            identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{response.id} {request}")) if request else ""
            result = partial(
                self.send_tool_result, context.session_id, tool, request, output, error=error, tags=tags, message_id=identity
            )
            try:
                await patiently(result, f"the result of {tool}")
            except Rejected:
                if not any(request in each.results for each in await self.responses(context)):
                    raise

        with trace_scope(context.trace):
            await run_calls(context, response.open_calls, tools, send)

    async def responses(self, context: ReceivedContext) -> tuple[Response, ...]:
        """This agent's responses to a context by step, with results.

        Raises `Rejected` after too many messages (give a `step`), `Unavailable`.
        """
        return (await read_conversation(self, context)).responses

    async def has_gone_on(self, context: ReceivedContext) -> bool:
        """Whether anything came in the session after the context's trigger. Raises `Unavailable`."""
        return (await read_conversation(self, context, with_results=False)).has_gone_on

    async def _check_tool_trigger(self, consumer: str) -> None:
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


def read_reply(reply: Any, scope: str = "") -> Reply:
    """Read a model's reply: a text, a message or a whole answer of any vendor, as a dict or an object of its SDK.

    scope: makes the ids of calls that have none its own. Raises `Rejected`.
    """
    return reply_of(reply.model_dump() if hasattr(reply, "model_dump") else reply, scope)
