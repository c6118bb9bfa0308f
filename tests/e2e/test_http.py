"""The HTTP API of a running service, as the page http.md describes it."""

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from builder.app.tokens import Tokens
from builder.extras.http.bodies import EXAMPLES
from tests.commands import DEADLINE
from tests.http_api import Api, first, write_tokens
from tests.running import ROOT, Broker, Running, environment, jetstream

PAGE = (ROOT / "builder" / "docs" / "http.md").read_text("utf-8")
LOOPBACK = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """As `up` starts it on loopback, without a model."""
    with Running(tmp_path_factory.mktemp("http"), embedding__engine="none", http__requests_a_minute=0) as running:
        yield running


@pytest.fixture
async def api(service: Running) -> AsyncIterator[Api]:
    """With the token that `up` made."""
    async with Api(service.http, token_of(service)) as api:
        yield api


def token_of(service: Running) -> str:
    """The token of its data folder."""
    return Path(service.env["CONTEXT_BUILDER_DATA_DIR"], "http-token").read_text("utf-8")


def shell(script: str) -> str:
    """What a shell script prints."""
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_up_prints_a_request_that_works_and_keeps_its_token_to_itself(service: Running) -> None:
    (command,) = re.findall(r"api +(curl .*)", service.said())
    assert json.loads(shell(command))["content"].endswith("User: Hello\n")
    assert Path(service.env["CONTEXT_BUILDER_DATA_DIR"], "http-token").stat().st_mode & 0o777 == 0o600


def test_the_commands_of_the_page_work(service: Running) -> None:
    blocks = re.findall(r"<!-- commands: [^\n]*-->\n\n```sh\n(.*?)```", PAGE, re.DOTALL)
    script = "".join(blocks).replace("~/.local/share/context-builder", service.env["CONTEXT_BUILDER_DATA_DIR"])
    script = script.replace(LOOPBACK, service.http).replace("\n", "\necho\n")
    page, found, sessions, *events = filter(None, shell(script).splitlines())
    assert json.loads(page)["trigger_event_id"] == "m1"
    assert json.loads(found)["passages"][0]["text"] == "The kiln is K-4711."
    assert "s1" in [each["session"] for each in json.loads(sessions)["sessions"]]
    assert [line.partition(":")[0] for line in events] == ["retry", "id"]


async def test_the_script_of_the_page_shows_a_context_in_plain_javascript(service: Running, api: Api, tmp_path: Path) -> None:
    async with aclosing(api.events("default")) as events:
        ((last, _),) = await first(events, 1)
    assert (await api.post("/v1/contexts", session="script", content="Where is the kiln?")).status == 200
    (block,) = re.findall(r"<!-- script: [^\n]*-->\n\n```js\n(.*?)```", PAGE, re.DOTALL)
    head = f"""let [token, last] = {json.dumps([token_of(service), last])}
const fetch = (path, options) => globalThis.fetch({json.dumps(service.http)} + path, options)
const show = (page) => {{ console.log(page); process.exit() }}
"""
    (tmp_path / "script.mjs").write_text(head + block, "utf-8")
    assert "Where is the kiln?" in shell(f"node {tmp_path}/script.mjs")


def test_the_tokens_of_the_page_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"<!-- tokens: [^\n]*-->\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "tokens.yaml").write_text(block, "utf-8")
    assert Tokens(tmp_path / "tokens.yaml").caller("forged") is None


async def test_every_operation_has_an_example_and_the_docs_need_no_other_server(api: Api) -> None:
    document = (await api.get("/openapi.json")).json
    assert document["openapi"].startswith("3.1")
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len(operations) == 16
    assert {*document["components"]["schemas"]["PageOmission"]["properties"]} == {*EXAMPLES["omissions"][1]["omitted"][0]}
    schemas = json.dumps(document["components"]["schemas"]["AgentContextV1"])
    for operation in operations:
        text = json.dumps(operation)
        assert '"example' in text or ("AgentContextV1" in text and '"examples"' in schemas), operation["operationId"]
        assert operation["summary"]
    page = (await api.get("/docs")).body.decode()
    addresses = re.findall(r'(?:src|href|url)[=:] *["\']([^"\']+)["\']', page)
    assert len(addresses) >= 4
    for address in addresses:
        assert address.startswith(("/", str(api.url))), address
        assert (await api.get(address)).status == 200


