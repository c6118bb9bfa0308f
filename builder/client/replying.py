"""Replies to contexts: what an agent says, the tools that it calls, and what they give."""

import contextlib
import logging
import uuid
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from nats.aio.client import Client as Connection

from builder.client.answering import Answer, Answering
from builder.client.received import ReceivedContext
from builder.client.replies import Tools, read_reply, run_calls
from builder.client.responses import Response, read_conversation
from builder.client.sending import TOOL_RESPONSE, Sending
from builder.client.serving import patiently
from builder.domain.errors import Rejected, Unavailable
from builder.domain.selector import trigger_text, wait_for_tools
from builder.wire.subjects import DEFAULT, Installation, session_subject

log = logging.getLogger("builder.client")


class Replying(Sending):
    """Each step of an agent is stored once, and each call has one result."""

    def __init__(self, connection: Connection, workspace: str, installation: Installation = DEFAULT) -> None:
        """connection: open; the caller closes it."""
        super().__init__(connection, workspace, installation)
        self._answering = Answering(self._reader, self._publishing)
        self._checked: set[str] = set()

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
        to: str | Iterable[str] = (),
    ) -> Answer:
        """Publish an `agent.response.v1` to a context: a step with tool calls, say, and once their results are there the answer.

        tool_requests: {tool, input, requestId} each. speaker: the name on later pages; where several agents talk, give theirs.
        The id follows from the context and the step. Without a `step` it is read from the stream: the first one whose round is
        not over, so an agent that died and answers again gets its first answer back as `already_answered`, whatever the words;
        a round is over when each of its calls has a result, or when it was sent or found through this very `context` object.
        message_id: an id of one's own; another response under it is an error. to: the agents that it is addressed to; default
        everybody. Raises `Rejected` and `Unavailable`.
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
        """Publish what a model replied, run the tools that it calls, and publish what they give.

        reply: a message or a whole completion of OpenAI or Anthropic, as a dict or an object of their SDKs, or a text. tools:
        name → function, plain or async, that takes the call's arguments by name; calls run side by side, and what a function
        raises is sent as the call's error. Where the context was answered before, the open calls of that answer are run
        instead. With `tool.response.v1` in the profile's triggers the next context comes when the last call is answered.
        Without `tools` nothing is run. to: the agents that a reply without calls is addressed to. Raises as `send_response` does.
        """
        labels, words = tuple(tags), read_reply(reply)
        delivery = replace(context, steps={*context.steps})  # a call that fails has sent nothing that a repetition comes after
        answer = await self.send_response(
            delivery,
            words.text,
            tool_requests=words.tool_requests,
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
        """Run the calls of a response that have no result yet, and publish what each gives, once the broker takes it.

        A call that another process has answered meanwhile keeps that result. tools: as in `send_reply`. Raises `Unavailable`
        only for what is read.
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

        await run_calls(context, response.open_calls, tools, send)

    async def responses(self, context: ReceivedContext) -> tuple[Response, ...]:
        """What this agent has said to a context, by step, with its tool calls and their results, for an agent that starts again.

        Raises `Rejected` when too much was said since (see `send_response`'s `step`), and `Unavailable`.
        """
        return (await read_conversation(self._reader, context)).responses

    async def has_gone_on(self, context: ReceivedContext) -> bool:
        """Whether anything came in the session after the context's trigger. Raises `Unavailable`."""
        subject = session_subject(self.workspace, context.session_token)
        return await self._reader.last(subject) > context.trigger_seq

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
