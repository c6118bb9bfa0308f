"""The MCP door: tools and a resource over the client. It translates; every rule is the service's."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import wraps
from types import MappingProxyType
from typing import Annotated, ParamSpec, cast

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from pydantic import AnyHttpUrl, Field
from typing_extensions import override

from builder.app.http.tokens import Tokens
from builder.client import BuilderError, Client, Rejected
from builder.worker.callers import Caller, Right

INSTRUCTIONS = (
    "The memory of an agent system. build_context publishes what a user says and gives the page to answer it from; search finds "
    "passages; fetch_omitted reads what a page cut or left out; remember keeps a note; forget erases for ever."
)
MAX_HISTORY = 100
NOTES = "mcp"
"""The session of notes that name none: a desktop tool writes on nobody's pages."""
P = ParamSpec("P")
Session = Annotated[str, Field(description="the session, as your agent system names it")]
Consumer = Annotated[str, Field(description="the agent whose page it is")]
User = Annotated[str, Field(description="your id of a user")]
Id = Annotated[str, Field(description="id of a message, as a page or a result names it")]


RIGHTS: Mapping[str, tuple[Right, ...]] = MappingProxyType(
    {"build_context": ("write", "read"), "remember": ("write",), "forget": ("forget",)}
)
"""Tool → the rights that it needs over HTTP; else read."""


def mcp_server(
    connect: Callable[[], AbstractAsyncContextManager[Client]], verifier: TokenVerifier | None = None, url: str = ""
) -> MCPServer[None]:
    """connect: opens the client when a tool first needs it; raises `Unavailable`, which the tool then says.

    verifier: of the tokens that open the door over HTTP, at this URL.
    """
    tools = Tools(connect)
    address = AnyHttpUrl(url) if url else None
    auth = AuthSettings(issuer_url=address, resource_server_url=None) if address else None
    server = MCPServer(
        "context-builder", instructions=INSTRUCTIONS, lifespan=tools.open, log_level="WARNING", token_verifier=verifier, auth=auth
    )
    for tool in (tools.build_context, tools.search, tools.fetch_omitted, tools.history, tools.remember, tools.forget):
        server.tool(structured_output=False)(_with_errors(tool, ToolError))
    resource = server.resource("context://{consumer}/{session}", mime_type="text/markdown", title="The last page of an agent")
    resource(_with_errors(tools.last_context, ResourceError))
    return server


class Verifier(TokenVerifier):
    """Accepts the tokens of one workspace. One that is bound to a user opens the HTTP API only: the client sees the workspace."""

    def __init__(self, tokens: Tokens, workspace: str) -> None:
        self._tokens = tokens
        self._workspace = workspace

    @override
    async def verify_token(self, token: str) -> AccessToken | None:
        caller = self._tokens.caller(token)
        if caller is None or caller.user or caller.workspace != self._workspace:
            return None
        return AccessToken(token=token, client_id=caller.name, scopes=sorted(caller.rights))


def _check_right(tool: str) -> None:
    if token := get_access_token():
        rights = cast("frozenset[Right]", frozenset(token.scopes))
        for right in RIGHTS.get(tool, ("read",)):
            Caller(name=token.client_id, workspace="", rights=rights).need(right)


class Tools:
    """What the door offers; each is a method of the client. All raise errors of ours."""

    def __init__(self, connect: Callable[[], AbstractAsyncContextManager[Client]]) -> None:
        self._connect = connect
        self._stack = AsyncExitStack()
        self._client: Client | None = None

    @asynccontextmanager
    async def open(self, _server: MCPServer[None]) -> AsyncIterator[None]:
        """Close the client with the server."""
        async with self._stack:
            yield

    async def build_context(self, text: str, session: Session, user_id: User = "", consumer: Consumer = "default") -> str:
        """Publish what a user says; returns the page to answer it from, as markdown."""
        return (await (await self._open()).ask(session, text, consumer=consumer, user_id=user_id)).content

    async def search(self, text: str, session: Session = "", user_id: User = "", limit: int = 5) -> str:
        """Find passages that answer a question: in a session, in what a user said and heard, or, without both, everywhere."""
        results = await (await self._open()).search(text, session=session, user_id=user_id, limit=limit)
        lines = (
            f"[{each.id}] {each.created_at:%Y-%m-%d}, {each.session}, {each.speaker} ({each.probability:.0%}): {each.text}"
            for each in results
        )
        return "\n".join(lines) or "nothing answers it"

    async def fetch_omitted(self, id: Id, session: Session, offset: int = 0, consumer: Consumer = "default") -> str:  # noqa: A002 - as the page names it
        """Read, in pieces, a message that the last page of the session cut or left out."""
        client = await self._open()
        return await client.fetch_omitted(id, await client.context(consumer, session=session), offset)

    async def history(self, session: Session, limit: Annotated[int, Field(ge=1, le=MAX_HISTORY)] = 20) -> str:
        """The newest messages of a session, the newest first."""
        lines: list[str] = []
        async for each in (await self._open()).history(session, newest=True):
            lines.append(f"[{each.id}] {each.created_at:%Y-%m-%d %H:%M}, {each.speaker}: {each.text}")
            if len(lines) == limit:
                break
        return "\n".join(lines) or "nothing is remembered of this session"

    async def remember(self, note: str, session: Session = NOTES, user_id: User = "") -> str:
        """Keep a note, which search finds. In the session `_` it may stand on the pages of all sessions. Returns its id."""
        return await (await self._open()).remember(note, session=session, user_id=user_id)

    async def forget(self, id: Id = "", session: Session = "", user_id: User = "", confirm: bool = False) -> str:  # noqa: A002 - as the page names it
        """Erase a message, a whole session, or all of a user, with all that was made from it, for ever.

        Name one of them. Without confirm it only shows what would be erased.
        """
        client = await self._open()
        if [bool(id), bool(session), bool(user_id)].count(True) != 1:
            raise Rejected("name one of id, session and user_id: it says what is erased")
        if not confirm:
            return (
                f"{await self._shown(client, id, session, user_id)}\nthis would be erased for ever; call again with confirm=true"
            )
        if session:
            receipts = (await client.forget_session(session, by="mcp")).receipts
        elif user_id:
            receipts = (await client.forget_person(user_id, by="mcp")).receipts
        else:
            receipts = await client.forget(id, by="mcp")
        return f"{len(receipts)} receipts" if receipts else "it was forgotten before"

    async def _shown(self, client: Client, name: str, session: str, user_id: str) -> str:
        if name:
            each = await client.fetch(name)
            return f"{each.speaker} in {each.session}: {each.text}"
        number = len([None async for _ in client.history(session, user_id=user_id)])
        return f"{number} messages of {f'session {session!r}' if session else f'user {user_id!r}'}"

    async def last_context(self, consumer: str, session: str) -> str:
        """The last page of an agent in a session, within 24 hours."""
        return (await (await self._open()).context(consumer, session=session)).content

    async def _open(self) -> Client:
        if self._client is None:
            self._client = await self._stack.enter_async_context(self._connect())
        return self._client


def _with_errors(work: Callable[P, Awaitable[str]], kind: type[Exception]) -> Callable[P, Awaitable[str]]:
    @wraps(work)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            _check_right(work.__name__)
            return await work(*args, **kwargs)
        except BuilderError as error:
            raise kind(str(error)) from error

    return answer
