"""Each door, right and verb: who lacks a right is refused, and what belongs to others answers as what does not exist."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import httpx2
import nats
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from builder.client import Unavailable, connect
from tests.commands import Command
from tests.http_api import EVERY_RIGHT, Answer, Api, without, write_tokens
from tests.running import Broker, Running, until, wait_for

HTTP = {
    "read": ("context", "explain", "fetch", "history", "search", "sessions"),
    "write": ("compact", "send"),
    "forget": ("forget",),
    "export": ("export",),
}
"""Right → what it is enough for. `ask` writes and reads."""
MCP = {"read": ("search", "history", "fetch_omitted"), "write": ("remember",), "forget": ("forget",), "export": ()}
NATS = {"read": ("context", "explain", "fetch", "history", "search", "sessions"), "write": ("compact",), "forget": ("forget",)}
VERBS = [verb for verbs in HTTP.values() for verb in verbs]
TOKENS: dict[str, dict[str, Any]] = {
    **{right: {"workspace": "acme", "rights": [right]} for right in EVERY_RIGHT},
    "acme": {"workspace": "acme"}, "other": {"workspace": "other"}, "ada": {"workspace": "acme", "user": "ada"},
}  # fmt: skip


def configuration() -> str:
    """Accounts of NATS that have one right each, as permissions.md grants them: by subject."""
    users = [
        f"{{user: {right}, password: p, permissions: {{publish: [{', '.join(f'requests.acme.{verb}' for verb in verbs)}], "
        'subscribe: ["_INBOX.>"]}}'
        for right, verbs in NATS.items()
    ]
    other = '{user: other, password: p, permissions: {publish: ["requests.other.>"], subscribe: ["_INBOX.>"]}}'
    return f"authorization {{users: [{{user: service, password: p}}, {other}, {', '.join(users)}]}}\n"


class Doors(NamedTuple):
    """Where a service is asked."""

    http: str
    mcp: str
    nats: str


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A service with accounts and tokens, and the MCP door beside it."""
    folder = tmp_path_factory.mktemp("doors")
    tokens = write_tokens(folder / "tokens.yaml", TOKENS)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Broker(folder / "broker", configuration=configuration()) as broker:
        own = broker.url.replace("//", "//service:p@")
        with Running(folder / "service", own, embedding__engine="none", http__tokens=tokens) as service:
            command = ("mcp", "--workspace", "acme", "--http", str(port))
            server = Command(command, service.env, folder / "output", folder / "errors")
            try:
                wait_for(lambda: listens(port), "the MCP door")
                yield Doors(service.http, f"http://127.0.0.1:{port}/mcp", broker.url)
            finally:
                server.kill()


async def is_true(condition: bool) -> bool:
    """For `until`."""
    return condition


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@pytest.fixture
async def acme(doors: Doors) -> AsyncIterator[Api]:
    """Everything of workspace acme, where two people spoke."""
    async with Api(doors.http, "acme") as api:
        for session, user in (("hers", "ada"), ("his", "ben")):
            body = {"session": session, "content": f"The kiln of {user} is K-4711.", "id": f"m-{session}", "user_id": user}
            assert (await api.post("/v1/contexts", **body)).status == 200
        yield api


async def ask(api: Api, verb: str, session: str, message: str, user: str = "") -> Answer:
    """The request of a verb that names these."""
    person = {"user_id": user} if user else {}
    record = {"schema_name": "user.message.v1", "context": {"content": "Hello."}, "session": session}
    requests: dict[str, Callable[[], Awaitable[Answer]]] = {
        "context": lambda: api.get("/v1/contexts/default", session=session),
        "explain": lambda: api.post("/v1/explain", trigger=message, consumer="default"),
        "fetch": lambda: api.get(f"/v1/breadcrumbs/{message}"),
        "history": lambda: api.get("/v1/history", session=session),
        "search": lambda: api.post("/v1/search", text="Which kiln?", session=session),
        "sessions": lambda: api.get("/v1/sessions", user=user),
        "compact": lambda: api.post("/v1/compact", session=session),
        "ask": lambda: api.post("/v1/contexts", session=session, content="Hello.", **person),
        "send": lambda: api.post("/v1/messages", **record, **person),
        "forget": lambda: api.post("/v1/forget", id=message),
        "export": lambda: api.get("/v1/export", session=session),
    }
    return await requests[verb]()


@pytest.mark.parametrize("right", EVERY_RIGHT)
async def test_over_http_a_token_does_what_it_has_a_right_to(doors: Doors, acme: Api, right: str) -> None:  # noqa: ARG001 - fills it
    async with Api(doors.http, right) as api:
        answers = {verb: await ask(api, verb, "nowhere", "nothing") for verb in (*VERBS, "ask")}
    assert {verb for verb, answer in answers.items() if answer.status != 403} == {*HTTP[right]}
    assert all("and this needs" in answer.json["detail"] for answer in answers.values() if answer.status == 403)


