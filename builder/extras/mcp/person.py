"""What a token of a user asks: the HTTP API of the service, which shows one person what is theirs and takes only their words."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx2
from nats.aio.client import Client as Connection
from typing_extensions import override

from builder.client.received import ReceivedContext, read
from builder.client.requests import REQUEST_SECONDS, Requests
from builder.domain.errors import BuilderError, Forbidden, Missing, Rejected, Unavailable
from builder.wire.requests import request_json
from builder.wire.subjects import session_text, session_token

ERRORS: Mapping[int, type[BuilderError]] = {
    HTTPStatus.UNAUTHORIZED: Forbidden,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: Missing,
    HTTPStatus.TOO_MANY_REQUESTS: Unavailable,
}
"""Status → error. Other refusals are `Rejected`, from 500 on `Unavailable`."""
LOOK_UPS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "context": lambda request: f"contexts/{quote(request['consumer'], safe='')}",
    "fetch": lambda request: f"breadcrumbs/{quote(request['id'], safe='')}",
    "history": lambda _request: "history",
}
"""Requests that the API reads with GET → path. The others are a POST of their name."""
IN_PATH = {"context": "consumer", "fetch": "id"}
LISTS = ("passages", "breadcrumbs", "receipts")


class PersonClient(Requests):
    """The methods of the client that the tools call, for whoever has a token. Methods raise `Rejected` and `Unavailable`."""

    def __init__(self, url: str, token: str, workspace: str) -> None:
        """url: of the API, without its version."""
        super().__init__(Connection(), workspace)  # never opened: requests go over HTTP
        self._url = url.rstrip("/")
        self._token = token

    async def ask(self, session: str, content: str, *, consumer: str = "default", user_id: str = "") -> ReceivedContext:
        """As `Client.ask`. user_id: "" = the token's."""
        body = {"session": session, "content": content, "consumer": consumer} | ({"user_id": user_id} if user_id else {})
        return self._read(await self._answer("POST", "contexts", body), consumer)

    async def remember(self, note: str, *, session: str, user_id: str = "") -> str:
        """As `Client.remember`; the session is one in which the user spoke first."""
        body = {"session": session, "content": note} | ({"user_id": user_id} if user_id else {})
        return str((await self._answer("POST", "notes", body))["id"])

    @override
    async def request(self, name: str, request: Mapping[str, Any], timeout: float = REQUEST_SECONDS) -> dict[str, Any]:
        fields = _with_sessions(request, session_text)
        if name not in LOOK_UPS:
            return _with_sessions(await self._answer("POST", name, fields, timeout), session_token)
        query = {key: value for key, value in fields.items() if key != IN_PATH.get(name)}
        return _with_sessions(await self._answer("GET", LOOK_UPS[name](request), query, timeout), session_token)

    async def _answer(
        self, method: str, path: str, fields: Mapping[str, Any], timeout: float = REQUEST_SECONDS
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        is_body = method == "POST"
        query = {} if is_body else {name: value for name, value in fields.items() if value not in (None, "")}
        try:
            async with httpx2.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False) as client:
                answer = await client.request(
                    method,
                    f"{self._url}/v1/{path}",
                    params=query,
                    content=request_json(fields) if is_body else None,
                    headers=headers,
                )
            data: dict[str, Any] = answer.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Unavailable(
                f"the HTTP API at {self._url} did not answer: {error!r:.200}; is the service up, with the file of tokens?"
            ) from error
        if answer.is_success:
            return data
        kind = ERRORS.get(answer.status_code, Unavailable if answer.is_server_error else Rejected)
        raise kind(str(data.get("detail", answer.status_code)))

    def _read(self, event: Mapping[str, Any], consumer: str) -> ReceivedContext:
        return read(request_json(_with_sessions(event, session_token)), (self.workspace, consumer), OrderedDict())


def _with_sessions(fields: Mapping[str, Any], form: Callable[[str], str]) -> dict[str, Any]:
    """The same with each session in this form: the API has their texts, the client their tokens."""
    names = {name: form(fields[name]) for name in ("session", "session_id") if fields.get(name)}
    lists = {name: [_with_sessions(each, form) for each in fields[name]] for name in LISTS if name in fields}
    return {**fields, **names, **lists}
