"""The MCP door: tools, a resource and a prompt over the client. It translates; every rule is the service's."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import wraps
from types import MappingProxyType
from typing import Annotated, Any, ParamSpec, TypeVar, cast

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import AnyHttpUrl, Field, ValidationError
from typing_extensions import override

from builder import __version__
from builder.app.omissions import PageOmissions
from builder.app.tokens import Tokens
from builder.client import BreadcrumbRecord, BuilderError, Client, Rejected
from builder.extra import Caller, Right
from builder.extras.mcp import results
from builder.extras.mcp.person import PersonClient
from builder.wire.requests import MAX_SEARCH_RESULTS

INSTRUCTIONS = (
    "The memory of an agent system. build_context publishes what a user says and gives the page to answer it from; search finds "
    "passages; list_omitted says what the last page leaves out, fetch_omitted reads it; remember keeps a note; forget erases for "
    "ever."
)
MAX_HISTORY = 100
NOTES = "mcp"
"""The session of notes that name none: a desktop tool writes on nobody's pages."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ERASES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
PROMPT = (
    "Answer the question from the page below. Where the page lacks the answer, look with list_omitted, fetch_omitted and search "
    "before you say that you do not know. Name the ids of the messages that you read there.\n\nQuestion: {question}\n\n{page}"
)
P = ParamSpec("P")
T = TypeVar("T")
Connect = Callable[[], AbstractAsyncContextManager[Client]]
OfPerson = Callable[[str], PersonClient]
"""Token → client."""
AnyClient = Client | PersonClient
Text = Annotated[str, Field(description="the words")]
Session = Annotated[str, Field(description="the session, as your agent system names it")]
Consumer = Annotated[str, Field(description="the agent whose page it is")]
User = Annotated[str, Field(description="your id of a user")]
Id = Annotated[str, Field(description="id of a message, as a page or a result names it")]


RIGHTS: Mapping[str, tuple[Right, ...]] = MappingProxyType(
    {"build_context": ("write", "read"), "remember": ("write",), "forget": ("forget",)}
)
"""Tool → the rights that it needs over HTTP; else read."""


def mcp_server(
    connect: Connect, verifier: TokenVerifier | None = None, url: str = "", of_person: OfPerson | None = None
) -> MCPServer[None]:
    """connect: opens the client when a tool first needs it; raises `Unavailable`, which the tool then says.

    verifier: of the tokens that open the door over HTTP, at this URL. of_person: the client of a token that is bound to a user;
    raises `Unavailable`.
    """
    tools = Tools(connect, of_person)
    address = AnyHttpUrl(url) if url else None
    auth = AuthSettings(issuer_url=address, resource_server_url=None) if address else None
    server = Door(
        "context-builder",
        title="The memory of an agent system",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=tools.open,
        log_level="WARNING",
        token_verifier=verifier,
        auth=auth,
    )
    for tool, title, annotations in (
        (tools.build_context, "Say something and get the page", WRITES),
        (tools.search, "Find passages", READS),
        (tools.list_omitted, "What the page leaves out", READS),
        (tools.fetch_omitted, "Read what the page leaves out", READS),
        (tools.history, "The newest messages", READS),
        (tools.remember, "Keep a note", WRITES),
        (tools.forget, "Erase for ever", ERASES),
    ):
        server.tool(title=title, annotations=annotations)(_with_errors(tool, ToolError))
    resource = server.resource("context://{consumer}/{session}", mime_type="text/markdown", title="The last page of an agent")
    resource(_with_errors(tools.last_context, ResourceError))
    prompt = server.prompt(title="Answer from the last page of a session")
    prompt(_with_errors(tools.answer_from_page, lambda text: MCPError(INVALID_PARAMS, text)))
    return server


class Door(MCPServer[None]):
    """Says in our own sentences what is wrong with the arguments of a call."""

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
            sentence = results.argument_sentence(name, schemas[name], error.__cause__)
            raise ToolError(f"Error executing tool {name}: {sentence}") from error


class Verifier(TokenVerifier):
    """Accepts the tokens of one workspace."""

    def __init__(self, tokens: Tokens, workspace: str) -> None:
        self._tokens = tokens
        self._workspace = workspace

    @override
    async def verify_token(self, token: str) -> AccessToken | None:
        caller = self._tokens.caller(token)
        if caller is None or caller.workspace != self._workspace:
            return None
        return AccessToken(token=token, client_id=caller.name, scopes=sorted(caller.rights), subject=caller.user or None)


def _check_right(tool: str) -> None:
    if token := get_access_token():
        rights = cast("frozenset[Right]", frozenset(token.scopes))
        for right in RIGHTS.get(tool, ("read",)):
            Caller(name=token.client_id, workspace="", rights=rights).need(right)


