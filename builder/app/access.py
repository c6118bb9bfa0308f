"""Who may ask what: rights by request, and what a sender who is one person may see and write.

A person owns the sessions in which it was the first person to speak. It sees these without what has the `user_id` of somebody
else, its own breadcrumbs anywhere, and the notes of no session, which are everybody's. All else answers as if it were not there:
what belongs to others and what does not exist take the same path.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, USER_MESSAGE, Breadcrumb
from builder.domain.errors import Forbidden, Missing, Rejected
from builder.domain.json_values import JsonObject
from builder.domain.recall import EVERY_SESSION
from builder.extra import NOTE, Ask, Caller, Host, Request
from builder.wire.answers import breadcrumb_json
from builder.wire.forgetting import MAX_FORGOTTEN, ForgetRequest, check_subject
from builder.wire.requests import (
    MAX_SEARCH_RESULTS,
    BuiltContext,
    ConsumersRequest,
    ContextRequest,
    FetchRequest,
    HistoryRequest,
    SearchRequest,
    SessionsRequest,
    read_request,
)
from builder.wire.traces import span
from builder.worker.forget_requests import breadcrumbs_of, nothing_to_forget
from builder.worker.log import STREAM_END
from builder.worker.request_handlers import no_breadcrumb, no_context, no_trigger

OF_A_PERSON = frozenset({USER_MESSAGE, NOTE})
"""Schemas that a person writes."""


def no_session(session: str) -> Missing:
    """Of a request that needs one."""
    return Missing(f"there is no session {session!r}; check its name")


def id_in_use(identity: str) -> Rejected:
    """Of a person's message, whatever has the id: it reads the same for what others wrote, secrets and rejected messages."""
    return Rejected(f"the id {identity!r} is in use; take another one")


