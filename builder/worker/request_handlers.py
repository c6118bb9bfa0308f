"""Handlers of requests: fetch, identities, history, sessions, context, fail.

Secret, deleted and expired breadcrumbs are never handed out. The store of one of several workers lacks what the others took, so a
handler catches up with the stream first.
"""

import json
from collections.abc import Iterable

from pydantic import TypeAdapter

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.context import context_id
from builder.domain.errors import Missing, Rejected
from builder.domain.identity import Identity
from builder.domain.json_values import JsonObject
from builder.domain.recall import EVERY_SESSION
from builder.recall.scopes import history_of
from builder.wire.answers import breadcrumb_json, cursor, place_of
from builder.wire.requests import (
    ContextRequest,
    FailRequest,
    FetchRequest,
    HistoryRequest,
    IdentitiesRequest,
    SessionsRequest,
)
from builder.wire.subjects import breadcrumb_subject, check_token
from builder.wire.times import moment
from builder.worker.log import STREAM_END
from builder.worker.requests import Host

_IDENTITIES = TypeAdapter(dict[str, Identity])


def no_breadcrumb(workspace: str, request: FetchRequest, versions: Iterable[Breadcrumb] = ()) -> Missing:
    """Refusal of a fetch. versions: those that can be handed out."""
    numbers = ", ".join(str(crumb.version) for crumb in versions)
    return Missing(
        f"there is no breadcrumb {request.id!r}" + (f" version {request.version}; there is {numbers}" if numbers else "")
        + f" in workspace {workspace!r} that can be handed out; secret, deleted and expired ones never are"
    )  # fmt: skip


def no_context(request: ContextRequest, session: str) -> Missing:
    """Refusal of a request for a context."""
    of = f" for trigger {request.trigger!r}" if request.trigger else ""
    return Missing(
        f"no context of {request.consumer!r} in session {session!r}{of} is kept; they are kept for 24 hours and are "
        "taken away when what they show is forgotten"
    )


def no_trigger(workspace: str, trigger: str) -> Missing:
    """Refusal of a request that names a trigger and no session."""
    return Missing(f"there is no breadcrumb {trigger!r} in workspace {workspace!r}; name the session of the context")


async def fetch(host: Host, workspace: str, request: FetchRequest) -> JsonObject:
    """See `FetchRequest`."""
    there = await host.log.store.versions(workspace, request.id)
    for session in sorted({crumb.session for crumb in there} | {NO_SESSION}) if there else [EVERY_SESSION]:
        await host.log.catch_up(workspace, session)
    crumbs = await host.log.store.versions(workspace, request.id)
    ended = max((crumb.version for crumb in crumbs if not _is_valid(host, crumb)), default=0)
    versions = sorted((crumb for crumb in crumbs if crumb.version > ended), key=lambda crumb: crumb.version)
    matches = [crumb for crumb in versions if request.version in (None, crumb.version)]
    if not matches:
        raise no_breadcrumb(workspace, request, versions)
    return breadcrumb_json(matches[-1])


async def identities(host: Host, workspace: str, request: IdentitiesRequest) -> JsonObject:
    """See `IdentitiesRequest`."""
    await host.log.catch_up(workspace, EVERY_SESSION)
    every = await host.log.store.identities(workspace, request.ids)
    entries = {name: each for name, each in every.items() if each.first or each.marks}
    return {"identities": _IDENTITIES.dump_python(entries, mode="json")}


async def history(host: Host, workspace: str, request: HistoryRequest) -> JsonObject:
    """See `HistoryRequest`."""
    if bool(request.session) == bool(request.user_id):
        raise Rejected("a history is that of a session or of a person; name one of `session` and `user_id`")
    edge = STREAM_END if request.newest else ORIGIN
    if request.after:
        edge = place_of(request.after, (await host.log.last()).incarnation)
    span = (ORIGIN, edge) if request.newest else (edge, STREAM_END)
    page = await (_of_person if request.user_id else _of_session)(host, workspace, request, span)
    return {
        "breadcrumbs": [breadcrumb_json(crumb) for crumb in page if _is_valid(host, crumb)],
        "next": _next(page, request.limit),
    }


