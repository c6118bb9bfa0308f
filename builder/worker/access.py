"""Who may ask what: rights by verb, and what a sender who is one person may see and write.

A person owns the sessions in which it was the first person to speak. It sees these without what has the `user_id` of somebody
else, its own breadcrumbs anywhere, and the notes of no session, which are everybody's. All else answers as if it were not there:
what belongs to others and what does not exist take the same path.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, USER_MESSAGE, Breadcrumb
from builder.domain.errors import Forbidden, Missing, Rejected
from builder.domain.recall import EVERY_SESSION
from builder.wire.forgetting import MAX_FORGOTTEN, ForgetRequest, check_subject
from builder.wire.requests import (
    MAX_SEARCH_RESULTS,
    BuiltContext,
    CompactRequest,
    ContextRequest,
    FetchRequest,
    HistoryRequest,
    SearchRequest,
    SessionsRequest,
    breadcrumb_json,
    read_request,
)
from builder.worker.decide import Consumers
from builder.worker.forget_requests import breadcrumbs_of, nothing_to_forget
from builder.worker.log import STREAM_END, StoredLog
from builder.worker.request_handlers import Verb, id_in_use, no_breadcrumb, no_context, no_session, no_trigger
from builder.worker.requests import OF_A_PERSON, RIGHTS, Access, Ask, Caller, Request, Right


async def of_own_context(access: Access, caller: Caller, request: BuiltContext, ask: Ask) -> dict[str, Any]:
    """A `Narrowing`: the context that the request names is the caller's."""
    own = ContextRequest(consumer=request.consumer or "default", session=request.session, trigger=request.trigger)
    event = await access.answer(caller, "context", own.model_dump_json().encode())
    names = {"consumer": own.consumer, "trigger": event["trigger_event_id"], "session": event["session_id"]}
    return await ask(request.model_copy(update=names))


