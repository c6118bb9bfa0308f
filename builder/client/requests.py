"""Requests of a client to the running service."""

import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeout

from builder.client.omitted import check_named, piece
from builder.client.receipts import PersonReceipt, SessionReceipt, read_receipt
from builder.client.received import ReceivedContext, read
from builder.client.results import read_result
from builder.connection.opening import reason
from builder.domain.erasure import Receipt
from builder.domain.errors import Rejected, Unavailable
from builder.domain.identity import Identity
from builder.domain.summary import CompactionResult
from builder.wire.breadcrumb_records import BreadcrumbRecord, SearchResult, SessionEnd
from builder.wire.consumers import Consumer
from builder.wire.errors import raise_error
from builder.wire.identities import MAX_IDS, read_identities
from builder.wire.requests import MAX_HISTORY_PAGE, OF_AGENT, request_json
from builder.wire.subjects import DEFAULT, Installation, optional_token, request_subject, session_token

LOST_SECONDS = 5.0
REQUEST_SECONDS = 60.0
FORGET_SECONDS = 60
"""For all messages that one request forgets."""
CONSUMERS_SECONDS = 5.0
"""Answered without the store."""


class NoService(Unavailable):
    """The broker is there, and nobody hears the request."""


class Requests:
    """Request-reply within one workspace. Methods raise `Rejected` and `Unavailable`."""

    def __init__(self, connection: Connection, workspace: str, installation: Installation = DEFAULT) -> None:
        self.installation = installation
        self.workspace = workspace
        self._connection = connection

    async def fetch(self, breadcrumb: str, version: int | None = None) -> BreadcrumbRecord:
        """All of a breadcrumb. version: default the newest."""
        answer = await self.request("fetch", {"id": breadcrumb} | ({} if version is None else {"version": version}))
        return read_result(BreadcrumbRecord, answer)

    async def fetch_omitted(self, id: str, context: ReceivedContext, offset: int = 0) -> str:  # noqa: A002 - as the page names it
        """A ready tool, `tools={"fetch_omitted": …}`: a piece of what the context cuts or omits.

        offset: characters; the first line names the next one. Raises `Rejected`.
        """
        check_named(id, context)
        return piece(await self.fetch(id), offset, context)

    async def identities(self, ids: Iterable[str]) -> dict[str, Identity]:
        """Identities of those of these ids that are taken or closed; one request for each 20,000."""
        names, identities = list(dict.fromkeys(ids)), dict[str, Identity]()
        for start in range(0, len(names), MAX_IDS):
            identities |= read_identities(await self.request("identities", {"ids": names[start : start + MAX_IDS]}))
        return identities

    async def history(
        self, session: str = "", *, user_id: str = "", newest: bool = False, at_once: int = MAX_HISTORY_PAGE
    ) -> AsyncGenerator[BreadcrumbRecord, None]:
        """Breadcrumbs of a session, or of a user in any session. newest: newest first. at_once: of a request, to 200."""
        scope = {"session": session_token(session)} if session else {}
        request = scope | ({"user_id": user_id} if user_id else {}) | {"newest": newest, "limit": at_once}
        after: str | None = ""
        while after is not None:
            page = await self.request("history", request | {"after": after})
            for breadcrumb in page["breadcrumbs"]:
                yield read_result(BreadcrumbRecord, breadcrumb)
            after = page["next"]

    async def sessions(self, *, user_id: str = "") -> AsyncGenerator[SessionEnd, None]:
        """Sessions of the workspace, or those in which a user has a breadcrumb; the one that spoke last comes first."""
        request = ({"user_id": user_id} if user_id else {}) | {"limit": MAX_HISTORY_PAGE}
        after: str | None = ""
        while after is not None:
            page = await self.request("sessions", request | {"after": after})
            for session in page["sessions"]:
                yield read_result(SessionEnd, session)
            after = page["next"]

    async def search(
        self,
        text: str,
        *,
        session: str = "",
        user_id: str = "",
        limit: int = 10,
        before: int = 0,
        schemas: Iterable[str] = (),
    ) -> tuple[SearchResult, ...]:
        """Passages of a session, of what was said by and to a user, or of the workspace; the most probable first.

        limit: to 100. before: a stream sequence; 0 = now. schemas: default those of the profile `default`.
        """
        scope = {"session": optional_token(session)} | ({"user_id": user_id} if user_id else {})
        request = {"text": text, **scope, "limit": limit, "before": before, "schemas": list(schemas)}
        return tuple(read_result(SearchResult, each) for each in (await self.request("search", request))["passages"])

    async def context(self, consumer: str = "default", *, session: str = "", trigger: str = "") -> ReceivedContext:
        """The session's last, or that of `trigger` (a breadcrumb's id), within 24 hours."""
        token = optional_token(session)
        event = await self.request("context", {"consumer": consumer, "session": token, "trigger": trigger})
        return read(json.dumps(event).encode(), (self.workspace, consumer), OrderedDict())

    async def refresh(self, context: ReceivedContext, *, timeout: float = REQUEST_SECONDS) -> ReceivedContext:
        """The context rebuilt with what came since, unpublished, under its id; `event["as_of"]` is its end. timeout: seconds."""
        names = {"consumer": context.consumer_id, "trigger": context.trigger_event_id, "session": context.session_token}
        event = await self.request("refresh", names, timeout)
        page = read(json.dumps(event).encode(), (self.workspace, context.consumer_id), OrderedDict())
        return replace(page, steps=context.steps, trace=context.trace)

    async def page(self, session: str, trigger: str, *, consumer: str = "default") -> ReceivedContext:
        """The page of a breadcrumb as of now, unpublished, also for a consumer without triggers. trigger: its id."""
        names = {"consumer": consumer, "trigger": trigger, "session": session_token(session)}
        event = await self.request("refresh", names)
        return read(json.dumps(event).encode(), (self.workspace, consumer), OrderedDict())

    async def forget(self, breadcrumb: str, *, session: str = "", by: str = "") -> tuple[Receipt, ...]:
        """Erase a breadcrumb and all made from it; returns new receipts. session: if the store cannot know it. by: who asked."""
        token = optional_token(session)
        answer = await self.request("forget", {"id": breadcrumb, "session": token, "by": by})
        return tuple(read_receipt(receipt) for receipt in answer["receipts"])

    async def forget_person(
        self, user_id: str, *, by: str = "", progress: Callable[[int, int], object] | None = None
    ) -> PersonReceipt:
        """Erase everything said by and to a user. After an error, ask again. progress: (erased, total)."""
        receipts, _ = await self._forget_all({"user_id": user_id, "by": by}, progress)
        return PersonReceipt(user_id=user_id, by=by, receipts=receipts)

    async def forget_session(
        self, session: str, *, by: str = "", progress: Callable[[int, int], object] | None = None
    ) -> SessionReceipt:
        """Erase everything of a session, and its dead letters. After an error, ask again. progress: (erased, total).

        What comes later under new ids is a new beginning.
        """
        receipts, letters = await self._forget_all({"session": session_token(session), "by": by}, progress)
        return SessionReceipt(session=session, by=by, receipts=receipts, other_letters=letters)

    async def _forget_all(
        self, request: Mapping[str, Any], progress: Callable[[int, int], object] | None
    ) -> tuple[tuple[Receipt, ...], int]:
        """The receipts, and the number of dead letters beside those of the receipts."""
        receipts, letters, is_over = list[Receipt](), 0, False
        while not is_over:
            answer = await self.request("forget", request, FORGET_SECONDS)
            new = [read_receipt(receipt) for receipt in answer["receipts"]]
            receipts += new
            letters += answer["dead_letters"]
            is_over = not (new and answer["rest"])
            if new and progress is not None:
                progress(len(receipts), len(receipts) + answer["rest"])
        return tuple(receipts), letters

    async def compact(self, session: str, *, profile: str = "default", keep_user: bool = True) -> CompactionResult:
        """Summarise all but a session's tail. profile: whose `summaries`. keep_user: keep user messages verbatim."""
        request = {"session": session_token(session), "profile": profile, "keep_user": keep_user}
        return read_result(CompactionResult, await self.request("compact", request))

    async def consumers(self) -> tuple[Consumer, ...]:
        """Those of all profiles of the service."""
        answer = await self.request("consumers", {}, CONSUMERS_SECONDS)
        return tuple(read_result(Consumer, each) for each in answer["consumers"])

    async def consumer(self, name: str) -> Consumer:
        """Raises `Rejected` with the known names."""
        consumers = {each.name: each for each in await self.consumers()}
        if name not in consumers:
            names = ", ".join(sorted(consumers)) or "none"
            raise Rejected(
                f"no profile of the service names the consumer {name!r}; known are {names}: add a profile, or take one"
            )
        return consumers[name]

    async def check_consumer(self, name: str) -> str:
        """Why no context may come for a consumer; "" = contexts come."""
        try:
            consumer = await self.consumer(name)
        except Unavailable as error:
            return f"no contexts come for {name!r} until a service runs: {error}"
        return "" if consumer.triggers else f"no contexts come for {name!r}: its profile has no triggers; add one"

    async def request(self, name: str, request: Mapping[str, Any], timeout: float = REQUEST_SECONDS) -> dict[str, Any]:
        """timeout: seconds. Raises `NoService`, `Unavailable`, `Rejected`."""
        consumer = request.get("consumer", "") if name in OF_AGENT else ""
        subject = self.installation.subject(request_subject(self.workspace, name, consumer))
        data = request_json(request)
        # Without a connection the request waits for one, but not as long as for an answer.
        timeout = timeout if self._connection.is_connected else min(timeout, LOST_SECONDS)
        try:
            message = await self._connection.request(subject, data, timeout=timeout)
        except NoRespondersError as error:
            raise NoService(f"nobody answers on {subject}; is the service up on this broker?") from error
        except (NatsTimeout, TimeoutError) as error:
            raise Unavailable(
                f"no answer came on {subject} within {timeout:g} s; is the connection to the broker there, is the service busy?"
            ) from error
        except (NatsError, OSError) as error:
            raise Unavailable(f"asking on {subject} failed: {reason(error)}; is the service up on this broker?") from error
        answer: dict[str, Any] = json.loads(message.data)
        raise_error(answer)
        return answer
