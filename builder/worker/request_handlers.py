"""Handlers of requests: fetch, history, context, consumers, fail, forget, compact."""

import json
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.context import context_id
from builder.domain.errors import Rejected
from builder.domain.recall import EVERY_SESSION
from builder.ports.broker import Archive, PublishedContexts, Publisher, Sender
from builder.ports.store import BreadcrumbStore, Eraser, Reader, Store
from builder.recall.scopes import history_of
from builder.wire.records import make_record, outgoing
from builder.wire.requests import (
    CompactRequest,
    ContextRequest,
    FailRequest,
    FetchRequest,
    ForgetRequest,
    HistoryRequest,
    breadcrumb_json,
    cursor,
    place_of,
    read_request,
    receipt_json,
)
from builder.wire.subjects import breadcrumb_subject, check_token
from builder.worker.consumers import Consumers, Verb
from builder.worker.erasure import TOMBSTONE, Erasure

Compact = Callable[[str, str, str, bool], Awaitable[dict[str, Any]]]
"""Workspace, session, profile and whether people's words stay → result. Raises `Rejected` and `Unavailable`."""

STREAM_END = Place(2**62, 0)
"""Behind every place."""


CatchUpTo = Callable[[str, str], Awaitable[object]]
"""Workspace and session → everything of it that the stream has is remembered. Raises `Unavailable`."""


async def stay(_workspace: str, _session: str) -> None:
    """`CatchUpTo` where there is no stream: the store answers as it is."""


