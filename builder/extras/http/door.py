"""The application: routes to the requests of the service. Every rule is the service's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Header, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi_swagger import patch_fastapi
from nats.aio.client import Client as Connection
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from builder import __version__
from builder.app.access import AccessControl
from builder.app.context_event import AgentContextV1
from builder.app.omissions import PageOmissions, omissions_of
from builder.app.requests import Breadcrumbs, Receipts, Sessions
from builder.app.tokens import Tokens
from builder.client import BreadcrumbRecord
from builder.connection.names import Installation
from builder.extra import Request as ExtraRequest
from builder.extras.http.bodies import EXAMPLES, AskRequest, MessageRequest, NoteRequest, Piece, Sent
from builder.extras.http.client import DoorClient
from builder.extras.http.events import Fanout
from builder.extras.http.limits import BESIDE_BODY_BYTES, BodyLimit, RateLimit
from builder.extras.http.problems import PROBLEM, add_handlers
from builder.extras.http.token_check import TokenCheck
from builder.wire.forgetting import ForgetRequest
from builder.wire.requests import (
    HistoryRequest,
    SessionsRequest,
)  # fmt: skip
from builder.wire.subjects import optional_token, session_text
from builder.worker.log import Log

ABOUT = "Send messages, ask for contexts, search and forget. A bearer token says whose workspace it is, and what you may."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the routes need."""

    access: AccessControl
    tokens: Tokens
    rate: RateLimit
    failures: RateLimit
    fanout: Fanout
    log: Log
    connection: Connection
    installation: Installation


def application(parts: Parts, max_body_bytes: int, requests: Mapping[str, ExtraRequest] = MappingProxyType({})) -> FastAPI:
    """The ASGI application; it has no lifespan. requests: those of extras, each a `POST /v1/NAME`."""
    app = FastAPI(
        title="context-builder", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        swagger_ui_oauth2_redirect_url=None, separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
    )  # fmt: skip
    app.state.parts = parts
    app.include_router(router)
    app.include_router(_routes(requests))
    app.add_middleware(TokenCheck, prefix=router.prefix, tokens=parts.tokens, rate=parts.rate, failures=parts.failures)
    app.add_middleware(BodyLimit, most=max_body_bytes + BESIDE_BODY_BYTES)
    add_handlers(app)
    patch_fastapi(app, redirect_from_root_to_docs=False)
    return app


_BEARER = HTTPBearer(auto_error=False, description="a token of the file CONTEXT_BUILDER_HTTP__TOKENS, or that of `up`")


async def _client(request: Request, _documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> DoorClient:
    parts: Parts = request.app.state.parts
    return DoorClient(parts.connection, parts.installation, parts.access, parts.log, request.state.caller)


Asker = Annotated[DoorClient, Depends(_client)]
router = APIRouter(
    prefix="/v1", responses={name: {"description": "a problem", "content": {"application/problem+json": {"schema": PROBLEM}}}
    for name in ("4XX", "5XX")},
)  # fmt: skip


def _routes(requests: Mapping[str, ExtraRequest]) -> APIRouter:
    additions = APIRouter(prefix=router.prefix, responses=router.responses)
    for name, request in requests.items():
        request.model.model_config["defer_build"] = False  # pydantic warns of what FastAPI builds at the first request
        request.model.model_rebuild()
        summary = request.title or (request.model.__doc__ or name).partition("\n")[0]
        additions.add_api_route(
            f"/{name}", _endpoint(name, request), methods=["POST"], response_model=request.answer, summary=summary, name=name,
            responses=_example(request.example),
        )  # fmt: skip
    return additions


def _endpoint(name: str, request: ExtraRequest) -> Callable[..., Awaitable[Response]]:
    async def answer(body: BaseModel, client: Asker) -> Response:
        return _json(await client.request(name, _fields(body)))

    example = Body(openapi_examples={name: {"value": request.example[0]}}) if request.example else Body()
    answer.__annotations__["body"] = Annotated[request.model, example]
    answer.__doc__ = request.description
    return answer


def _example(example: tuple[Any, Any] | None) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"application/json": {"example": example[1]}}}} if example else {}


def _documented(name: str, media: str = "application/json") -> dict[str, Any]:
    """Keywords of a route: its example."""
    _, answer = EXAMPLES[name]
    return {"name": name, "responses": {} if answer is None else {200: {"content": {media: {"example": answer}}}}}


def _body(name: str) -> Any:
    return Body(openapi_examples={name: {"value": EXAMPLES[name][0]}})


def _json(answer: Any) -> Response:
    """Sessions by the texts that name them, as the client has them."""
    return Response(json.dumps(_in_texts(answer), ensure_ascii=False).encode("utf-8", "replace"), media_type="application/json")


