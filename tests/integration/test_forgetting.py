"""What is forgotten is nowhere: stream, store, its files, caches, summaries, contexts, dead letters."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.app.service import Service
from builder.client import Client, Rejected, connect
from builder.connection.names import FORGOTTEN_HEADER
from tests.commands import run
from tests.integration.inside import service_here, settings, worker_here
from tests.running import Broker, all_settled, answered, dead_letters, environment, jetstream, say

TOLD = "The vault opens with kumquat-9931."


async def held(js: JetStreamContext, stream: str) -> list[bytes]:
    info = await js.stream_info(stream)
    found = []
    for sequence in range(info.state.first_seq, info.state.last_seq + 1):
        try:
            found.append((await js.get_msg(stream, sequence)).data or b"")
        except Exception:  # noqa: BLE001, S112 - a hole
            continue
    return found


def files_with(folder: Path, word: bytes) -> list[str]:
    """Files below the folder that hold the word."""
    return [file.name for file in folder.rglob("*") if file.is_file() and word in file.read_bytes()]


async def test_what_is_forgotten_is_nowhere_and_the_receipt_says_what_went(tmp_path: Path, broker: Broker, folder: Path) -> None:
    async with service_here(settings(tmp_path, broker.url)), connect(broker.url, "a1") as client, jetstream(broker.url) as js:
        await say(js, TOLD, "s1", "m1", "a1")
        await say(js, TOLD + " Edited.", "s1", "m1", "a1", version=2)
        await say(js, "A copy sent again.", "s1", "m1", "a1", message_id="again")
        await say(js, "Nothing to hide.", "s1", "m11", "a1")
        await say(js, TOLD, "s1", "m1", "a2")
        line = {"text": "The vault opens with kumquat-9931.", "ids": ["m1"], "versions": [2]}
        body = {"lines": [line], "covered": ["m1"], "last": "m1", "recipe": "x", "content": TOLD}
        await say(js, "", "s1", "sum", "a1", schema="summary.v1", body=body)
        await js.publish("breadcrumbs.a1.s1.note.v1", b'{"id": "m1", "context": "kumquat-9931"}', stream=BREADCRUMBS)
        await say(js, "How does the vault open?", "s1", "m2", "a1")
        await all_settled(js)
        (asked,) = [event for event in await answered(js, "a1") if event["trigger_event_id"] == "m2"]
        assert "kumquat-9931" in asked["content"]
        assert len(await dead_letters(js)) == 2

        assert files_with(tmp_path, b"kumquat-9931")
        assert files_with(folder, b"kumquat-9931")

        (receipt,) = await client.forget("m1", by="Maya")
        assert (receipt.id, receipt.workspace, receipt.session, receipt.by) == ("m1", "a1", "s1", "Maya")
        assert receipt.versions == 2
        assert receipt.summaries == ("sum",)
        assert receipt.messages == 5
        assert receipt.dead_letters == 2
        assert receipt.contexts >= 2
        await all_settled(js)
        await say(js, "And how does it open now?", "s1", "m3", "a1")
        await all_settled(js)
        everywhere = [*await held(js, BREADCRUMBS), *await held(js, CONTEXTS)]
        assert [data for data in everywhere if b"kumquat" in data and b'"a2"' not in data and b'"m1"' not in data] == []
        assert sum(b"kumquat" in data for data in await held(js, BREADCRUMBS)) == 1  # the other workspace's
        assert await dead_letters(js) == []
        newest = await client.context(session="s1")
        assert newest.trigger_event_id == "m3"
        assert "Nothing to hide." in newest.content
        assert "kumquat" not in newest.content
        assert await client.forget("m1") == ()
        (elsewhere,) = await client.forget("m1", session="s9")
        assert (elsewhere.versions, elsewhere.summaries, elsewhere.messages) == (0, (), 0)
        assert (await client.fetch("m11")).text == "Nothing to hide."
        with pytest.raises(Rejected, match="deleted"):
            await client.fetch("m1")
        async with connect(broker.url, "a2") as neighbour:
            assert (await neighbour.fetch("m1")).text == TOLD
            await neighbour.forget("m1")
        assert files_with(tmp_path, b"kumquat-9931") == files_with(folder, b"kumquat-9931") == []


async def test_a_stub_refuses_a_second_context_and_a_client_passes_it_over(tmp_path: Path, broker: Broker) -> None:
    async with worker_here(settings(tmp_path, broker.url)) as bench, connect(broker.url, "b1") as client:
        trigger = await say(bench.js, TOLD, "s1", "m1", "b1")
        again = await bench.delivery(trigger)
        await bench.process(trigger)
        subject = f"contexts.b1.default.s1.{(await answered(bench.js, 'b1'))[0]['id']}"
        tombstone = await say(bench.js, "", "s1", "t1", "b1", schema="breadcrumb.deleted.v1", body={"breadcrumb_id": "m1"})
        await bench.process(tombstone)
        stub = await bench.js.get_last_msg(CONTEXTS, subject)
        assert (stub.data, (stub.headers or {})[FORGOTTEN_HEADER]) == (b"{}", "1")
        await bench.worker.process(again)
        assert again.settled == ["ack"]
        assert (await bench.js.get_last_msg(CONTEXTS, subject)).seq == stub.seq
        await bench.process(await say(bench.js, "Hello.", "s1", "m2", "b1"))
        async with client.subscribed("default", durable=None, deliver="all") as contexts:
            async for context in contexts:
                assert context.trigger_event_id == "m2"
                break


def events(messages: list[bytes], workspace: str) -> list[dict[str, Any]]:
    read = [json.loads(data) for data in messages]
    return [event for event in read if event.get("workspace") == workspace]


async def test_a_rebuilt_store_is_at_peace_with_holes_in_the_stream(tmp_path: Path, broker: Broker) -> None:
    config = settings(tmp_path / "e", broker.url)
    async with service_here(config), connect(broker.url, "e1") as client, jetstream(broker.url) as js:
        for number in range(4):
            await say(js, f"Remark {number}.", "s1", f"m{number}", "e1")
        await all_settled(js)
        await client.forget("m0")
        await client.forget("m2")
        await all_settled(js)
        before = [crumb.id async for crumb in client.history("s1")]
    env = environment(tmp_path / "e", nats__servers=broker.url)
    rebuilt = run("reindex", "--json", env=env)
    assert rebuilt.returncode == 0, rebuilt.stderr
    async with service_here(config), connect(broker.url, "e1") as client:
        assert [crumb.id async for crumb in client.history("s1")] == before == ["m1", "m3"]


@pytest.fixture
async def service(tmp_path: Path, broker: Broker) -> AsyncIterator[Service]:
    async with service_here(settings(tmp_path, broker.url)) as running:
        yield running


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Client]:
    async with connect(service.url, "f1") as connected:
        yield connected


async def test_a_secret_is_never_kept_shown_answered_or_handed_out_also_one_that_cannot_be_read(
    service: Service, client: Client, tmp_path: Path, folder: Path
) -> None:
    await say(service.js, TOLD, "s1", "plain", "f1")
    await say(service.js, "kumquat-1 is the token.", "s1", "k1", "f1", schema="secret.v1")
    record = {"id": "k2", "schema_name": "user.message.v1", "sensitivity": "secret", "context": {"content": "kumquat-2"}}
    await service.js.publish("breadcrumbs.f1.s1.user.message.v1", json.dumps(record).encode(), stream=BREADCRUMBS)
    for unreadable in (b'{"id": 7, "context": "kumquat-3"}', b'{"id": "k4", "context": "kumquat-4'):
        await service.js.publish("breadcrumbs.f1.s1.secret.v1", unreadable, stream=BREADCRUMBS)
    await say(service.js, "What is the token?", "s1", "m9", "f1")
    await all_settled(service.js)
    told = events(await held(service.js, CONTEXTS), "f1")
    assert {event["trigger_event_id"] for event in told} == {"plain", "m9"}
    assert not any(f"kumquat-{n}" in json.dumps(event) for event in told for n in (1, 2, 3, 4))
    assert [crumb.id async for crumb in client.history("s1")] == ["plain", "m9"]
    for secret in ("k1", "k2"):
        with pytest.raises(Rejected, match="secret"):
            await client.fetch(secret)
    letters = [letter for letter in await dead_letters(service.js) if ".f1." in letter["subject"]]
    assert all("kumquat" not in json.dumps(letter) and letter["data"] == "" for letter in letters), letters
    info = await service.js.stream_info(BREADCRUMBS, subjects_filter="breadcrumbs.f1.>")
    assert info.state.subjects == {"breadcrumbs.f1.s1.user.message.v1": 2, "breadcrumbs.f1.s1.breadcrumb.deleted.v1": 2}
    kept = [files_with(place, f"kumquat-{n}".encode()) for n in (1, 2, 3, 4) for place in (tmp_path, folder)]
    assert kept == [[]] * 8


async def test_only_a_secret_that_may_hide_something_readable_has_the_streams_searched(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "builder.worker.erasure")

    async def searched(*breadcrumbs: tuple[int, str]) -> int:
        """How often, for one id: a version and its sensitivity each."""
        caplog.clear()
        identity = f"k{uuid4().hex[:8]}"
        for number, (version, sensitivity) in enumerate(breadcrumbs):
            record = {"id": identity, "version": version, "sensitivity": sensitivity, "context": {"content": f"quince-{number}"}}
            await service.js.publish("breadcrumbs.f3.s1.user.message.v1", json.dumps(record).encode(), stream=BREADCRUMBS)
            await all_settled(service.js)
        told = [record for record in caplog.records if record.name == "builder.worker.erasure"]
        assert (await service.core.store.versions("f3", identity)) == ()
        return len(told)

    assert await searched((1, "secret")) == 0
    assert await searched((1, "secret"), (2, "secret"), (3, "secret")) == 0
    assert await searched((2, "secret")) == 1
    assert await searched((1, "public"), (2, "secret"), (3, "secret")) == 1
    assert await searched((1, "public"), (1, "secret")) == 1
    assert await searched((1, "secret"), (2, "public"), (3, "secret")) == 0
    info = await service.js.stream_info(BREADCRUMBS, subjects_filter="breadcrumbs.f3.>")
    assert info.state.subjects == {"breadcrumbs.f3.s1.breadcrumb.deleted.v1": 6}


@pytest.mark.parametrize(("schema", "field"), [("user.message.v1", "content"), ("agent.response.v1", "message")])
async def test_a_copy_of_what_was_forgotten_leaves_the_stream_when_it_comes(
    tmp_path: Path, broker: Broker, schema: str, field: str
) -> None:
    record: dict[str, Any] = {"schema": schema, "body": {field: "It is kumquat-77."}}
    async with service_here(settings(tmp_path, broker.url)), connect(broker.url, field) as client, jetstream(broker.url) as js:
        await say(js, "", "s1", "m1", field, **record)
        await all_settled(js)
        await client.forget("m1")
        await all_settled(js)
        await say(js, "", "s1", "m1", field, message_id=f"copy of {field}", **record)
        await all_settled(js)
        assert [data for data in await held(js, BREADCRUMBS) if b"kumquat-77" in data] == []


async def test_a_summary_that_was_in_the_making_leaves_the_stream_when_what_it_stands_for_was_forgotten(
    broker: Broker, client: Client
) -> None:
    async with jetstream(broker.url) as js:
        await client.send_user_message("s1", "The code is medlar.", message_id="m1")
        await client.send_user_message("s1", "We meet at noon.", message_id="m2")
        await client.forget("m1")
        for number, source in enumerate(("m1", "m2")):
            line = {"text": f"User: medlar or noon, of {source}", "ids": [source], "versions": [1]}
            body = {"lines": [line], "covered": [source], "versions": [1], "last": source, "recipe": f"r{number}"}
            await say(js, "", "s1", f"summary-{number}", "f1", schema="summary.v1", body=body)
        await all_settled(js)
        left = [
            json.loads(data)["id"]
            for data in await held(js, BREADCRUMBS)
            if b'"id":"summary-' in data or b'"id": "summary-' in data
        ]
        assert left == ["summary-1"]