class Lookup:
    """Reads the store. Secret, deleted and expired breadcrumbs are never handed out.

    The store of one of several workers lacks what the others took, so it catches up with the stream first.
    """

    def __init__(self, store: Store, now: Callable[[], datetime], catch_up: CatchUpTo = stay) -> None:
        self._store = store
        self._now = now
        self._catch_up = catch_up

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"fetch": self.fetch, "history": self.history}

    async def fetch(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `FetchRequest`."""
        request = read_request(FetchRequest, data)
        there = await self._store.versions(workspace, request.id)
        for session in sorted({crumb.session for crumb in there} | {NO_SESSION}) if there else [EVERY_SESSION]:
            await self._catch_up(workspace, session)
        versions = [crumb for crumb in await self._store.versions(workspace, request.id) if self._is_valid(crumb)]
        matches = [crumb for crumb in versions if request.version in (None, crumb.version)]
        if not matches:
            numbers = ", ".join(str(crumb.version) for crumb in versions)
            raise Rejected(
                f"there is no breadcrumb {request.id!r}" + (f" version {request.version}; there is {numbers}" if numbers else "")
                + f" in workspace {workspace!r} that can be handed out; secret, deleted and expired ones never are"
            )  # fmt: skip
        return breadcrumb_json(matches[-1])

    async def history(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `HistoryRequest`."""
        request = read_request(HistoryRequest, data)
        if bool(request.session) == bool(request.user):
            raise Rejected("a history is that of a session or of a person; name one of `session` and `user`")
        edge = place_of(request.after) if request.after else STREAM_END if request.newest else ORIGIN
        span = (ORIGIN, edge) if request.newest else (edge, STREAM_END)
        page = await (self._of_person if request.user else self._of_session)(workspace, request, span)
        return {
            "breadcrumbs": [breadcrumb_json(crumb) for crumb in page if self._is_valid(crumb)],
            "next": cursor(page[-1].place) if len(page) == request.limit else None,
        }

    async def _of_session(self, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
        check_token(request.session, "session")
        for session in (request.session, NO_SESSION):
            await self._catch_up(workspace, session)
        return await self._store.list_session(workspace, request.session, span, request.limit, request.newest)

    async def _of_person(self, workspace: str, request: HistoryRequest, span: tuple[Place, Place]) -> tuple[Breadcrumb, ...]:
        await self._catch_up(workspace, EVERY_SESSION)
        crumbs = await history_of(self._store, workspace, request.user, STREAM_END)
        within = [crumb for crumb in crumbs if span[0] < crumb.place < span[1]]
        return tuple(reversed(within) if request.newest else within)[: request.limit]

    def _is_valid(self, crumb: Breadcrumb) -> bool:
        return crumb.expires_at is None or crumb.expires_at > self._now()


class Contexts:
    """Reads the published contexts of the last 24 hours."""

    def __init__(self, reader: Reader, published: PublishedContexts) -> None:
        self._reader = reader
        self._published = published

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"context": self.context}

    async def context(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `ContextRequest`."""
        request = read_request(ContextRequest, data)
        check_token(request.consumer, "consumer")
        session = request.session or await self._session_of(workspace, request.trigger)
        check_token(session, "session")
        if request.trigger:
            identity = str(context_id(workspace, session, request.trigger, request.consumer))
            event = await self._published.context(workspace, request.consumer, session, identity)
        else:
            event = await self._published.last_context(workspace, request.consumer, session)
        if event is None:
            of = f" for trigger {request.trigger!r}" if request.trigger else ""
            raise Rejected(
                f"no context of {request.consumer!r} in session {session!r}{of} is kept; they are kept for 24 hours and are "
                "taken away when what they show is forgotten"
            )
        context: dict[str, Any] = json.loads(event)
        return context

    async def _session_of(self, workspace: str, trigger: str) -> str:
        if not trigger:
            raise Rejected("the request names neither a session nor a trigger; name one of them")
        versions = await self._reader.versions(workspace, trigger)
        if not versions:
            raise Rejected(f"there is no breadcrumb {trigger!r} in workspace {workspace!r}; name the session of the context")
        return await self._reader.caller_session(versions[0]) or versions[0].session


class Failures:
    """Keeps dead letters of agents."""

    def __init__(self, reader: Reader, publisher: Publisher, catch_up: CatchUpTo = stay) -> None:
        """catch_up: another worker may have taken the trigger."""
        self._reader = reader
        self._publisher = publisher
        self._catch_up = catch_up

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"fail": self.fail}

    async def fail(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `FailRequest`. A trigger that was erased leaves no letter."""
        request = read_request(FailRequest, data)
        identity = context_id(workspace, request.session, request.trigger, check_token(request.consumer, "consumer"))
        reason = f"the agent {request.consumer!r} gave up context {identity} of message {request.trigger!r}: {request.error}"
        for session in (check_token(request.session, "session"), NO_SESSION):
            await self._catch_up(workspace, session)
        for crumb in (await self._reader.versions(workspace, request.trigger))[:1]:
            names = json.dumps({"id": crumb.id, "context": str(identity)}).encode()
            subject = breadcrumb_subject(workspace, crumb.session, crumb.schema)
            arrival = StreamMessage(subject=subject, data=names, place=crumb.place, received_at=crumb.received_at)
            await self._publisher.dead_letter(arrival, reason, request.consumer)
        return {}


class RequestHandlers:
    """All handlers."""

    def __init__(
        self,
        lookup: Lookup,
        contexts: Contexts,
        reader: Reader,
        eraser: Eraser,
        tombstones: "TombstonePublisher",
        compacting: Compact,
        consumers: Consumers,
    ) -> None:
        self._lookup = lookup
        self._contexts = contexts
        self._reader = reader
        self._eraser = eraser
        self._tombstones = tombstones
        self._compacting = compacting
        self._consumers = consumers

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        own: dict[str, Verb] = {"forget": self.forget, "compact": self.compact}
        return {**self._lookup.verbs, **self._contexts.verbs, **self._consumers.verbs, **own}

    async def forget(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `ForgetRequest`. Answers with a receipt for each session that had it; none when it was forgotten before."""
        request = read_request(ForgetRequest, data)
        versions = await self._reader.versions(workspace, request.id)
        sessions = {request.session} if request.session else {crumb.session for crumb in versions}
        if not sessions and not await self._eraser.traces(workspace, request.id):
            raise Rejected(
                f"there is no breadcrumb {request.id!r} in workspace {workspace!r}; name its session if the store cannot "
                "know it, because it is a secret or was rejected"
            )
        counts = Counter(crumb.session for crumb in versions)
        receipts = [
            await self._tombstones(workspace, session, request.id, request.by, counts[session]) for session in sorted(sessions)
        ]
        return {"receipts": receipts}

    async def compact(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `CompactRequest`."""
        request = read_request(CompactRequest, data)
        check_token(request.session, "session")
        return await self._compacting(workspace, request.session, request.profile, request.keep_user)


class TombstonePublisher:
    """Publishes a tombstone into the breadcrumb's session, where every worker and every rebuilt store reads it, and erases."""

    def __init__(
        self,
        sender: Sender,
        decode: Callable[[StreamMessage], Breadcrumb],
        erasure: Erasure,
        store: BreadcrumbStore,
        archive: Archive,
    ) -> None:
        self._sender = sender
        self._decode = decode
        self._erasure = erasure
        self._store = store
        self._archive = archive

    async def __call__(self, workspace: str, session: str, identity: str, by: str, versions: int = 0) -> dict[str, Any]:
        """The receipt. versions: that the store had. Raises `Rejected` and `Unavailable`.

        Contexts are counted before the tombstone is published: another worker may take it, and erase at the same time.
        """
        contexts = len(await self._archive.contexts_with(workspace, frozenset({identity})))
        body = {"breadcrumb_id": identity} | ({"speaker": by} if by else {})
        tombstone = await self._publish(workspace, session, str(uuid.uuid4()), body)
        receipt = await self._erasure.forget(tombstone)
        complete = replace(
            receipt,
            versions=max(receipt.versions, versions),
            messages=max(receipt.messages, versions),
            contexts=max(receipt.contexts, contexts),
        )
        return receipt_json(complete)

    async def erase(self, breadcrumb: Breadcrumb) -> None:
        """Erase for the worker what a tombstone or a secret removes, and the secret's own message. Raises `Unavailable`.

        Earlier versions under the secret's id are erased by a tombstone, which outlives the secret's message: other workers and
        rebuilt stores read it, and after a crash its delivery repeats the erasure.
        """
        if breadcrumb.kind != "secret":
            await self._erasure.forget_in_order(breadcrumb)
            return
        if not await self._is_new(breadcrumb):
            identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{breadcrumb.workspace}:{breadcrumb.id}:{breadcrumb.version}"))
            body = {"breadcrumb_id": breadcrumb.id}
            await self._erasure.forget(await self._publish(breadcrumb.workspace, breadcrumb.session, identity, body))
        await self._archive.delete_at(breadcrumb.place, breadcrumb.workspace, breadcrumb.session)

    async def _is_new(self, secret: Breadcrumb) -> bool:
        """Whether its version, and the one before, are stored as secrets: then nothing readable has this id.

        An unknown earlier version counts as readable: stream and dead letters may hold one that was rejected.
        """
        versions = {secret.version, max(secret.version - 1, 1)}
        rows = [await self._store.facts(replace(secret, version=version)) for version in versions]
        return all(row is not None and row.breadcrumb.kind in {"secret", "erased"} for row in rows)

    async def _publish(self, workspace: str, session: str, identity: str, body: dict[str, Any]) -> Breadcrumb:
        event = outgoing(make_record(TOMBSTONE, identity, session, body), workspace)
        return self._decode(await self._sender.send(event.subject, event.data, event.message_id))
