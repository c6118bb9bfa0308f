"""Who may ask what: rights by verb, and what a sender who is one person may see and write.

A person sees the sessions that are its memory, its own private ones, and its own breadcrumbs. All else answers as if it were not
there: what belongs to others and what does not exist take the same path.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, USER_MESSAGE, Breadcrumb, Place
from builder.domain.errors import Forbidden, Missing
from builder.domain.recall import EVERY_SESSION
from builder.wire.requests import (
    MAX_HISTORY_PAGE,
    CompactRequest,
    ContextRequest,
    ExplainRequest,
    FetchRequest,
    ForgetRequest,
    HistoryRequest,
    SearchRequest,
    SessionsRequest,
    read_request,
)
from builder.worker.decide import Consumers
from builder.worker.log import STREAM_END, StoredLog
from builder.worker.request_handlers import Verb, no_breadcrumb, no_context, no_trigger, nothing_to_forget

Right = Literal["read", "write", "forget", "export"]
RIGHTS: Mapping[str, Right] = MappingProxyType(
    {
        "compact": "write",
        "consumers": "read",
        "context": "read",
        "explain": "read",
        "fetch": "read",
        "forget": "forget",
        "history": "read",
        "search": "read",
        "sessions": "read",
    }
)
"""Verb → the right that it needs. Doors with rights offer no other verbs."""
OF_A_PERSON = frozenset({USER_MESSAGE, "note.v1"})
"""Schemas that a person writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request, as a door knows it."""

    name: str
    workspace: str
    user: str = ""
    """The only person that it sees and writes for; "" = everybody."""
    rights: frozenset[Right]

    def need(self, right: Right) -> None:
        """Raises `Forbidden`."""
        if right not in self.rights:
            raise Forbidden(
                f"this token has the rights {', '.join(sorted(self.rights))}, and this needs {right}; use another token"
            )


class AccessControl:
    """The verbs, each for who may use it. Methods raise `Rejected` and `Unavailable`."""

    def __init__(self, log: StoredLog, verbs: Mapping[str, Verb], consumers: Consumers) -> None:
        self._log = log
        self._verbs = verbs
        self._consumers = consumers
        self._narrowed: Mapping[str, Callable[[Caller, bytes], Awaitable[dict[str, Any]]]] = {
            "compact": self._compact,
            "consumers": self._listed,
            "context": self._context,
            "explain": self._explain,
            "fetch": self._fetch,
            "forget": self._forget,
            "history": self._history,
            "search": self._search,
            "sessions": self._sessions,
        }

    async def answer(self, caller: Caller, verb: str, data: bytes) -> dict[str, Any]:
        """Of the verb, as far as the caller may see it. data: JSON."""
        caller.need(RIGHTS[verb])
        return await (self._narrowed[verb](caller, data) if caller.user else self._verbs[verb](caller.workspace, data))

    async def check_message(self, caller: Caller, crumb: Breadcrumb) -> None:
        """Before a breadcrumb is published. What erases earlier ones needs the right to forget."""
        is_erasing = bool(crumb.removes) and (crumb.removes != crumb.id or crumb.version > 1)
        caller.need("forget" if is_erasing else "write")
        if crumb.workspace != caller.workspace:
            raise Missing(f"there is no workspace {crumb.workspace!r}; this token opens {caller.workspace!r}")
        if not caller.user:
            return
        if crumb.user_id != caller.user or crumb.schema not in OF_A_PERSON:
            raise Forbidden(
                f"this token writes {' and '.join(sorted(OF_A_PERSON))} of user {caller.user!r} only; send one of them"
            )
        if crumb.session == NO_SESSION or not (
            await self.owns(caller, crumb.session) or await self._is_empty(caller.workspace, crumb.session)
        ):
            raise no_session(crumb.session)
        if any(each.user_id != caller.user for each in await self._versions(caller, crumb.id)):
            raise Forbidden(f"the id {crumb.id!r} is in use; take another one")

    async def check_export(self, caller: Caller, session: str) -> None:
        """Before a session, or with "" all of them, are exported."""
        caller.need("export")
        if caller.user and not (session and await self._owns_now(caller, session)):
            raise no_session(session)

    async def owns(self, caller: Caller, session: str) -> bool:
        """Whether the caller may see the whole session."""
        store, (workspace, user) = self._log.store, (caller.workspace, caller.user)
        if not user:
            return True
        if session == NO_SESSION or session not in await store.sessions_of(workspace, user):
            return False
        return await store.is_memory(workspace, session, user, STREAM_END) or await self._is_alone(caller, session)

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
        if not await self.owns(caller, session):
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

    async def _explain(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(ExplainRequest, data)
        its_context = ContextRequest(consumer=request.consumer or "default", session=request.session, trigger=request.trigger)
        event = await self._context(caller, its_context.model_dump_json().encode())
        names = {"consumer": its_context.consumer, "trigger": event["trigger_event_id"], "session": event["session_id"]}
        return await self._verbs["explain"](caller.workspace, request.model_copy(update=names).model_dump_json().encode())

    async def _fetch(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(FetchRequest, data)
        versions = await self._versions(caller, request.id)
        if not versions or not all([await self._sees(caller, crumb) for crumb in versions]):
            raise no_breadcrumb(caller.workspace, request)
        return await self._verbs["fetch"](caller.workspace, data)

    async def _forget(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(ForgetRequest, data)
        versions = await self._versions(caller, request.id) or await self._log.store.traces(caller.workspace, request.id)
        is_of_others = not versions or any(crumb.user_id not in ("", caller.user) for crumb in versions)
        if is_of_others or not all([await self._sees(caller, crumb) for crumb in versions]):
            raise nothing_to_forget(caller.workspace, request)
        return await self._verbs["forget"](caller.workspace, data)

    async def _history(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(HistoryRequest, data)
        if request.user not in ("", caller.user) or (request.session and not await self._owns_now(caller, request.session)):
            return {"breadcrumbs": [], "next": None}
        return await self._verbs["history"](caller.workspace, data)

    async def _search(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(SearchRequest, data)
        if request.user not in ("", caller.user) or (request.session and not await self._owns_now(caller, request.session)):
            return {"passages": []}
        narrowed = request if request.session else request.model_copy(update={"user": caller.user})
        answer = await self._verbs["search"](caller.workspace, narrowed.model_dump_json().encode())
        return {
            "passages": [each for each in answer["passages"] if each["session"] != NO_SESSION or each["user_id"] == caller.user]
        }

    async def _sessions(self, caller: Caller, data: bytes) -> dict[str, Any]:
        request = read_request(SessionsRequest, data)
        if request.user not in ("", caller.user):
            return {"sessions": [], "next": None}
        narrowed = request.model_copy(update={"user": caller.user})
        answer = await self._verbs["sessions"](caller.workspace, narrowed.model_dump_json().encode())
        return answer | {"sessions": [each for each in answer["sessions"] if await self.owns(caller, each["session"])]}

    async def _owns_now(self, caller: Caller, session: str) -> bool:
        """`owns`, with what the stream has and the store still lacks."""
        if await self.owns(caller, session):
            return True
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        return await self.owns(caller, session)

    async def _versions(self, caller: Caller, identity: str) -> tuple[Breadcrumb, ...]:
        await self._log.catch_up(caller.workspace, EVERY_SESSION)
        return await self._log.store.versions(caller.workspace, identity)

    async def _is_own(self, caller: Caller, identity: str) -> bool:
        versions = await self._versions(caller, identity)
        return bool(versions) and all(crumb.user_id == caller.user for crumb in versions)

    async def _sees(self, caller: Caller, crumb: Breadcrumb) -> bool:
        return crumb.user_id == caller.user or await self.owns(caller, crumb.session)

    async def _is_empty(self, workspace: str, session: str) -> bool:
        await self._log.catch_up(workspace, session)
        return not await self._log.store.list_session(workspace, session, (ORIGIN, STREAM_END), 1, newest=True)

    async def _is_alone(self, caller: Caller, session: str) -> bool:
        """Whether all that a person said there and still is there was said by the caller: also in a private session."""
        after = ORIGIN
        while page := await self._page(caller, session, after):
            if any(crumb.role == "user" and crumb.user_id != caller.user for crumb in page):
                return False
            after = page[-1].place
        return True

    async def _page(self, caller: Caller, session: str, after: Place) -> tuple[Breadcrumb, ...]:
        span = (after, STREAM_END)
        return await self._log.store.list_session(caller.workspace, session, span, MAX_HISTORY_PAGE, newest=False)

    async def _personal(self, caller: Caller) -> Collection[str]:
        """Consumers whose pages show nothing but the session and the memory of its person."""
        profiles = await self._consumers.of(caller.workspace)
        return {profile.consumer for profile in profiles if profile.retrieval.scope in ("session", "user")}


def no_session(session: str) -> Missing:
    """Of a request that needs one."""
    return Missing(f"there is no session {session!r}; check its name")
