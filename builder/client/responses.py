"""An agent's responses to a context and its next step, read from the stream."""

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.stream import StreamReader
from builder.domain.breadcrumb import AGENT_RESPONSE, NO_SESSION, TOMBSTONE, TOOL_ERROR, TOOL_RESPONSE, Breadcrumb
from builder.domain.errors import Rejected
from builder.remember.decode import readable
from builder.wire.subjects import breadcrumb_subject

MAX_MESSAGES = 1_000
"""Per subject after a trigger (about 0.5 s)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One `agent.response.v1` to a context as the stream has it."""

    id: str
    step: int
    """From 1."""
    sequence: int
    message: str
    tool_requests: tuple[dict[str, Any], ...]
    """As they were sent."""
    results: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Request id → body of the first `tool.response.v1` or `tool.error.v1`."""

    @property
    def open_calls(self) -> tuple[dict[str, Any], ...]:
        """The calls that have no result."""
        return tuple(call for call in self.tool_requests if request_id(call) not in self.results)

    @property
    def is_complete(self) -> bool:
        """Each of its tool calls has its result."""
        return bool(self.tool_requests) and all(request_id(call) in self.results for call in self.tool_requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages in the stream after a context's trigger."""

    context_id: str
    responses: tuple[Response, ...]
    """This agent's, by step."""
    tombstones: frozenset[str]
    """Forgotten ids."""
    last: int
    """Sequence of the session's newest response of any agent; 0 = none."""
    others: Mapping[str, Response] = field(default_factory=dict)
    """User message → this agent's answer or calls on another context."""

    def at(self, step: int) -> Response | None:
        """The response of a step."""
        return next((each for each in self.responses if each.step == step), None)

    def free_step(self, finished: AbstractSet[int], body: Mapping[str, Any], *, has_own_id: bool) -> int:
        """The step of the response that is sent now. has_own_id: it repeats none.

        A response with the request id of a stored call is that step. After the final answer a redelivered context starts over:
        calls match the first unseen step with calls, none the first without.
        """
        if has_own_id:
            return 1 + max((*finished, *(response.step for response in self.responses)), default=0)
        calls = {request_id(call) for call in body.get("tool_requests") or ()} - {""}
        for response in self.responses:
            if not calls.isdisjoint(map(request_id, response.tool_requests)):
                return response.step
        if self._is_final(finished):
            alike = (each.step for each in self.responses if bool(each.tool_requests) == bool(body.get("tool_requests")))
            return next((step for step in alike if step not in finished), self.next_step(finished))
        return self.next_step(finished)

    def _is_final(self, finished: AbstractSet[int]) -> bool:
        last = self.responses[-1] if self.responses else None
        return last is not None and not last.tool_requests and last.step not in finished and last.id not in self.tombstones

    def next_step(self, finished: AbstractSet[int]) -> int:
        """The first step whose round is open, or a new one.

        Rounds end when each call has a result, was handled in this delivery (finished), or was forgotten.
        """
        for response in self.responses:
            if not (response.is_complete or response.step in finished or response.id in self.tombstones):
                return response.step
        last_step = max((*finished, *(response.step for response in self.responses)), default=0)
        while response_id(self.context_id, last_step + 1) in self.tombstones:
            last_step += 1
        return last_step + 1


def response_id(context_id: str, step: int) -> str:
    """UUIDv5 of the context and the step."""
    return str(uuid.uuid5(uuid.UUID(context_id), f"{AGENT_RESPONSE} {step}"))