@pytest.mark.parametrize("right", EVERY_RIGHT)
async def test_over_mcp_a_token_does_what_it_has_a_right_to(doors: Doors, acme: Api, right: str) -> None:  # noqa: ARG001 - fills it
    arguments = {"text": "Which kiln?", "session": "nowhere", "note": "A note.", "id": "nothing"}
    headers = {"Authorization": f"Bearer {right}"}
    async with httpx2.AsyncClient(headers=headers) as http, Client(streamable_http_client(doors.mcp, http_client=http)) as client:
        tools = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
        for tool, fields in tools.items():
            result = await client.call_tool(tool, {name: value for name, value in arguments.items() if name in fields})
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert ("and this needs" not in content.text) == (tool in MCP[right]), tool
    assert tools.keys() == {"build_context"}.union(*MCP.values())


@pytest.mark.parametrize("right", NATS)
async def test_over_nats_an_account_does_what_it_has_a_right_to(doors: Doors, right: str) -> None:
    refused: list[str] = []

    async def note(error: Exception) -> None:
        refused.extend(re.findall(r'publish to "requests\.acme\.([^"]+)"', str(error), re.IGNORECASE))

    verbs = [verb for verbs in NATS.values() for verb in verbs]
    connection = await nats.connect(doors.nats, user=right, password="p", error_cb=note)  # noqa: S106 - of the test
    try:
        for verb in verbs:
            await connection.publish(f"requests.acme.{verb}", b"{}")
        await connection.flush()
        wanted = {*verbs} - {*NATS[right]}
        await until(lambda: is_true({*refused} >= wanted), "the refusals")
    finally:
        await connection.close()
    assert {*refused} == wanted


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "send"])
@pytest.mark.parametrize("token", ["other", "ada"])
async def test_what_belongs_to_others_answers_like_what_does_not_exist(doors: Doors, acme: Api, token: str, verb: str) -> None:
    assert (await ask(acme, "fetch", "his", "m-his")).status == 200
    async with Api(doors.http, token) as api:
        foreign, missing = await ask(api, verb, "his", "m-his", "ben"), await ask(api, verb, "nil", "m-nil", "nil")
    names = ("m-his", "m-nil", "his", "nil")
    assert (foreign.status, without(names, foreign.body)) == (missing.status, without(names, missing.body))
    assert b"4711" not in foreign.body
    assert (await ask(acme, "fetch", "his", "m-his")).status == 200, "it is still there"


async def test_a_person_sees_its_own(doors: Doors, acme: Api) -> None:  # noqa: ARG001 - fills it
    async with Api(doors.http, "ada") as api:
        for verb in ("context", "explain", "fetch", "history", "search", "export"):
            answer = await ask(api, verb, "hers", "m-hers", "ada")
            assert (answer.status, b"K-4711" in answer.body) == (200, True), verb
        assert [each["session"] for each in (await api.get("/v1/sessions")).json["sessions"]] == ["hers"]
        found = (await api.post("/v1/search", text="Which kiln?")).json["passages"]
        assert {each["session"] for each in found} == {"hers"}
        assert (await api.get("/v1/export")).status == 404


async def test_a_person_writes_as_nobody_else_and_into_no_session_of_others(doors: Doors, acme: Api) -> None:
    async with Api(doors.http, "ada") as api:
        for verb in ("ask", "send"):
            assert (await ask(api, verb, "his", "", "ada")).json["detail"] == "there is no session 'his'; check its name"
            assert (await ask(api, verb, "hers", "", "ben")).status == 403
        body: dict[str, Any] = {"schema_name": "user.message.v1", "context": {"content": "Hello."}, "session": "hers"}
        assert (await api.post("/v1/messages", **body, workspace="other")).status == 404
        sent = (await api.post("/v1/messages", **body)).json
    assert (await acme.get(f"/v1/breadcrumbs/{sent['id']}")).json["user_id"] == "ada"


async def test_every_door_refuses_a_forged_token_as_it_refuses_none(doors: Doors) -> None:
    answers = []
    for token in ("", "forged", "acm"):
        async with Api(doors.http, token) as api:
            answers.append(await api.get("/v1/sessions"))
    assert {answer.status for answer in answers} == {401}
    assert len({answer.body for answer in answers}) == 1
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    bodies = set()
    for token in ("", "forged", "other", "ada"):  # the door is that of workspace acme, and shows all of it
        async with Api(doors.mcp.removesuffix("/mcp"), token) as api:
            answer = await api.send("POST", "/mcp", call, **{"Content-Type": "application/json"})
            bodies.add((answer.status, answer.body))
    assert len(bodies) == 1
    assert bodies.pop()[0] == 401
    errors = await asyncio.gather(*(refusal(doors.nats, *who) for who in (("acme", "forged"), ("service", "forged"))))
    assert len(set(errors)) == 1


async def refusal(url: str, user: str, password: str) -> str:
    """How the broker refuses a login."""
    with pytest.raises(Unavailable, match="refuses the login") as error:
        async with connect(url, "acme", user=user, password=password, rounds=1):
            pass
    return str(error.value)