class AccessControl:
    """The requests, each for who may send it. Methods raise `Rejected` and `Unavailable`."""

    def __init__(self, host: Host, requests: Mapping[str, Request]) -> None:
        """requests: those of the table that have a right."""
        self._log, self._host, self._requests = host.log, host, requests

    async def answer(self, caller: Caller, name: str, data: bytes) -> JsonObject:
        """Of the request, as far as the caller may see it. data: JSON."""
        request = self._allowed(caller, name)
        return await self.ask(caller, name, read_request(request.model, data))

    async def ask(self, caller: Caller, name: str, content: BaseModel) -> JsonObject:
        """The same. content: of the request's model."""
        request = self._allowed(caller, name)
        ask = partial(request.ask, self._host, caller.workspace)
        with span(f"request {name}"):
            if caller.user and request.narrowing:
                return await request.narrowing(self, caller, content, ask)
            return await ask(content)

    def _allowed(self, caller: Caller, name: str) -> Request:
        request = self._requests[name]
        if request.right:
            caller.need(request.right)
        if caller.user and not request.narrowing:
            raise Forbidden(f"{name} answers for a whole workspace, and this token is of user {caller.user!r}; use another token")
        return request

    async def check_message(self, caller: Caller, crumb: Breadcrumb) -> None:
        """Before a breadcrumb is published. What erases earlier ones needs the right to forget."""
        is_erasing = bool(crumb.removes) and (crumb.removes != crumb.id or crumb.version > 1)
        caller.need("forget" if is_erasing else "write")
        if crumb.workspace != caller.workspace:
            raise Missing(f"there is no workspace {crumb.workspace!r}; this token opens {caller.workspace!r}")
        if not caller.user:
            await self._check_identity(caller, crumb)
            return
        if crumb.user_id != caller.user or crumb.schema not in OF_A_PERSON:
            raise Forbidden(
                f"this token writes {' and '.join(sorted(OF_A_PERSON))} of user {caller.user!r} only; send one of them"
            )
        is_new = crumb.schema == USER_MESSAGE and await self._is_empty(caller.workspace, crumb.session)
        if not (is_new or await self._owns_now(caller, crumb.session)):
            raise no_session(crumb.session)
        if not await self._is_free(caller, crumb):
            raise id_in_use(crumb.id)
        await self._check_identity(caller, crumb)

    async def _check_identity(self, caller: Caller, crumb: Breadcrumb) -> None:
        """Whether the stream's end takes it, as `Identity` says; a new id is looked up as the store has it."""
        if crumb.version > 1 or crumb.removes:
            await self._log.catch_up(caller.workspace, EVERY_SESSION)
        new = replace(crumb, place=STREAM_END)
        identities = await self._log.store.identities(caller.workspace, (crumb.id, crumb.removes))
        there = identities[crumb.id]
        if there.is_closed(new):
            raise Rejected(f"the id {crumb.id!r} was forgotten, which closes it for good; take another id")
        if crumb.kind == "secret" and there.first:
            caller.need("forget")
        if reason := there.conflict(new) or (identities[crumb.removes].stray(new) if crumb.kind == "tombstone" else ""):
            raise Rejected(reason)

    async def check_export(self, caller: Caller, session: str) -> None:
        """Before a session, or with "" all of them, are exported."""
        caller.need("export")
        if caller.user and not (session and await self._reads(caller, session)):
            raise no_session(session)

    async def owns(self, caller: Caller, session: str) -> bool:
        """Whether the session is the caller's: nobody spoke there before."""
        if not caller.user or session == NO_SESSION:
            return not caller.user
        return await self._log.store.first_speaker(caller.workspace, session, STREAM_END) == caller.user

    async def is_for(self, caller: Caller, event: Mapping[str, Any]) -> bool:
        """Whether a context answers the caller: all its questions are the caller's, in a session of the caller."""
        if not caller.user:
            return True
        messages = event.get("questions") or [event.get("trigger_event_id", "")]
        return (
            str(event.get("consumer_id")) in await self._personal(caller)
            and await self.owns(caller, str(event.get("session_id")))
            and all([await self._is_own(caller, each) for each in messages])
        )

    async def asker(self, event: Mapping[str, Any], workspace: str) -> str:
        """The only person whom a context may be for: who asked its first question; "" = nobody that is known."""
        first = (event.get("questions") or [event.get("trigger_event_id", "")])[0]
        await self._log.catch_up(workspace, EVERY_SESSION)
        versions = await self._log.store.versions(workspace, first)
        return versions[0].user_id if versions else ""

    async def of_own_session(self, caller: Caller, request: Any, ask: Ask) -> JsonObject:
        """Any request about a session, narrowed to those of the caller."""
        if not await self._owns_now(caller, request.session):
            raise no_session(request.session)
        return await ask(request)

    async def consumers(self, caller: Caller, request: ConsumersRequest, ask: Ask) -> JsonObject:
        """Narrowed to those whose pages show nothing but the session and the memory of its person."""
        answer, personal = await ask(request), await self._personal(caller)
        return {"consumers": [each for each in answer["consumers"] if each["name"] in personal], "findings": []}

    async def context(self, caller: Caller, request: ContextRequest, ask: Ask) -> JsonObject:
        """Narrowed to one that answers the caller."""
        if request.trigger and not request.session and not await self._is_own(caller, request.trigger):
            raise no_trigger(caller.workspace, request.trigger)
        try:
            event = await ask(request)
        except Missing:
            if request.session:
                raise no_context(request, request.session) from None
            raise
        if not await self.is_for(caller, event):
            raise no_context(request, request.session or str(event["session_id"]))
        return event

    async def of_own_context(self, caller: Caller, request: BuiltContext, ask: Ask) -> JsonObject:
        """Any request about a context, narrowed to one that answers the caller."""
        own = ContextRequest(consumer=request.consumer or "default", session=request.session, trigger=request.trigger)
        event = await self.ask(caller, "context", own)
        names = {"consumer": own.consumer, "trigger": event["trigger_event_id"], "session": event["session_id"]}
        return await ask(request.model_copy(update=names))

    async def fetch(self, caller: Caller, request: FetchRequest, ask: Ask) -> JsonObject:
        """Narrowed to a breadcrumb all of whose versions the caller sees."""
        versions = [breadcrumb_json(crumb) for crumb in await self._versions(caller, request.id)]
        if not versions or await self._visible(caller, versions) != versions:
            raise no_breadcrumb(caller.workspace, request)
        return await ask(request)

    async def forget(self, caller: Caller, request: ForgetRequest, ask: Ask) -> JsonObject:
        """Narrowed to what the caller said, and what was said to it."""
        check_subject(request)
        names = request.names or await self._own_of(caller, request)
        for name in request.names:
            versions = await self._forgettable(caller, name)
            if not versions or request.session not in {"", *(crumb.session for crumb in versions)}:
                raise nothing_to_forget(caller.workspace, (name,))
        if not names:
            return {"receipts": [], "rest": 0, "dead_letters": 0}
        session = request.session if request.names else ""
        answer = await ask(ForgetRequest(ids=names[:MAX_FORGOTTEN], session=session, by=caller.name))
        return answer if request.names else answer | {"rest": len(names[MAX_FORGOTTEN:])}

    async def _own_of(self, caller: Caller, request: ForgetRequest) -> tuple[str, ...]:
        """Ids of what a request for a person or a session is about, as far as the caller may forget it."""
        if request.user_id not in ("", caller.user) or (request.session and not await self._owns_now(caller, request.session)):
            return ()
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        crumbs = await breadcrumbs_of(self._log.store, caller.workspace, request)
        return tuple([crumb.id for crumb in crumbs if await self._forgettable(caller, crumb.id)])

    async def _forgettable(self, caller: Caller, name: str) -> tuple[Breadcrumb, ...]:
        """All versions of an id, or their traces, if the caller may forget it."""
        versions = await self._versions(caller, name) or await self._log.store.traces(caller.workspace, name)
        return versions if all([await self._may_forget(caller, crumb) for crumb in versions]) else ()

    async def history(self, caller: Caller, request: HistoryRequest, ask: Ask) -> JsonObject:
        """Narrowed to what the caller sees of a page; nothing of a session of others."""
        if not await self._may_read(caller, request.user_id, request.session):
            return {"breadcrumbs": [], "next": None}
        answer = await ask(request)
        return answer | {"breadcrumbs": await self._visible(caller, answer["breadcrumbs"])}

    async def search(self, caller: Caller, request: SearchRequest, ask: Ask) -> JsonObject:
        """Narrowed to passages that the caller sees, of its own memory if no session is named."""
        if not await self._may_read(caller, request.user_id, request.session):
            return {"passages": []}
        narrowed = request if request.session else request.model_copy(update={"user_id": caller.user})
        seen: list[JsonObject] = []
        for limit in (request.limit, MAX_SEARCH_RESULTS):  # what is hidden takes no room from what is shown
            passages = (await ask(narrowed.model_copy(update={"limit": limit})))["passages"]
            seen = await self._visible(caller, passages)
            if len(seen) == len(passages):
                break
        return {"passages": seen[: request.limit]}

    async def sessions(self, caller: Caller, request: SessionsRequest, ask: Ask) -> JsonObject:
        """Narrowed to those of the caller."""
        if request.user_id not in ("", caller.user):
            return {"sessions": [], "next": None}
        answer = await ask(request.model_copy(update={"user_id": caller.user}))
        return answer | {"sessions": [each for each in answer["sessions"] if await self.owns(caller, each["session"])]}

    async def _may_read(self, caller: Caller, user: str, session: str) -> bool:
        return user in ("", caller.user) and (not session or await self._reads(caller, session))

    async def _owns_now(self, caller: Caller, session: str) -> bool:
        """`owns`, with what the stream has and the store still lacks."""
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        return await self.owns(caller, session)

    async def _reads(self, caller: Caller, session: str) -> bool:
        return session == NO_SESSION or await self._owns_now(caller, session)

    async def _visible(self, caller: Caller, crumbs: list[JsonObject]) -> list[JsonObject]:
        """Those of an answer that the caller sees."""
        owned = {session: await self.owns(caller, session) for session in {each["session"] for each in crumbs}}
        return [
            each
            for each in crumbs
            if caller.sees(each["schema_name"], each["session"], each["user_id"] or "", is_own=owned[each["session"]])
        ]

    async def _versions(self, caller: Caller, identity: str) -> tuple[Breadcrumb, ...]:
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        return await self._log.store.versions(caller.workspace, identity)

    async def _is_own(self, caller: Caller, identity: str) -> bool:
        versions = await self._versions(caller, identity)
        return bool(versions) and all(crumb.user_id == caller.user for crumb in versions)

    async def _may_forget(self, caller: Caller, crumb: Breadcrumb) -> bool:
        return crumb.user_id == caller.user or (not crumb.user_id and await self.owns(caller, crumb.session))

    async def _is_free(self, caller: Caller, crumb: Breadcrumb) -> bool:
        """Whether the caller may publish this version: nobody else, no secret and nothing erased has the id."""
        versions = await self._versions(caller, crumb.id)
        there = await self._log.store.facts(crumb)
        is_first = crumb.version == 1 and there is None
        return all(each.user_id == caller.user for each in versions) and (is_first or bool(versions))

    async def _is_empty(self, workspace: str, session: str) -> bool:
        """Whether nothing was ever there, secrets and traces included."""
        await self._log.catch_up(workspace, session)
        store, span = self._log.store, (ORIGIN, STREAM_END)
        return session != NO_SESSION and not (
            await store.list_session(workspace, session, span, 1, newest=True) or await store.places(workspace, session, *span)
        )

    async def _personal(self, caller: Caller) -> Collection[str]:
        """Consumers whose pages show nothing but the session and the memory of its person."""
        profiles = await self._host.consumers.of(caller.workspace)
        return {profile.consumer for profile in profiles if profile.retrieval.scope in ("session", "user")}