async def test_a_note_is_found_by_a_search_of_its_workspace(api: Api) -> None:
    sent = await api.post("/v1/notes", content="Glaze batch 7 needs two coats.", tags=["glaze"])
    assert (sent.status, sent.json["session"]) == (200, "_")
    found = (await api.post("/v1/search", text="How many coats does glaze batch 7 need?")).json["passages"]
    assert sent.json["id"] in {each["id"] for each in found}


async def test_a_message_is_sent_once_read_in_pieces_and_exported(api: Api) -> None:
    record = {
        "schema_name": "note.v1",
        "context": {"content": "The kiln needs cones."},
        "session": "maya@example.com",
        "id": "n1",
    }
    sent = [(await api.post("/v1/messages", **record)).json for _ in range(2)]
    assert [each["duplicate"] for each in sent] == [False, True]
    other = await api.post("/v1/messages", **record | {"context": {"content": "Another."}})
    assert (other.status, "take another id" in other.json["detail"]) == (422, True)
    assert (await api.get("/v1/breadcrumbs/n1")).json["session"] == "maya@example.com"
    long = "word " * 30_000
    assert (await api.post("/v1/contexts", session="long", content=long, id="long-1")).status == 200
    await api.post("/v1/contexts", session="long", content="And now?", id="long-2")
    piece = (await api.get("/v1/contexts/default/omitted/long-1", session="long", offset=10)).json["text"]
    assert piece.startswith("[characters 10 to ")
    lines = (await api.get("/v1/export", session="maya@example.com")).body.decode().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["n1"]
    assert (await api.post("/v1/compact", session="long")).status == 200
    explained = (await api.post("/v1/explain", trigger="long-2", consumer="default")).json
    assert explained["receipt"]
    (receipt,) = (await api.post("/v1/forget", id="n1")).json["receipts"]
    assert (receipt["by"], (await api.get("/v1/breadcrumbs/n1")).status) == ("up", 404)
    whole = (await api.post("/v1/forget", session="long")).json
    assert ({each["id"] for each in whole["receipts"]}, whole["rest"]) == ({"long-1", "long-2"}, 0)
    assert (await api.post("/v1/forget")).status == 422


async def test_a_person_is_named_user_id_and_for_one_release_user(api: Api) -> None:
    for name in ("user_id", "user"):
        assert (await api.get("/v1/history", **{name: "nobody"})).json == {"breadcrumbs": [], "next": None}
        assert (await api.get("/v1/sessions", **{name: "nobody"})).json == {"sessions": [], "next": None}
        assert (await api.post("/v1/forget", **{name: "nobody"})).json["receipts"] == []


REFUSED = {
    400: ("POST", "/v1/search", b'{"text": 1}', "text: Input should be a valid string, got a number"),
    404: ("GET", "/nothing", b"", "there is no such path; /openapi.json lists all"),
    405: ("DELETE", "/v1/search", b"", "this path has another method"),
    413: ("POST", "/v1/messages", b" " * 1_200_000, "the body has more than 1,114,112 bytes"),
    415: ("POST", "/v1/search", b"text=kiln", "send Content-Type: application/json"),
    422: ("GET", "/v1/history", b"", "name one of `session` and `user_id`"),
}


@pytest.mark.parametrize("status", REFUSED)
async def test_an_error_is_a_problem_in_a_sentence(api: Api, status: int) -> None:
    method, path, content, sentence = REFUSED[status]
    media = "application/x-www-form-urlencoded" if status == 415 else "application/json"
    answer = await api.send(method, path, content, **{"Content-Type": media})
    assert (answer.status, answer.media) == (status, "application/problem+json")
    assert sentence in answer.json["detail"]
    assert answer.json["status"] == status


@pytest.mark.parametrize("content", [b"{", b" " * 1_200_000, b'{"text": 1}'], ids=["malformed", "large", "wrong"])
async def test_nothing_of_a_body_is_said_before_the_token_is_checked(service: Running, content: bytes) -> None:
    async with Api(service.http, "forged") as forger:
        for path in ("/v1/search", "/v1/messages", "/v1/nothing"):
            answer = await forger.send("POST", path, content, **{"Content-Type": "application/json"})
            assert (answer.status, answer.media) == (401, "application/problem+json")