class Tools:
    """What the door offers; each is a method of the client. All raise errors of ours."""

    def __init__(self, connect: Connect, of_person: OfPerson | None) -> None:
        self._connect = connect
        self._of_person = of_person
        self._stack = AsyncExitStack()
        self._client: Client | None = None

    @asynccontextmanager
    async def open(self, _server: MCPServer[None]) -> AsyncIterator[None]:
        """Close the client with the server."""
        async with self._stack:
            yield

    async def build_context(
        self, text: Text, session: Session, user_id: User = "", consumer: Consumer = "default"
    ) -> Annotated[CallToolResult, results.Page]:
        """Publish what a user says; returns the page to answer it from, as markdown."""
        return results.page_answer(await (await self._open()).ask(session, text, consumer=consumer, user_id=user_id))

    async def search(
        self,
        text: Text,
        session: Session = "",
        user_id: User = "",
        limit: Annotated[int, Field(ge=1, le=MAX_SEARCH_RESULTS, description="most passages")] = 5,
    ) -> Annotated[CallToolResult, results.Passages]:
        """Find passages that answer a question: in a session, in what a user said and heard, or, without both, everywhere."""
        return results.passages_answer(await (await self._open()).search(text, session=session, user_id=user_id, limit=limit))

    async def list_omitted(self, session: Session, consumer: Consumer = "default") -> Annotated[CallToolResult, PageOmissions]:
        """What the last page of the session leaves out or cuts: ids, tokens, reasons, and how probably each answers."""
        return results.omissions_answer(await (await self._open()).context(consumer, session=session))

    async def fetch_omitted(
        self,
        id: Id,  # noqa: A002 - as the page names it
        session: Session,
        offset: Annotated[int, Field(description="character at which the piece begins")] = 0,
        consumer: Consumer = "default",
    ) -> Annotated[CallToolResult, results.Piece]:
        """Read, in pieces, a message that the last page of the session cut or left out."""
        client = await self._open()
        piece = await client.fetch_omitted(id, await client.context(consumer, session=session), offset)
        return results.answer(piece, results.Piece(id=id, text=piece))

    async def history(
        self, session: Session, limit: Annotated[int, Field(ge=1, le=MAX_HISTORY, description="most messages")] = 20
    ) -> Annotated[CallToolResult, results.Messages]:
        """The newest messages of a session, the newest first."""
        records: list[BreadcrumbRecord] = []
        async for each in (await self._open()).history(session, newest=True):
            records.append(each)
            if len(records) == limit:
                break
        return results.history_answer(records)

    async def remember(self, note: Text, session: Session = NOTES, user_id: User = "") -> Annotated[CallToolResult, results.Note]:
        """Keep a note, which search finds. In the session `_` it may stand on the pages of all sessions. Returns its id."""
        client = await self._open()
        if isinstance(client, PersonClient) and session == NOTES:
            raise Rejected("a token of a user keeps notes in sessions of this user; name one in which the user spoke first")
        identity = await client.remember(note, session=session, user_id=user_id)
        return results.answer(identity, results.Note(id=identity))

    async def forget(
        self,
        id: Id = "",  # noqa: A002 - as the page names it
        session: Session = "",
        user_id: User = "",
        confirm: bool = False,
    ) -> Annotated[CallToolResult, results.Erasure]:
        """Erase a message, a whole session, or all of a user, with all that was made from it, for ever.

        Name one of them. Without confirm it only shows what would be erased.
        """
        client = await self._open()
        if [bool(id), bool(session), bool(user_id)].count(True) != 1:
            raise Rejected("name one of id, session and user_id: it says what is erased")
        if not confirm:
            preview = await self._preview(client, id, session, user_id)
            text = f"{preview}\nthis would be erased for ever; call again with confirm=true"
            return results.answer(text, results.Erasure(id=id or session or user_id, is_done=False, receipts=0))
        if session:
            receipts = (await client.forget_session(session, by="mcp")).receipts
        elif user_id:
            receipts = (await client.forget_person(user_id, by="mcp")).receipts
        else:
            receipts = await client.forget(id, by="mcp")
        text = f"{len(receipts)} receipts" if receipts else "it was forgotten before"
        return results.answer(text, results.Erasure(id=id or session or user_id, is_done=True, receipts=len(receipts)))

    async def _preview(self, client: AnyClient, name: str, session: str, user_id: str) -> str:
        if name:
            each = await client.fetch(name)
            return f"{each.speaker} in {each.session}: {each.text}"
        number = len([None async for _ in client.history(session, user_id=user_id)])
        return f"{number} messages of {f'session {session!r}' if session else f'user {user_id!r}'}"

    async def last_context(self, consumer: str, session: str) -> str:
        """The last page of an agent in a session, within 24 hours."""
        return (await (await self._open()).context(consumer, session=session)).content

    async def answer_from_page(self, session: Session, question: Text, consumer: Consumer = "default") -> str:
        """Answer a question from the last page of a session, and look for what the page leaves out."""
        context = await (await self._open()).context(consumer, session=session)
        return PROMPT.format(question=question, page="\n".join(filter(None, (context.content, context.omission_note))))

    async def _open(self) -> AnyClient:
        """Of the caller: a token of a user has a client of its own, which sees no more than this user."""
        token = get_access_token()
        if token and token.subject:
            if self._of_person is None:
                raise Rejected("this door takes no tokens of users; use one of the workspace")
            return self._of_person(token.token)
        if self._client is None:
            self._client = await self._stack.enter_async_context(self._connect())
        return self._client


def _with_errors(work: Callable[P, Awaitable[T]], kind: Callable[[str], Exception]) -> Callable[P, Awaitable[T]]:
    @wraps(work)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            _check_right(work.__name__)
            return await work(*args, **kwargs)
        except BuilderError as error:
            raise kind(str(error)) from error

    return answer
