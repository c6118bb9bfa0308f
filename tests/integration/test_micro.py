"""The requests are a NATS micro service (ADR-32): tools find it, read what each verb takes and answers, and count."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import nats
import pytest
from jsonschema import Draft202012Validator
from nats.aio.client import Client as Connection
from nats.errors import NoRespondersError
from nats.micro.service import ServiceInfo, ServicePing, ServiceStats

from builder import __version__
from builder.app.requests import all_requests
from builder.client import connect
from builder.extras.contracts.descriptions import metadata
from builder.extras.contracts.schemas import schema_files
from builder.wire.requests import OF_AGENT
from tests.commands import DEADLINE
from tests.integration.test_asyncapi import REQUESTS
from tests.running import Broker, Running, wait_for

NAME = "micro"
FULL = {"agent.context.v1": json.loads(schema_files()["agent.context.v1.json"])}


@pytest.fixture(scope="module")
def staged(folder: Path, broker: Broker) -> Iterator[Running]:
    with Running(folder / "staged", broker.url, name=NAME, embedding__engine="none") as running:
        yield running


@pytest.fixture
async def connection(staged: Running) -> AsyncIterator[Connection]:
    connection = await nats.connect(staged.url)
    yield connection
    await connection.close()


async def answer(connection: Connection, subject: str, **request: object) -> Any:
    return json.loads((await connection.request(subject, json.dumps(request).encode(), timeout=DEADLINE)).data)


async def test_a_service_is_found_by_everybody_by_its_name_and_by_its_id(connection: Connection) -> None:
    ping = ServicePing.from_dict(await answer(connection, f"$SRV.PING.{NAME}"))
    assert (ping.name, ping.version) == (NAME, __version__)
    assert await answer(connection, f"$SRV.PING.{NAME}.{ping.id}") == ping.to_dict()
    assert await answer(connection, "$SRV.PING") == ping.to_dict()
    with pytest.raises(NoRespondersError):
        await answer(connection, "$SRV.PING.other")


async def test_its_endpoints_are_the_verbs_with_subject_queue_and_schemas(connection: Connection) -> None:
    info = ServiceInfo.from_dict(await answer(connection, f"$SRV.INFO.{NAME}"))
    assert info.description
    endpoints = {each.name: each for each in info.endpoints}
    refusal = await answer(connection, f"{NAME}.requests.acme.dance")
    assert refusal["error"] == (
        f"there is no request 'dance'; there are {', '.join(endpoints)}; "
        "for one of a new extra install the package again (`make up` in a clone)"
    )
    for name, endpoint in endpoints.items():
        own = ".*" if name in OF_AGENT else ""
        assert (endpoint.subject, endpoint.queue_group) == (f"{NAME}.requests.*.{name}{own}", NAME)
        assert endpoint.metadata == metadata()[name]
        assert json.loads(endpoint.metadata["request_schema"])["title"] == all_requests()[name].model.__name__


async def test_what_each_verb_answers_is_what_its_schema_says(connection: Connection, staged: Running) -> None:
    async with connect(staged.url, "acme", name=NAME) as client:
        context = await client.ask("s1", "Where does the kiln stand?", message_id="m1")
    assert REQUESTS.keys() == all_requests().keys()
    for verb, request in REQUESTS.items():
        schemas = metadata()[verb]
        Draft202012Validator(json.loads(schemas["request_schema"])).validate(request)
        result = await answer(connection, f"{NAME}.requests.acme.{verb}", **request)
        schema = json.loads(schemas["response_schema"])
        Draft202012Validator(FULL.get(schema["title"], schema)).validate(result)
        assert "error" not in result
    assert context.trigger_event_id == "m1"


async def test_requests_and_errors_are_counted_without_what_anybody_said(connection: Connection) -> None:
    before = await counts(connection, "fetch")
    message = await connection.request(f"{NAME}.requests.acme.fetch", b'{"id": "sec\\u00a0ret\\nid"}')
    assert message.headers is not None
    assert message.headers["Nats-Service-Error-Code"] == "400"
    assert message.headers["Nats-Service-Error"].startswith("there is no breadcrumb 'sec")
    assert json.loads(message.data)["kind"] == "rejected"
    after = await counts(connection, "fetch")
    assert (after["num_requests"], after["num_errors"]) == (before["num_requests"] + 1, before["num_errors"] + 1)
    assert after["last_error"] == "rejected"
    assert after["processing_time"] > before["processing_time"]
    assert after["average_processing_time"] == after["processing_time"] // after["num_requests"]


async def counts(connection: Connection, verb: str) -> dict[str, Any]:
    stats = ServiceStats.from_dict(await answer(connection, f"$SRV.STATS.{NAME}"))
    (endpoint,) = (each for each in stats.endpoints if each.name == verb)
    return endpoint.to_dict()


async def test_a_broker_that_grants_no_discovery_gets_a_sentence_and_requests_are_answered(tmp_path: Path) -> None:
    denied = 'authorization {users: [{user: u, password: p, permissions: {subscribe: {deny: ["$SRV.>"]}}}]}\n'
    with Broker(tmp_path / "broker", configuration=denied) as broker:
        url = broker.url.replace("//", "//u:p@")
        with Running(tmp_path / "service", url, embedding__engine="none") as service:
            wait_for(lambda: "the permission subscribe '$SRV.>'" in service.said(), "the warning")
            async with connect(url) as client:
                assert "default" in [each.name for each in await client.consumers()]
            assert service.said().count("the permission subscribe '$SRV.>'") == 1