async def read_conversation(reader: StreamReader, context: ReceivedContext, max_messages: int = MAX_MESSAGES) -> Conversation:
    """Responses and results after the context's trigger: two reads, plus one per response and result.

    Raises `Rejected` beyond `max_messages`, `Unavailable`.
    """
    conversation = await read_responses(reader, context, max_messages)
    calling = [each for each in conversation.responses if each.tool_requests]
    request_ids = {request_id(call) for each in calling for call in each.tool_requests} - {""}
    start = min((each.sequence for each in calling), default=0)
    results: dict[str, dict[str, Any]] = {}
    for session in (context.session_token, NO_SESSION):
        for schema in (TOOL_RESPONSE, TOOL_ERROR):
            subject = breadcrumb_subject(context.workspace, session, schema)
            results |= await _results(reader, subject, start, request_ids - results.keys(), max_messages)
    responses = tuple(_with_results(each, results) for each in conversation.responses)
    return replace(conversation, responses=responses)


async def read_responses(reader: StreamReader, context: ReceivedContext, max_messages: int = 0) -> Conversation:
    """Responses without results. max_messages: responses and tombstones after the trigger; 0 = all."""
    session = (context.workspace, context.session_token)
    subject = breadcrumb_subject(*session, AGENT_RESPONSE)
    last = await reader.last(subject)
    start = await _start(reader, context) if last <= context.trigger_seq else context.trigger_seq
    responses: list[Response] = []
    others: dict[str, Response] = {}
    if last > start:
        async for crumb in _read(reader, subject, start, max_messages):
            if (crumb.answers, crumb.agent) == (context.trigger_event_id, context.agent_id):
                responses.append(response_of(crumb, responses))
            elif crumb.agent == context.agent_id:
                others |= dict.fromkeys(questions_of(crumb), response_of(crumb, []))
    removals = _read(reader, breadcrumb_subject(*session, TOMBSTONE), start, max_messages)
    return Conversation(
        context_id=context.event["id"],
        responses=tuple(sorted(responses, key=lambda each: each.step)),
        tombstones=frozenset([crumb.removes async for crumb in removals]),
        last=last,
        others=others,
    )


async def _start(reader: StreamReader, context: ReceivedContext) -> int:
    return context.trigger_seq if (await reader.info()).state.last_seq >= context.trigger_seq else 0


async def _results(
    reader: StreamReader, subject: str, after: int, request_ids: AbstractSet[str], max_messages: int
) -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}
    if not request_ids:
        return results
    async for crumb in _read(reader, subject, after, max_messages):
        results |= {name: json.loads(crumb.body) for name in set(crumb.calls) & (request_ids - results.keys())}
        if request_ids <= results.keys():
            break
    return results


async def _read(reader: StreamReader, subject: str, after: int, max_messages: int) -> AsyncIterator[Breadcrumb]:
    count = 0
    async for arrival in reader.behind(subject, after):
        count += 1
        if max_messages and count > max_messages:
            raise Rejected(
                f"more than {max_messages:,} messages on {subject} come after sequence {after}, too many to find the step; "
                "name it: send_response(…, step=1)"
            )
        crumb = readable(arrival)
        if crumb is not None and crumb.version == 1:
            yield crumb


def questions_of(crumb: Breadcrumb) -> tuple[str, ...]:
    """User messages that it answers, or calls tools for."""
    names = json.loads(crumb.body).get("questions")
    return tuple(map(str, names)) if isinstance(names, list) and names else (crumb.answers,)


def response_of(crumb: Breadcrumb, before: list[Response]) -> Response:
    """before: earlier responses; one without a step is the next."""
    body = json.loads(crumb.body)
    step = body.get("step")
    return Response(
        id=crumb.id,
        step=step if type(step) is int and step > 0 else 1 + max((each.step for each in before), default=0),
        sequence=crumb.place.sequence,
        message=crumb.text,
        tool_requests=tuple(call for call in body.get("tool_requests") or () if isinstance(call, dict)),
    )


def _with_results(response: Response, results: Mapping[str, dict[str, Any]]) -> Response:
    names = map(request_id, response.tool_requests)
    return replace(response, results={name: results[name] for name in names if name in results})


def request_id(call: Mapping[str, Any]) -> str:
    """Joins call and result; "" = none."""
    name = call.get("requestId") or call.get("request_id")
    return name if isinstance(name, str) else ""
