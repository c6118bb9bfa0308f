"""Each door, right and verb: who lacks a right is refused, and what belongs to others answers as what does not exist."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import nats
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.commands import Command
from tests.doors import HTTP, MCP, NATS, TOKENS, VERBS, Doors, ask, configuration, is_true, listens, refusal, send
from tests.free_ports import free_port
from tests.http_api import EVERY_RIGHT, Api, without, write_tokens
from tests.running import Broker, Running, until, wait_for


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A service with accounts and tokens, and the MCP door beside it."""
    folder = tmp_path_factory.mktemp("doors")
    tokens = write_tokens(folder / "tokens.yaml", TOKENS)
    port = free_port()
    with Broker(folder / "broker", configuration=configuration()) as broker:
        own = broker.url.replace("//", "//service:p@")
        with Running(
            folder / "service", own, embedding__engine="none", http__tokens=tokens, http__requests_a_minute=0
        ) as service:
            command = ("mcp", "--workspace", "acme", "--http", str(port))
            server = Command(command, service.env, folder / "output", folder / "errors")
            try:
                wait_for(lambda: listens(port), "the MCP door")
                yield Doors(service.http, f"http://127.0.0.1:{port}/mcp", broker.url)
            finally:
                server.kill()


@pytest.fixture
async def acme(doors: Doors) -> AsyncIterator[Api]:
    """Everything of workspace acme, where two people spoke."""
    async with Api(doors.http, "acme") as api:
        for session, user in (("hers", "ada"), ("his", "ben")):
            body = {"session": session, "content": f"The kiln of {user} is K-4711.", "id": f"m-{session}", "user_id": user}
            assert (await api.post("/v1/contexts", **body)).status == 200
        for session, user in (("notes", "ben"), ("notes", "ada"), ("_", "ben")):
            await send(api, "note.v1", session, f"n-{user}-{session}", user)
        yield api


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
@pytest.mark.parametrize(("session", "message"), [("his", "m-his"), ("notes", "n-ben-notes")])
async def test_what_belongs_to_others_answers_like_what_does_not_exist(
    doors: Doors, acme: Api, session: str, message: str, token: str, verb: str
) -> None:
    assert (await ask(acme, "fetch", session, message)).status == 200
    async with Api(doors.http, token) as api:
        foreign, missing = await ask(api, verb, session, message, "ben"), await ask(api, verb, "nil", "m-nil", "nil")
    names = (message, "m-nil", session, "nil")
    assert (foreign.status, without(names, foreign.body)) == (missing.status, without(names, missing.body))
    assert b"4711" not in foreign.body
    assert (await ask(acme, "fetch", session, message)).status == 200, "it is still there"


@pytest.mark.parametrize(
    ("token", "place", "others", "nobody"),
    [("ada", "user_id", "ben", "nil"), ("ada", "workspace", "other", "nil"), ("other", "workspace", "acme", "nil")],
)
async def test_sending_as_or_to_others_answers_like_sending_to_nobody(
    doors: Doors, token: str, place: str, others: str, nobody: str
) -> None:
    record = {"schema_name": "user.message.v1", "session": "hers", "context": {"content": "Hello."}}
    async with Api(doors.http, token) as api:
        foreign, missing = [await api.post("/v1/messages", **record, **{place: name}) for name in (others, nobody)]
    assert foreign.status in (403, 404)
    assert (foreign.status, without([others], foreign.body)) == (missing.status, without([nobody], missing.body))


async def test_an_id_of_others_a_secret_and_a_rejected_message_refuse_a_person_alike(doors: Doors, acme: Api) -> None:
    await acme.post(
        "/v1/messages", schema_name="user.message.v1", session="his", context={"content": "The code is 4711."}, id="m-secret",
        user_id="ben", sensitivity="secret",
    )  # fmt: skip
    await send(acme, "user.message.v1", "his", "m-gone", "ben")
    assert (await acme.post("/v1/forget", id="m-gone")).status == 200
    unreadable = {"id": "m-bad", "schema_name": "user.message.v1", "session": "his", "context": {"content": None}}
    connection = await nats.connect(doors.nats, user="service", password="p")  # noqa: S106 - of the test
    await connection.jetstream().publish(
        "breadcrumbs.acme.his.user.message.v1", json.dumps(unreadable).encode(), headers={"Nats-Msg-Id": "acme:m-bad:1"}
    )
    await connection.close()
    taken = ("m-his", "n-ben-notes", "n-ben-_", "m-secret", "m-gone", "m-bad")
    async with Api(doors.http, "ada") as api:
        for answers in (
            [await send(api, "user.message.v1", "hers", identity) for identity in taken],
            [await api.post("/v1/contexts", session="hers", content="Hello.", id=identity) for identity in taken],
        ):
            assert {answer.status for answer in answers} == {422}
            details = [answer.json["detail"] for answer in answers]
            assert details == [f"the id {identity!r} is in use; take another one" for identity in taken]
        first, again = [await send(api, "user.message.v1", "hers", "m-own") for _ in range(2)]
        assert (first.status, again.json) == (200, first.json | {"duplicate": True})