async def test_contexts_come_once_and_in_order_across_a_restart_and_tokens_are_read_again(tmp_path: Path) -> None:
    tokens = write_tokens(tmp_path / "tokens.yaml", {"agent": {}})
    with (
        Broker(tmp_path / "broker") as broker,
        Running(tmp_path / "service", broker.url, embedding__engine="none", http__tokens=tokens) as service,
    ):
        async with Api(service.http, "agent") as api, aclosing(api.events("default")) as events:
            ((start, _),) = await first(events, 1)
            for number in (1, 2):
                await say(api, f"m{number}")
            two = await first(events, 2)
            assert [trigger for _, trigger in two] == ["m1", "m2"]
        async with Api(service.http, "agent") as api, aclosing(api.events("default")) as events:
            await first(events, 1)
            await say(api, "m3")
            assert service.stop() == 0, "an open stream does not hold up the end"
        service.start()
        write_tokens(tokens, {"other": {}})
        async with Api(service.http, "agent") as former:
            assert (await former.get("/v1/sessions")).status == 401
        async with Api(service.http, "other") as api:
            for number, (last, expected) in enumerate(((start, ["", "m1", "m2", "m3"]), (two[0][0], ["", "m2", "m3", "new-0"]))):
                async with aclosing(api.events("default", last)) as events:
                    assert [trigger for _, trigger in await first(events, len(expected))] == expected
                    await say(api, f"new-{number}")
                    assert (await anext(events))[1] == f"new-{number}"


async def test_a_message_that_is_no_context_is_left_out_and_those_behind_it_come(service: Running, api: Api) -> None:
    async with aclosing(api.events("default")) as events:
        ((start, _),) = await first(events, 1)
        async with jetstream(service.url) as js:
            for number, garbage in enumerate((b'"behind-garbage" is no JSON', b"[]", b"[" * 100_000)):
                await js.publish(f"contexts.default.default.garbage.{number}", garbage)
            await js.publish("contexts.default", b"a short subject")
        await say(api, "behind-garbage")
        assert (await anext(events))[1] == "behind-garbage"
    async with aclosing(api.events("default", start)) as events:
        assert [trigger for _, trigger in await first(events, 2)] == ["", "behind-garbage"]
    assert (await api.post("/v1/forget", id="behind-garbage")).status == 200
    async with jetstream(service.url) as js:
        subject = "contexts.default.default.garbage.0"
        assert (await js.get_last_msg("CONTEXTS", subject)).data == b"{}", "it named what is forgotten"
    assert 'kind="following the contexts"' in service.get("/metrics")[1], "its loop is one of those that /livez watches"


async def say(api: Api, message: str) -> None:
    """A message that gets its context."""
    assert (await api.post("/v1/contexts", session="s", content="Hello.", id=message)).status == 200


async def test_a_token_makes_only_so_many_requests(tmp_path: Path) -> None:
    """On a slow machine the first ones are a minute old before there was one too many: a few more are allowed then."""
    allowed = 0
    with Running(tmp_path, embedding__engine="none", http__requests_a_minute=3) as service:
        async with Api(service.http, token_of(service)) as api:
            while (answer := await api.get("/v1/sessions")).status == 200:
                allowed += 1
    assert answer.status == 429
    assert "made more than 3 requests in a minute" in answer.json["detail"]
    assert 3 <= allowed < 10


async def test_an_address_without_a_valid_token_makes_only_so_many_requests_and_a_valid_one_goes_on(tmp_path: Path) -> None:
    refused = 0
    with Running(tmp_path, embedding__engine="none", http__failures_a_minute=3) as service:
        async with Api(service.http, "forged") as forged, Api(service.http, token_of(service)) as api:
            while (answer := await forged.get("/v1/sessions")).status == 401:
                refused += 1
            assert (await api.get("/v1/sessions")).status == 200
    assert answer.status == 429
    assert "without a valid token" in answer.json["detail"]
    assert 3 <= refused < 10


def test_schemathesis_finds_nothing(service: Running, tmp_path: Path) -> None:
    """The same with 2,000 cases: HTTP_CASES=70 pytest tests/e2e/test_http.py -k schemathesis -n0."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(ROOT / "tests" / "schemathesis.toml"), "run",
        f"{service.http}/openapi.json", "--header", f"Authorization: Bearer {token_of(service)}",
        "--exclude-operation-id", "events",
    ]  # fmt: skip
    env = environment(tmp_path)
    cases = env.get("HTTP_CASES", "")
    amount = ["--max-examples", cases] if cases else ["--max-examples", "4", "--phases", "examples,fuzzing"]
    done = subprocess.run(
        [*command, *amount], capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=20 * DEADLINE
    )
    assert done.returncode == 0, done.stdout
