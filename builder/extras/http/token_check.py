"""The token is checked, and its requests are counted, before anything else of a request is read."""

from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from builder.app.tokens import Tokens
from builder.extra import Caller
from builder.extras.http.limits import RateLimit
from builder.extras.http.problems import problem


class TokenCheck:
    """ASGI middleware: `state.caller` of a request is who has its token."""

    def __init__(self, app: ASGIApp, prefix: str, tokens: Tokens, rate: RateLimit, failures: RateLimit) -> None:
        """prefix: of the paths that need a token. rate: of tokens. failures: of addresses without a valid one."""
        self._failures = failures
        self._app = app
        self._prefix = f"{prefix}/"
        self._tokens = tokens
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        answer = self._app
        if scope["type"] == "http" and scope["path"].startswith(self._prefix):
            try:
                scope.setdefault("state", {})["caller"] = self._caller(Headers(scope=scope), _address(scope))
            except HTTPException as error:
                answer = problem(error.status_code, error.detail, error.headers)
        await answer(scope, receive, send)

    def _caller(self, headers: Headers, address: str) -> Caller:
        scheme, token = get_authorization_scheme_param(headers.get("Authorization"))
        caller = self._tokens.caller(token) if scheme.lower() == "bearer" else None
        if caller is None:
            self._failures.count(address)
            sentence = "no valid token; send the header `Authorization: Bearer TOKEN`"
            raise HTTPException(401, sentence, {"WWW-Authenticate": "Bearer"})
        self._rate.count(caller.name)
        return caller


def _address(scope: Scope) -> str:
    """Of who connects: behind a proxy that of the proxy, unless the server is told to believe it."""
    client = scope.get("client")
    return str(client[0]) if client else "an unknown address"
