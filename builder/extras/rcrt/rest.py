"""RCRT's REST interface: records by id and by pages, contexts created and replaced; a token for each owner, renewed in time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from time import time
from typing import Any, Self

import httpx2
import stamina

from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.errors import Misconfigured, Rejected, Unavailable
from builder.extras.rcrt.records import Change

PAGE = 200
"""Records of one page of a listing."""
RENEWAL = 0.8
"""A token is renewed after this share of its life."""
UNSIGNED_SECONDS = 300.0
"""Between two requests for a token where the server makes none."""
ATTEMPTS, FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS = 4, 0.2, 10.0
"""For a write or a listing that fails. A record is requested once: whoever needs it tries again."""
TIMEOUT_SECONDS, SHORT_SECONDS = 30.0, 5.0
"""For a write or a listing; and for a record or a probe, which others wait for."""
ROLES = ("curator", "emitter", "subscriber")
_HEAD = ("id", "workspace", "trigger_event_id", "assembled_at")
_EXPECTED = frozenset(
    {
        HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT,
        HTTPStatus.PRECONDITION_FAILED,
    }
)  # fmt: skip
_REFUSALS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY})


class _Failed(Exception):  # noqa: N818 - an answer
    """An answer that may be another one later."""


@dataclass(frozen=True, slots=True)
class StoredContext:
    """A record that holds a context."""

    id: str
    version: int
    tags: frozenset[str]
    head: Mapping[str, Any]
    """Its fields that say whose and when it is."""

    @classmethod
    def of(cls, identity: str, version: int, tags: Iterable[str], context: Mapping[str, Any]) -> "StoredContext":
        """Keeps the head of the context alone."""
        return cls(identity, version, frozenset(tags), {name: context[name] for name in _HEAD if name in context})


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    """"" = requests go without one."""
    renewed_at: float


class RcrtApi:
    """Opened with `async with`. Methods raise `Unavailable` after some attempts, `Misconfigured`, and `Rejected`."""

    def __init__(self, url: str, workspace: str, agent: str, clock: Callable[[], float] = time) -> None:
        """url: base, as RCRT_API_URL. workspace: owner whose token reads listings. agent: UUID that the requests are made as."""
        self.workspace = workspace
        self._url = url.rstrip("/")
        self._agent = agent
        self._clock = clock
        self._tokens: dict[str, _Token] = {}
        self._lock = asyncio.Lock()
        self._client = httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False)
        self._retry = stamina.AsyncRetryingCaller(
            ATTEMPTS, timeout=None, wait_initial=FIRST_PAUSE_SECONDS, wait_max=LAST_PAUSE_SECONDS, wait_jitter=0
        ).on((httpx2.HTTPError, _Failed))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def record(self, identity: str, workspace: str) -> dict[str, Any] | None:
        """The whole record; None when the owner has none of this id."""
        answer = await self._request("GET", f"/breadcrumbs/{identity}/full", workspace, is_short=True)
        if answer.status_code == HTTPStatus.FORBIDDEN:
            raise Rejected(f"RCRT forbids agent {self._agent} to read it whole; give the agent the role curator")
        return None if answer.status_code == HTTPStatus.NOT_FOUND else dict(answer.json())

    async def changes(self) -> AsyncIterator[list[Change]]:
        """All records of all owners, newest change first, a page at a time."""
        offset = 0
        while page := await self._page({"limit": PAGE, "offset": offset}):
            yield [
                Change(id=item["id"], version=item["version"], schema=item.get("schema_name") or "") for item in page
            ]  # fmt: skip
            offset += len(page)

    async def is_up(self) -> bool:
        """Whether it answers a listing."""
        try:
            return (await self._client.get(f"{self._url}/breadcrumbs?limit=1", timeout=SHORT_SECONDS)).is_success
        except httpx2.HTTPError:
            return False

    async def contexts(self, tag: str) -> list[StoredContext]:
        """The stored contexts with a tag, newest change first; of all owners, because the listing knows none."""
        query = {"schema_name": AGENT_CONTEXT, "tag": tag, "include_context": "true", "limit": PAGE}
        return [
            StoredContext.of(item["id"], item["version"], item["tags"], item.get("context") or {})
            for item in await self._page(query)
        ]

    async def create(self, workspace: str, body: Mapping[str, Any], key: str) -> str:
        """The id of the new record; "" when the key was used before, whether or not a record came of it."""
        answer = await self._request("POST", "/breadcrumbs", workspace, body, {"Idempotency-Key": key})
        return "" if answer.status_code == HTTPStatus.CONFLICT else str(answer.json()["id"])

    async def replace(self, workspace: str, identity: str, version: int, body: Mapping[str, Any]) -> int:
        """The status: 200; 412 = it has another version; 403 and 404 = the owner has none of this id."""
        headers = {"If-Match": str(version)}
        return (await self._request("PATCH", f"/breadcrumbs/{identity}", workspace, body, headers)).status_code

    async def _page(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        answer = await self._request("GET", f"/breadcrumbs?{httpx2.QueryParams(query)}", self.workspace)
        return list(answer.json())

    async def _request(
        self,
        method: str,
        path: str,
        workspace: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        is_short: bool = False,
    ) -> httpx2.Response:
        """is_short: one attempt."""
        attempt = partial(self._attempt, method, path, workspace, body, headers or {}, SHORT_SECONDS if is_short else None)
        try:
            return await (attempt() if is_short else self._retry(attempt))
        except (httpx2.HTTPError, _Failed) as error:
            reason = repr(error) if isinstance(error, httpx2.HTTPError) else str(error)
            place = f"{method} {self._url}{path.partition('?')[0]}"
            raise Unavailable(f"RCRT did not answer {place}: {reason:.200}; look at its server, and at RCRT_API_URL") from error

    async def _attempt(
        self,
        method: str,
        path: str,
        workspace: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        seconds: float | None,
    ) -> httpx2.Response:
        token = await self._token(workspace)
        authorization = {"Authorization": f"Bearer {token}"} if token else {}
        answer = await self._client.request(
            method, f"{self._url}{path}", json=body, headers={**authorization, **headers}, timeout=seconds or TIMEOUT_SECONDS
        )
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            self._tokens.pop(workspace, None)
        if answer.status_code in _REFUSALS:
            where = f"{method} {path.partition('?')[0]}"
            raise Rejected(f"RCRT refuses {where} with {answer.status_code}: {answer.text:.200}; is RCRT_API_URL its server?")
        if answer.status_code not in _EXPECTED:
            raise _Failed(f"it answered {answer.status_code}")
        return answer

    async def _token(self, workspace: str) -> str:
        async with self._lock:
            token = self._tokens.get(workspace)
            if token is None or token.renewed_at <= self._clock():
                token = self._tokens[workspace] = await self._new_token(workspace)
            return token.text

    async def _new_token(self, workspace: str) -> _Token:
        request = {"owner_id": workspace, "agent_id": self._agent, "roles": ROLES}
        answer = await self._client.post(f"{self._url}/auth/token", json=request)
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # its server has no key to sign with
            return _Token("", self._clock() + UNSIGNED_SECONDS)
        if answer.status_code == HTTPStatus.BAD_REQUEST:
            raise Misconfigured(
                f"RCRT makes no token for owner {workspace!r}: {answer.text:.200}; OWNER_ID and AGENT_ID are UUIDs"
            )
        if answer.status_code != HTTPStatus.OK:
            raise _Failed(f"its /auth/token answered {answer.status_code}")
        token = answer.json()
        return _Token(str(token["token"]), self._clock() + RENEWAL * (float(token["exp"]) - self._clock()))