async def sessions(host: Host, workspace: str, request: SessionsRequest) -> JsonObject:
    """See `SessionsRequest`."""
    edge = place_of(request.after) if request.after else STREAM_END
    await host.log.catch_up(workspace, EVERY_SESSION)
    if request.user_id:
        ends = await _ends_of_person(host, workspace, request.user_id, edge, request.limit)
    else:
        ends = await host.log.store.latest(workspace, edge, request.limit)
    return {"sessions": list(map(_session_json, ends)), "next": _next(ends, request.limit)}


def _session_json(crumb: Breadcrumb) -> JsonObject:
    """A session by its newest breadcrumb."""
    return {"session": crumb.session, "seq": crumb.place.sequence, "created_at": moment(crumb.created_at, crumb.utc_offset)}


def _next(page: tuple[Breadcrumb, ...], limit: int) -> str | None:
    return cursor(page[-1].place) if len(page) == limit else None


async def _ends_of_person(host: Host, workspace: str, user: str, until: Place, limit: int) -> tuple[Breadcrumb, ...]:
    store, span = host.log.store, (ORIGIN, STREAM_END)
    names = [name for name in await store.sessions_of(workspace, user) if name != NO_SESSION]
    ends = [crumb for name in names for crumb in await store.list_session(workspace, name, span, 1, newest=True)]
    before = sorted((crumb for crumb in ends if crumb.place < until), key=lambda crumb: crumb.place, reverse=True)
    return tuple(before[:limit])


async def _of_session(host: Host, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
    await _catch_up(host, workspace, request.session)
    return await host.log.store.list_session(workspace, request.session, span, request.limit, request.newest)


async def _catch_up(host: Host, workspace: str, session: str) -> None:
    for each in (check_token(session, "session"), NO_SESSION):
        await host.log.catch_up(workspace, each)


async def _of_person(host: Host, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
    await host.log.catch_up(workspace, EVERY_SESSION)
    crumbs = await history_of(host.log.store, workspace, request.user_id, STREAM_END)
    within = [crumb for crumb in crumbs if span[0] < crumb.place < span[1]]
    return tuple(reversed(within) if request.newest else within)[: request.limit]


def _is_valid(host: Host, crumb: Breadcrumb) -> bool:
    return crumb.expires_at is None or crumb.expires_at > host.log.now()


async def context(host: Host, workspace: str, request: ContextRequest) -> JsonObject:
    """See `ContextRequest`."""
    check_token(request.consumer, "consumer")
    session = request.session or await _session_of(host, workspace, request.trigger)
    check_token(session, "session")
    if request.trigger:
        identity = str(context_id(workspace, session, request.trigger, request.consumer))
        event = await host.contexts.context(workspace, request.consumer, session, identity)
    else:
        event = await host.contexts.last_context(workspace, request.consumer, session)
    if event is None:
        raise no_context(request, session)
    page: JsonObject = json.loads(event.data)
    return page


async def _session_of(host: Host, workspace: str, trigger: str) -> str:
    if not trigger:
        raise Rejected("the request names neither a session nor a trigger; name one of them")
    versions = await host.log.store.versions(workspace, trigger)
    if not versions:
        raise no_trigger(workspace, trigger)
    return await host.log.store.caller_session(versions[0]) or versions[0].session


async def fail(host: Host, workspace: str, request: FailRequest) -> JsonObject:
    """See `FailRequest`: keep the dead letter of an agent. A trigger that was erased leaves none."""
    identity = context_id(workspace, request.session, request.trigger, check_token(request.consumer, "consumer"))
    reason = f"the agent {request.consumer!r} gave up context {identity} of message {request.trigger!r}: {request.error}"
    await _catch_up(host, workspace, request.session)
    for crumb in (await host.log.store.versions(workspace, request.trigger))[:1]:
        names = json.dumps({"id": crumb.id, "context": str(identity)}).encode()
        subject = breadcrumb_subject(workspace, crumb.session, crumb.schema)
        arrival = StreamMessage(subject=subject, data=names, place=crumb.place, received_at=crumb.received_at)
        await host.publisher.dead_letter(arrival, reason, request.consumer)
    return {}