async def test_what_was_just_sent_can_be_forgotten(acme: Api) -> None:
    for number in range(8):
        await send(acme, "user.message.v1", "race", f"m-race-{number}")
        assert (await acme.post("/v1/forget", id=f"m-race-{number}")).status == 200


async def test_in_its_own_session_a_person_is_given_nothing_that_others_wrote(doors: Doors, acme: Api) -> None:
    for schema, identity, user in (("user.message.v1", "g-ada", "ada"), ("user.message.v1", "g-ben", "ben")):
        assert (await send(acme, schema, "group", identity, user)).status == 200
    async with Api(doors.http, "ada") as api:
        page = await api.post("/v1/contexts", session="group", content="Which kiln?", id="g-last")
        assert page.status == 200
        for verb in ("history", "search", "export"):
            answer = await ask(api, verb, "group", "")
            assert (answer.status, b"g-ada" in answer.body, b"g-ben" in answer.body) == (200, True, False), verb
        assert (await ask(api, "fetch", "group", "g-ben")).status == 404
        assert (await api.get("/v1/contexts/default/omitted/g-ben", trigger="g-last")).status == 404
        assert (await api.get("/v1/contexts/default/omitted/g-ada", trigger="g-last")).status == 200


async def test_notes_of_no_session_are_everybodys_for_every_verb(doors: Doors, acme: Api) -> None:  # noqa: ARG001 - fills it
    note = "n-ben-_"
    async with Api(doors.http, "ada") as api:
        page = await api.post("/v1/contexts", session="hers", content="Which kiln is that of n-ben?", id="q-note")
        assert note in json.dumps(page.json["sections"])
        for verb, session in (("fetch", "_"), ("history", "_"), ("export", "_"), ("search", "_"), ("search", "hers")):
            answer = await ask(api, verb, session, note)
            assert (answer.status, note.encode() in answer.body) == (200, True), (verb, session)
        assert (await api.get(f"/v1/contexts/default/omitted/{note}", trigger="q-note")).status == 200
        assert (await api.post("/v1/forget", id=note)).status == 404


async def test_a_person_sees_its_own(doors: Doors, acme: Api) -> None:  # noqa: ARG001 - fills it
    async with Api(doors.http, "ada") as api:
        for verb in ("context", "explain", "strip", "fetch", "history", "search", "export"):
            answer = await ask(api, verb, "hers", "m-hers", "ada")
            assert (answer.status, b"K-4711" in answer.body) == (200, True), verb
        listed = {each["session"] for each in (await api.get("/v1/sessions")).json["sessions"]}
        found = {each["session"] for each in (await api.post("/v1/search", text="Which kiln?")).json["passages"]}
        assert all("hers" in names and "his" not in names for names in (listed, found))
        assert listed.isdisjoint({"notes", "left"})
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
    for token in ("", "forged", "other"):  # the door is that of workspace acme
        async with Api(doors.mcp.removesuffix("/mcp"), token) as api:
            answer = await api.send("POST", "/mcp", call, **{"Content-Type": "application/json"})
            bodies.add((answer.status, answer.body))
    assert len(bodies) == 1
    assert bodies.pop()[0] == 401
    async with Api(doors.mcp.removesuffix("/mcp"), "ada") as api:
        assert (await api.send("POST", "/mcp", call, **{"Content-Type": "application/json"})).status == 200, "of one user"
    errors = await asyncio.gather(*(refusal(doors.nats, *who) for who in (("acme", "forged"), ("service", "forged"))))
    assert len(set(errors)) == 1
