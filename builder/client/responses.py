"""What an agent has said to one context, and which step comes next: both are read from the stream, so any process knows them."""

import json
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.stream import StreamReader
from builder.domain.breadcrumb import NO_SESSION, Arrival, Breadcrumb
from builder.domain.errors import Rejected
from builder.wire.inbound import decode
from builder.wire.subjects import breadcrumb_subject

SCHEMA, TOMBSTONE = "agent.response.v1", "breadcrumb.deleted.v1"
RESULTS = ("tool.response.v1", "tool.error.v1")
MOST = 1_000
"""Messages on one subject that are read behind a trigger (about half a second): beyond that the agent names its step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One `agent.response.v1` to a context as the stream has it.

    step: 1 and up. tool_requests: as they were sent. results: request id → body of the `tool.response.v1` or `tool.error.v1`
    that came first. sequence: its place in the stream.
    """

    id: str
    step: int
    sequence: int
    message: str
    tool_requests: tuple[dict[str, Any], ...]
    results: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """It has called tools, and each call has its result."""
        return bool(self.tool_requests) and all(_request_id(call) in self.results for call in self.tool_requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What stands in the stream behind a context's trigger.

    responses: of this agent, by step. erased: ids that tombstones name. last: sequence of the newest response of anybody in
    the session, 0 = there is none.
    """

    context_id: str
    responses: tuple[Response, ...]
    erased: frozenset[str]
    last: int

    def at(self, step: int) -> Response | None:
        """The response of a step."""
        return next((each for each in self.responses if each.step == step), None)

    def named(self, identity: str) -> Response | None:
        """The response with an id."""
        return next((each for each in self.responses if each.id == identity), None)

    def next_step(self, delivered: AbstractSet[int]) -> int:
        """The first step whose round is not over, or the one behind all.

        A round is over when each of its calls has a result, when it was sent or found through this very delivery of the context
        (delivered: those steps), or when it was forgotten.
        """
        for response in self.responses:
            if not (response.is_complete or response.step in delivered or response.id in self.erased):
                return response.step
        most = max((response.step for response in self.responses), default=0)
        while response_id(self.context_id, most + 1) in self.erased:
            most += 1
        return most + 1


def response_id(context_id: str, step: int) -> str:
    """The id of a response: UUIDv5 of the context and the step."""
    return str(uuid.uuid5(uuid.UUID(context_id), f"{SCHEMA} {step}"))


async def read_conversation(reader: StreamReader, context: ReceivedContext) -> Conversation:
    """What stands behind the context's trigger.

    Two reads when nothing was said in the session since, else one more for each response behind the trigger, and, once tools
    were called, one for each result behind the first call. Raises `Rejected` when that is more than `MOST`, and `Unavailable`.
    """
    place = (context.workspace, context.session_id)
    subjects = {schema: breadcrumb_subject(*place, schema) for schema in (SCHEMA, TOMBSTONE)}
    last = await reader.last(subjects[SCHEMA])
    found: list[Response] = []
    if last > context.trigger_seq:
        async for crumb in _read(reader, subjects[SCHEMA], context.trigger_seq):
            if _is_answer(crumb, context):
                found.append(_response(crumb, found))
    removed = _read(reader, subjects[TOMBSTONE], context.trigger_seq)
    erased = frozenset([crumb.removes async for crumb in removed])
    results = await _results(reader, place, found)
    responses = sorted((_with_results(each, results) for each in found), key=lambda each: each.step)
    return Conversation(context_id=context.event["id"], responses=tuple(responses), erased=erased, last=last)


async def _results(reader: StreamReader, place: tuple[str, str], responses: Iterable[Response]) -> dict[str, dict[str, Any]]:
    """Request id → body of the first result: of the session, and of no session where that lacks some."""
    calling = [each for each in responses if each.tool_requests]
    missing = {_request_id(call) for each in calling for call in each.tool_requests} - {""}
    found: dict[str, dict[str, Any]] = {}
    start = min((each.sequence for each in calling), default=0)
    for session in (place[1], NO_SESSION):
        for schema in RESULTS:
            if not missing:
                return found
            async for crumb in _read(reader, breadcrumb_subject(place[0], session, schema), start):
                for name in missing.intersection(crumb.calls):
                    found[name] = json.loads(crumb.body)
                missing -= found.keys()
                if not missing:
                    break
    return found


async def _read(reader: StreamReader, subject: str, after: int) -> AsyncIterator[Breadcrumb]:
    """The readable breadcrumbs on a subject, in their first version."""
    count = 0
    async for arrival in reader.behind(subject, after):
        count += 1
        if count > MOST:
            raise Rejected(
                f"more than {MOST:,} messages on {subject} stand behind sequence {after}, too many to find the step; "
                "name it: send_response(…, step=1)"
            )
        crumb = _readable(arrival)
        if crumb is not None and crumb.version == 1:
            yield crumb


def _readable(arrival: Arrival) -> Breadcrumb | None:
    try:
        return decode(arrival, len(arrival.data) + 1)
    except Rejected:
        return None


def _is_answer(crumb: Breadcrumb, context: ReceivedContext) -> bool:
    if crumb.answers != context.trigger_event_id:
        return False
    creator = json.loads(crumb.body).get("creator")
    return isinstance(creator, dict) and creator.get("agent_id") == context.consumer_id


def _response(crumb: Breadcrumb, before: list[Response]) -> Response:
    """before: what the agent has said earlier; without a step of its own a response is the next one."""
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
    own = {name: results[name] for call in response.tool_requests if (name := _request_id(call)) in results}
    return Response(
        id=response.id, step=response.step, sequence=response.sequence, message=response.message,
        tool_requests=response.tool_requests, results=own,
    )  # fmt: skip


def _request_id(call: Mapping[str, Any]) -> str:
    """The id that joins a call with its result; "" = the call has none, and no result can be its own."""
    name = call.get("requestId") or call.get("request_id")
    return name if isinstance(name, str) else ""
