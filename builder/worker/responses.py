"""Handlers of an agent's requests: its responses to a context, differences under a taken id, its durable, who fetches contexts.

They read the streams for an agent, which may not. An agent learns nothing of what others say.
"""

import json
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace
from datetime import timedelta

from builder.domain.breadcrumb import AGENT_RESPONSE, NO_SESSION, TOMBSTONE, TOOL_ERROR, TOOL_RESPONSE, Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.remember.decode import readable
from builder.wire.records import compared, outgoing
from builder.wire.requests import DifferenceRequest, DurableRequest, ListenersRequest, ResponsesRequest
from builder.wire.responses import Response, questions_of, request_id, response_of
from builder.wire.subjects import breadcrumb_subject, check_token
from builder.wire.times import moment
from builder.worker.log import Log
from builder.worker.requests import Host


async def responses(host: Host, workspace: str, request: ResponsesRequest) -> JsonObject:
    """See `ResponsesRequest`."""
    session = check_token(request.session, "session")
    # Before the rest is read: the stream then refuses a reply that has not seen what came meanwhile.
    last = await host.log.newest(workspace, session, AGENT_RESPONSE)
    end = (await host.log.last()).next
    # A stream that was made again counts from 1.
    start = Place(end.incarnation, request.trigger_seq if request.trigger_seq < end.sequence else 0)
    most = request.most if request.with_results else 0
    own: list[Response] = []
    others: dict[str, Response] = {}
    is_answered_by_others = False
    async for crumb in _read(host.log, workspace, session, AGENT_RESPONSE, start, end, most):
        body = json.loads(crumb.body)
        facts = crumb.id, crumb.place.sequence, crumb.text, body
        if crumb.agent == request.agent and crumb.answers == request.trigger:
            own.append(response_of(*facts, own))
        elif crumb.agent == request.agent:
            others |= dict.fromkeys(questions_of(body), response_of(*facts))
        else:
            is_answered_by_others |= request.trigger in questions_of(body)
    if request.with_results:
        own = await _with_results(host.log, workspace, session, own, end, most)
    removals = _read(host.log, workspace, session, TOMBSTONE, start, end, most)
    return {
        "responses": [asdict(each) for each in sorted(own, key=lambda each: each.step)],
        "others": {name: asdict(response) for name, response in others.items()},
        "forgotten": sorted({crumb.removes async for crumb in removals}),
        "last": last,
        "is_answered_by_others": is_answered_by_others,
        "has_gone_on": await host.log.newest(workspace, session) > start.sequence,
    }


async def difference(host: Host, workspace: str, request: DifferenceRequest) -> JsonObject:
    """See `DifferenceRequest`."""
    there = await host.log.get(request.sequence)
    return compared(outgoing(request.record, workspace), there, own_clock=request.own_clock)


async def durable(host: Host, workspace: str, request: DurableRequest) -> JsonObject:
    """See `DurableRequest`."""
    consumer = _consumer(request)
    name = request.name or f"{workspace}={consumer}"
    if "=" in request.name and request.name != f"{workspace}={consumer}":
        raise Rejected(f"the durable {request.name!r} is that of another consumer; take a name without =, or none")
    now = host.log.now()
    since = request.since if request.seconds is None else now - timedelta(seconds=request.seconds)
    stream, is_new = await host.durables.make(workspace, consumer, name, since, request.ack_wait)
    return {"stream": stream, "name": name, "made_at": moment(now) if is_new else None}


async def listeners(host: Host, workspace: str, request: ListenersRequest) -> JsonObject:
    """See `ListenersRequest`."""
    return {"listening": await host.durables.listening(workspace, _consumer(request))}


def _consumer(request: DurableRequest | ListenersRequest) -> str:
    return check_token(request.consumer, "consumer")


async def _with_results(
    log: Log, workspace: str, session: str, responses: list[Response], end: Place, most: int
) -> list[Response]:
    requests = {name for each in responses for name in _names(each)} - {""}
    first = min((each.sequence for each in responses if each.tool_requests), default=0)
    results: dict[str, JsonObject] = {}
    for place in (session, NO_SESSION):
        for schema in (TOOL_RESPONSE, TOOL_ERROR):
            missing = requests - results.keys()
            results |= await _results(log, workspace, place, schema, Place(end.incarnation, first), end, missing, most)
    return [replace(each, results={name: results[name] for name in _names(each) if name in results}) for each in responses]


async def _results(
    log: Log, workspace: str, session: str, schema: str, start: Place, end: Place, requests: AbstractSet[str], most: int
) -> dict[str, JsonObject]:
    results: dict[str, JsonObject] = {}
    if requests:
        async for crumb in _read(log, workspace, session, schema, start, end, most):
            results |= {name: json.loads(crumb.body) for name in set(crumb.calls) & (requests - results.keys())}
            if requests <= results.keys():
                break
    return results


async def _read(
    log: Log, workspace: str, session: str, schema: str, start: Place, end: Place, most: int
) -> AsyncIterator[Breadcrumb]:
    """First versions that can be read. most: messages; 0 = all."""
    count = 0
    async for message in log.walk(workspace, session, start, end, schema):
        count += 1
        if most and count > most:
            raise Rejected(
                f"more than {most:,} messages on {breadcrumb_subject(workspace, session, schema)} come after sequence "
                f"{start.sequence}, too many to find the step; name it: send_response(…, step=1)"
            )
        crumb = readable(message)
        if crumb is not None and crumb.version == 1:
            yield crumb


def _names(response: Response) -> list[str]:
    return [request_id(call) for call in response.tool_requests]