def _in_texts(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_in_texts(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    names = {name: session_text(answer[name]) for name in ("session", "session_id") if isinstance(answer.get(name), str)}
    lists = {name: _in_texts(answer[name]) for name in ("passages", "breadcrumbs", "sessions", "receipts") if name in answer}
    return answer | names | lists


def _fields(request: BaseModel) -> dict[str, Any]:
    """A request with the token of its session."""
    fields = request.model_dump(mode="json")
    return fields | ({"session": optional_token(fields["session"])} if "session" in fields else {})


@router.post(
    "/contexts", response_model=AgentContextV1, summary="Send what a user says, and wait for the context", **_documented("ask")
)
async def ask(message: Annotated[AskRequest, _body("ask")], client: Asker) -> Response:
    """Publishes a `user.message.v1`. Agents that listen get its context, too."""
    fields = message.model_dump(exclude={"id", "user_id"})
    context = await client.ask(message_id=message.id, user_id=message.user_id or client.caller.user, **fields)
    return _json(context.event)


@router.get(
    "/contexts/{consumer}", response_model=AgentContextV1, summary="A context of the last 24 hours", **_documented("context")
)
async def context(consumer: str, client: Asker, session: str = "", trigger: str = "") -> Response:
    """The last of a session, or that of a trigger."""
    return _json((await client.context(consumer, session=session, trigger=trigger)).event)


@router.get(
    "/contexts/{consumer}/events", response_class=Response, summary="Contexts as they come, as server-sent events",
    **_documented("events", "text/event-stream"),
)  # fmt: skip
async def events(
    request: Request,
    consumer: str,
    client: Asker,
    last_event_id: Annotated[str, Header(description="id of the last event that you have: what came since comes first")] = "",
) -> Response:
    """Each event's data is an `agent.context.v1`; its id is the place in the stream of contexts."""
    parts: Parts = request.app.state.parts
    client.caller.need("read")
    return await parts.fanout.response(client.caller, consumer, last_event_id)


@router.get(
    "/contexts/{consumer}/omitted", response_model=PageOmissions, summary="What a page leaves out", **_documented("omissions")
)
async def omissions(consumer: str, client: Asker, session: str = "", trigger: str = "") -> Response:
    """With tokens, reason, and how probably each answers."""
    page = await client.context(consumer, session=session, trigger=trigger)
    return _json(omissions_of(page).model_dump(mode="json"))


@router.get(
    "/contexts/{consumer}/omitted/{id:path}",
    response_model=Piece,
    summary="Read what a page cut or left out",
    **_documented("omitted"),
)
async def omitted(
    consumer: str,
    id: str,  # noqa: A002 - as the page names it
    client: Asker,
    session: str = "",
    trigger: str = "",
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """A piece of the message, from a character on."""
    page = await client.context(consumer, session=session, trigger=trigger)
    return _json({"text": await client.fetch_omitted(id, page, offset)})


@router.post("/messages", response_model=Sent, summary="Send a breadcrumb of any schema", **_documented("send"))
async def send(request: Request, _record: Annotated[MessageRequest, _body("send")], client: Asker) -> Response:
    """The same id again changes nothing."""
    return _json(await client.send_record(await request.json()))


@router.post("/notes", response_model=Sent, summary="Keep a note", **_documented("remember"))
async def remember(note: Annotated[NoteRequest, _body("remember")], client: Asker) -> Response:
    """A `note.v1`, which a search and every page that looks for it find."""
    fields = note.model_dump(mode="json", exclude_none=True, exclude={"content"})
    return _json(await client.send_record(fields | {"schema_name": "note.v1", "context": {"content": note.content}}))


@router.get("/sessions", response_model=Sessions, summary="Sessions, the one that spoke last first", **_documented("sessions"))
async def sessions(request: Annotated[SessionsRequest, Query()], client: Asker) -> Response:
    """Of the workspace, or of a user."""
    return _json(await client.request("sessions", _fields(request)))


@router.get("/history", response_model=Breadcrumbs, summary="Breadcrumbs of a session or a user", **_documented("history"))
async def history(request: Annotated[HistoryRequest, Query()], client: Asker) -> Response:
    """In pages, in the order of the stream."""
    return _json(await client.request("history", _fields(request)))


@router.get("/breadcrumbs/{id:path}", response_model=BreadcrumbRecord, summary="All of one breadcrumb", **_documented("fetch"))
async def fetch(id: str, client: Asker, version: Annotated[int | None, Query(ge=1)] = None) -> Response:  # noqa: A002 - its name
    """Never a secret, forgotten or expired one."""
    return _json(await client.request("fetch", {"id": id, "version": version}))


@router.post("/forget", response_model=Receipts, summary="Erase messages, a person or a session", **_documented("forget"))
async def forget(request: Annotated[ForgetRequest, _body("forget")], client: Asker) -> Response:
    """For ever."""
    return _json(await client.request("forget", {**_fields(request), "by": request.by or client.caller.name}))


@router.get(
    "/export", response_class=Response, summary="The messages of the stream, as `import` reads them",
    **_documented("export", "application/x-ndjson"),
)  # fmt: skip
async def export(client: Asker, session: str = "") -> Response:
    """JSON lines of a session, or of the workspace."""
    lines = client.export(optional_token(session))
    first = await anext(lines, "")

    async def whole() -> AsyncIterator[str]:
        yield first
        async for line in lines:
            yield line

    return StreamingResponse(whole(), media_type="application/x-ndjson")


ROUTES = frozenset(getattr(route, "path", "").removeprefix(router.prefix).split("/")[1] for route in router.routes)
"""First names of the paths below `/v1`; no extra's request may have one."""
