"""Handlers of requests: fetch, identities, history, sessions, context, fail.

Secret, deleted and expired breadcrumbs are never handed out. The store of one of several workers lacks what the others took, so a
handler catches up with the stream first.
"""

import json
from collections.abc import Iterable
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.context import context_id
from builder.domain.errors import Missing, Rejected
from builder.domain.recall import EVERY_SESSION
from builder.ports.contexts import PublishedContexts, Publisher
from builder.recall.scopes import history_of
from builder.wire.answers import breadcrumb_json, session_json
from builder.wire.cursors import cursor, place_of
from builder.wire.identities import IdentitiesRequest, identities_json
from builder.wire.requests import (
    ContextRequest,
    FailRequest,
    FetchRequest,
    HistoryRequest,
    SessionsRequest,
)
from builder.wire.subjects import breadcrumb_subject, check_token
from builder.worker.log import STREAM_END, StoredLog


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


class Lookup:
    """Reads the store."""

    def __init__(self, log: StoredLog) -> None:
        self._log = log

    async def fetch(self, workspace: str, request: FetchRequest) -> dict[str, Any]:
        """See `FetchRequest`."""
        there = await self._log.store.versions(workspace, request.id)
        for session in sorted({crumb.session for crumb in there} | {NO_SESSION}) if there else [EVERY_SESSION]:
            await self._log.catch_up(workspace, session)
        crumbs = await self._log.store.versions(workspace, request.id)
        ended = max((crumb.version for crumb in crumbs if not self._is_valid(crumb)), default=0)
        versions = sorted((crumb for crumb in crumbs if crumb.version > ended), key=lambda crumb: crumb.version)
        matches = [crumb for crumb in versions if request.version in (None, crumb.version)]
        if not matches:
            raise no_breadcrumb(workspace, request, versions)
        return breadcrumb_json(matches[-1])

    async def identities(self, workspace: str, request: IdentitiesRequest) -> dict[str, Any]:
        """See `IdentitiesRequest`."""
        await self._log.catch_up(workspace, EVERY_SESSION)
        return identities_json(await self._log.store.identities(workspace, request.ids))

    async def history(self, workspace: str, request: HistoryRequest) -> dict[str, Any]:
        """See `HistoryRequest`."""
        if bool(request.session) == bool(request.user_id):
            raise Rejected("a history is that of a session or of a person; name one of `session` and `user_id`")
        edge = STREAM_END if request.newest else ORIGIN
        if request.after:
            edge = place_of(request.after, (await self._log.last()).incarnation)
        span = (ORIGIN, edge) if request.newest else (edge, STREAM_END)
        page = await (self._of_person if request.user_id else self._of_session)(workspace, request, span)
        return {
            "breadcrumbs": [breadcrumb_json(crumb) for crumb in page if self._is_valid(crumb)],
            "next": cursor(page[-1].place) if len(page) == request.limit else None,
        }

    async def sessions(self, workspace: str, request: SessionsRequest) -> dict[str, Any]:
        """See `SessionsRequest`."""
        edge = place_of(request.after) if request.after else STREAM_END
        await self._log.catch_up(workspace, EVERY_SESSION)
        if request.user_id:
            ends = await self._ends_of_person(workspace, request.user_id, edge, request.limit)
        else:
            ends = await self._log.store.latest(workspace, edge, request.limit)
        return {"sessions": list(map(session_json, ends)), "next": cursor(ends[-1].place) if len(ends) == request.limit else None}

    async def _ends_of_person(self, workspace: str, user: str, until: Place, limit: int) -> tuple[Breadcrumb, ...]:
        store, span = self._log.store, (ORIGIN, STREAM_END)
        names = [name for name in await store.sessions_of(workspace, user) if name != NO_SESSION]
        ends = [crumb for name in names for crumb in await store.list_session(workspace, name, span, 1, newest=True)]
        before = sorted((crumb for crumb in ends if crumb.place < until), key=lambda crumb: crumb.place, reverse=True)
        return tuple(before[:limit])

    async def _of_session(self, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
        check_token(request.session, "session")
        for session in (request.session, NO_SESSION):
            await self._log.catch_up(workspace, session)
        return await self._log.store.list_session(workspace, request.session, span, request.limit, request.newest)

    async def _of_person(self, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
        await self._log.catch_up(workspace, EVERY_SESSION)
        crumbs = await history_of(self._log.store, workspace, request.user_id, STREAM_END)
        within = [crumb for crumb in crumbs if span[0] < crumb.place < span[1]]
        return tuple(reversed(within) if request.newest else within)[: request.limit]

    def _is_valid(self, crumb: Breadcrumb) -> bool:
        return crumb.expires_at is None or crumb.expires_at > self._log.now()


class Contexts:
    """Reads the published contexts of the last 24 hours, and keeps which of them an agent gave up."""

    def __init__(self, log: StoredLog, published: PublishedContexts, publisher: Publisher) -> None:
        self._log = log
        self._published = published
        self._publisher = publisher

    async def context(self, workspace: str, request: ContextRequest) -> dict[str, Any]:
        """See `ContextRequest`."""
        check_token(request.consumer, "consumer")
        session = request.session or await self._session_of(workspace, request.trigger)
        check_token(session, "session")
        if request.trigger:
            identity = str(context_id(workspace, session, request.trigger, request.consumer))
            event = await self._published.context(workspace, request.consumer, session, identity)
        else:
            event = await self._published.last_context(workspace, request.consumer, session)
        if event is None:
            raise no_context(request, session)
        context: dict[str, Any] = json.loads(event.data)
        return context

    async def _session_of(self, workspace: str, trigger: str) -> str:
        if not trigger:
            raise Rejected("the request names neither a session nor a trigger; name one of them")
        versions = await self._log.store.versions(workspace, trigger)
        if not versions:
            raise no_trigger(workspace, trigger)
        return await self._log.store.caller_session(versions[0]) or versions[0].session

    async def fail(self, workspace: str, request: FailRequest) -> dict[str, Any]:
        """See `FailRequest`: keep the dead letter of an agent. A trigger that was erased leaves none."""
        identity = context_id(workspace, request.session, request.trigger, check_token(request.consumer, "consumer"))
        reason = f"the agent {request.consumer!r} gave up context {identity} of message {request.trigger!r}: {request.error}"
        for session in (check_token(request.session, "session"), NO_SESSION):
            await self._log.catch_up(workspace, session)
        for crumb in (await self._log.store.versions(workspace, request.trigger))[:1]:
            names = json.dumps({"id": crumb.id, "context": str(identity)}).encode()
            subject = breadcrumb_subject(workspace, crumb.session, crumb.schema)
            arrival = StreamMessage(subject=subject, data=names, place=crumb.place, received_at=crumb.received_at)
            await self._publisher.dead_letter(arrival, reason, request.consumer)
        return {}