class AccessControl:
    """The verbs, each for who may use it. Methods raise `Rejected` and `Unavailable`."""

    def __init__(
        self,
        log: StoredLog,
        verbs: Mapping[str, Verb],
        consumers: Consumers,
        additions: Mapping[str, Request] = MappingProxyType({}),
    ) -> None:
        """additions: the requests of extras."""
        self._log, self._verbs, self._consumers, self._additions = log, verbs, consumers, additions
        self._narrowed: Mapping[str, Callable[[Caller, bytes], Awaitable[dict[str, Any]]]] = {
            "compact": self._compact,
            "consumers": self._listed,
            "context": self._context,
            "fetch": self._fetch,
            "forget": self._forget,
            "history": self._history,
            "search": self._search,
            "sessions": self._sessions,
        }

    async def answer(self, caller: Caller, verb: str, data: bytes) -> dict[str, Any]:
        """Of the verb, as far as the caller may see it. data: JSON."""
        caller.need(self._right(verb))
        if not caller.user:
            return await self._verbs[verb](caller.workspace, data)
        if verb in self._narrowed:
            return await self._narrowed[verb](caller, data)
        addition = self._additions.get(verb)
        if addition and addition.narrowing:
            ask = partial(self._ask, caller.workspace, verb)
            return await addition.narrowing(self, caller, read_request(addition.model, data), ask)
        raise Forbidden(f"{verb} answers for a whole workspace, and this token is of user {caller.user!r}; use another token")

    def _right(self, verb: str) -> Right:
        """Raises KeyError for a verb that no door with tokens offers."""
        addition = self._additions.get(verb)
        return addition.right if addition and addition.right else RIGHTS[verb]

    async def _ask(self, workspace: str, verb: str, request: BaseModel) -> dict[str, Any]:
        return await self._verbs[verb](workspace, request.model_dump_json().encode())

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

    async def _compact(self, caller: Caller, data: bytes) -> dict[str, Any]:
        session = read_request(CompactRequest, data).session
        if not await self._owns_now(caller, session):
            raise no_session(session)
        return await self._verbs["compact"](caller.workspace, data)

    async def _listed(self, caller: Caller, data: bytes) -> dict[str, Any]:
        answer, personal = await self._verbs["consumers"](caller.workspace, data), await self._personal(caller)
        return {"consumers": [each for each in answer["consumers"] if each["name"] in personal], "findings": []}

    async def _context(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(ContextRequest, data)
        if request.trigger and not request.session and not await self._is_own(caller, request.trigger):
            raise no_trigger(caller.workspace, request.trigger)
        try:
            event = await self._verbs["context"](caller.workspace, data)
        except Missing:
            if request.session:
                raise no_context(request, request.session) from None
            raise
        if not await self.is_for(caller, event):
            raise no_context(request, request.session or str(event["session_id"]))
        return event

    async def _fetch(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(FetchRequest, data)
        versions = [breadcrumb_json(crumb) for crumb in await self._versions(caller, request.id)]
        if not versions or await self._visible(caller, versions) != versions:
            raise no_breadcrumb(caller.workspace, request)
        return await self._verbs["fetch"](caller.workspace, data)

    async def _forget(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(ForgetRequest, data)
        check_subject(request)
        names = request.names or await self._own_of(caller, request)
        for name in request.names:
            versions = await self._forgettable(caller, name)
            if not versions or request.session not in {"", *(crumb.session for crumb in versions)}:
                raise nothing_to_forget(caller.workspace, (name,))
        if not names:
            return {"receipts": [], "rest": 0, "dead_letters": 0}
        signed = ForgetRequest(ids=names[:MAX_FORGOTTEN], session=request.session if request.names else "", by=caller.name)
        answer = await self._verbs["forget"](caller.workspace, signed.model_dump_json().encode())
        return answer if request.names else answer | {"rest": len(names[MAX_FORGOTTEN:])}

    async def _own_of(self, caller: Caller, request: ForgetRequest) -> tuple[str, ...]:
        """Ids of what a request for a person or a session is about, as far as the caller may forget it."""
        if request.user not in ("", caller.user) or (request.session and not await self._owns_now(caller, request.session)):
            return ()
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        crumbs = await breadcrumbs_of(self._log.store, caller.workspace, request)
        return tuple([crumb.id for crumb in crumbs if await self._forgettable(caller, crumb.id)])

    async def _forgettable(self, caller: Caller, name: str) -> tuple[Breadcrumb, ...]:
        """All versions of an id, or their traces, if the caller may forget it."""
        versions = await self._versions(caller, name) or await self._log.store.traces(caller.workspace, name)
        return versions if all([await self._may_forget(caller, crumb) for crumb in versions]) else ()

    async def _history(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(HistoryRequest, data)
        if request.user not in ("", caller.user) or (request.session and not await self._reads(caller, request.session)):
            return {"breadcrumbs": [], "next": None}
        answer = await self._verbs["history"](caller.workspace, data)
        return answer | {"breadcrumbs": await self._visible(caller, answer["breadcrumbs"])}

    async def _search(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(SearchRequest, data)
        if request.user not in ("", caller.user) or (request.session and not await self._reads(caller, request.session)):
            return {"passages": []}
        narrowed = request if request.session else request.model_copy(update={"user": caller.user})
        seen: list[dict[str, Any]] = []
        for limit in (request.limit, MAX_SEARCH_RESULTS):  # what is hidden takes no room from what is shown
            wider = narrowed.model_copy(update={"limit": limit}).model_dump_json().encode()
            passages = (await self._verbs["search"](caller.workspace, wider))["passages"]
            seen = await self._visible(caller, passages)
            if len(seen) == len(passages):
                break
        return {"passages": seen[: request.limit]}

    async def _sessions(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(SessionsRequest, data)
        if request.user not in ("", caller.user):
            return {"sessions": [], "next": None}
        narrowed = request.model_copy(update={"user": caller.user})
        answer = await self._verbs["sessions"](caller.workspace, narrowed.model_dump_json().encode())
        return answer | {"sessions": [each for each in answer["sessions"] if await self.owns(caller, each["session"])]}

    async def _owns_now(self, caller: Caller, session: str) -> bool:
        """`owns`, with what the stream has and the store still lacks."""
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        return await self.owns(caller, session)

    async def _reads(self, caller: Caller, session: str) -> bool:
        return session == NO_SESSION or await self._owns_now(caller, session)

    async def _visible(self, caller: Caller, crumbs: list[dict[str, Any]]) -> list[dict[str, Any]]:
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
        profiles = await self._consumers.of(caller.workspace)
        return {profile.consumer for profile in profiles if profile.retrieval.scope in ("session", "user")}
