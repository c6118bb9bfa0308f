"""Workers on one broker see each other, and say what the others run otherwise."""

import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.peers import PeerBucket, Peers
from builder.app.components import Parts
from builder.cli.doctor import examine
from builder.client import Rejected, connect
from builder.domain.peer import Peer
from builder.wire.subjects import Installation
from tests.integration.inside import service_here, settings
from tests.running import Broker, Running, jetstream, until, wait_for

OWN = Peer(id="a", host="one", code="1", model="m", templates="t", profiles={}, started_at=datetime(2026, 1, 1, tzinfo=UTC))
OTHER = replace(OWN, id="b", templates="u")
OFTEN = Parts(beat_seconds=0.05)
PROFILE = "extends: default\ntriggers: [user.message.v1]\n"


def folder_with(path: Path, **profiles: str) -> Path:
    """A templates folder with these profiles."""
    (path / "profiles").mkdir(parents=True)
    for name, text in profiles.items():
        (path / "profiles" / f"{name}.yaml").write_text(text, "utf-8")
    return path


async def test_two_workers_with_other_profiles_say_so_in_log_readiness_metrics_and_doctor(tmp_path: Path, broker: Broker) -> None:
    templates = folder_with(tmp_path / "templates", chatty=PROFILE)
    with (
        Running(tmp_path / "plain", broker.url) as plain,
        Running(tmp_path / "chatty", broker.url, templates_dir=templates) as chatty,
    ):

        def parts(service: Running) -> dict[str, str]:
            status, body = service.get("/readyz")
            assert status == 200
            return dict(json.loads(body)["parts"])

        wait_for(lambda: parts(plain)["peers"] != "ok" and parts(chatty)["peers"] != "ok", "each to see the other")
        assert "differs in profile chatty (none here, " in parts(plain)["peers"]
        assert "here, none there)" in parts(chatty)["peers"]
        assert json.loads(plain.get("/readyz")[1])["status"] == "degraded"
        assert plain.said().count("differs in profile chatty") == 1
        assert 'context_builder_peers{state="differing"} 1.0' in plain.get("/metrics")[1]
        assert 'context_builder_peers{state="same"} 0.0' in plain.get("/metrics")[1]
        (finding,) = [each for each in await examine(settings(tmp_path / "plain", broker.url), "") if each["part"] == "workers"]
        assert finding["warning"]
        assert finding["said"].startswith("2 of installation 'context-builder'; compared with ")
        (templates / "profiles" / "chatty.yaml").unlink()
        wait_for(lambda: parts(plain)["peers"] == "ok", "the profile to be taken away")
        assert 'context_builder_peers{state="same"} 1.0' in plain.get("/metrics")[1]
        assert "all 1 other workers run the same" in plain.said()
        assert chatty.stop() == 0
        wait_for(lambda: 'context_builder_peers{state="same"} 0.0' in plain.get("/metrics")[1], "the stopped worker to be gone")


async def test_a_worker_alone_sees_nobody(tmp_path: Path, broker: Broker) -> None:
    async with service_here(settings(tmp_path, broker.url).model_copy(update={"name": "alone"}), OFTEN) as service:
        bucket = PeerBucket(service.js, Installation("alone"))

        async def is_there() -> bool:
            return len(await bucket.read()) == 1

        await until(is_there, "its heartbeat")
        (worker,) = await bucket.read()
        assert worker.profiles.keys() == {"default", "recall"}
        assert worker.code.startswith("0.")


@asynccontextmanager
async def two(
    broker: Broker, name: str, own: Callable[[], Peer] = lambda: OWN
) -> AsyncIterator[tuple[Peers, Peers, JetStreamContext]]:
    """Two workers of an installation whose keys last a second."""
    async with jetstream(broker.url) as js:
        buckets = [PeerBucket(js, Installation(name), ttl=1) for _ in range(2)]
        yield Peers(buckets[0], own), Peers(buckets[1], lambda: OTHER), js


async def test_a_worker_that_was_killed_disappears(broker: Broker) -> None:
    async with two(broker, "killed") as (one, other, _):
        await other.beat()
        await one.beat()
        assert (one.differing, one.same) == (1, 0)

        async def is_gone() -> bool:
            await one.beat()
            return one.differing == 0

        await until(is_gone, "the heartbeat to end")
        assert await one.state() == ""


async def test_a_difference_is_logged_once_and_again_when_it_changes(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    current = OWN
    async with two(broker, "changing", lambda: current) as (one, other, _):
        await other.beat()
        with caplog.at_level(logging.INFO, "builder.nats"):
            for _ in range(2):
                await one.beat()
            current = replace(OWN, model="n")
            await one.beat()
            current = replace(OWN, templates="u")
            await one.beat()
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert "templates (t here, u there)" in lines[0]
    assert "model (n here, m there), templates (t here, u there)" in lines[1]
    assert lines[2] == "all 1 other workers run the same as this one"


async def test_a_deleted_bucket_is_reported_and_made_again(broker: Broker) -> None:
    async with two(broker, "deleted") as (one, other, js):
        await one.beat()
        await js.delete_key_value("deleted-workers")
        await one.beat()
        assert (await one.state()).startswith("other workers cannot be seen: ")
        await one.beat()
        await other.beat()
        await one.beat()
        assert "templates" in await one.state()


async def test_an_account_without_memory_keeps_the_bucket_on_disk(tmp_path: Path) -> None:
    config = "accounts {A {jetstream {max_mem: 0, max_file: 10MB}, users: [{user: a, password: a}]}}\n"
    with Broker(tmp_path / "broker", configuration=config) as limited:
        async with jetstream(limited.url.replace("nats://", "nats://a:a@")) as js:
            peers = Peers(PeerBucket(js, Installation("disk")), lambda: OWN)
            await peers.beat()
            assert await peers.state() == ""
            assert (await js.stream_info("KV_disk-workers")).config.storage == "file"


async def test_a_task_is_done_by_one_worker_at_a_time(broker: Broker) -> None:
    async with two(broker, "tasks") as (one, other, _):
        assert await one.claim("purge")
        assert not await other.claim("purge")
        await one.release("purge")
        assert await other.claim("purge")
        await other.close()
        assert await one.claim("purge")


async def test_what_no_worker_has_written_is_passed_over(broker: Broker) -> None:
    async with two(broker, "foreign") as (one, _, js):
        await one.beat()
        bucket = await js.key_value("foreign-workers")
        for number, data in enumerate((b"", b"{", b"[]", b"{}", b'{"id": 1}')):
            await bucket.put(f"worker.x{number}", data)
        await one.beat()
        assert (await one.state(), one.same, one.differing) == ("", 0, 0)


async def test_what_is_forgotten_leaves_the_store_of_every_worker(tmp_path: Path, broker: Broker) -> None:
    one, other = (settings(tmp_path / name, broker.url).model_copy(update={"name": "forgetting"}) for name in ("one", "other"))
    async with (
        service_here(one) as first, service_here(other) as second, connect(broker.url, name="forgetting") as client,
    ):  # fmt: skip
        await client.send_user_message("s1", "The kumquat is ripe.", message_id="m0")
        stores = first.core.store, second.core.store

        async def both_hold_it() -> bool:
            assert [row.id async for row in client.history("s1")] == ["m0"]  # of either worker
            return all([await store.versions("default", "m0") for store in stores])

        await until(both_hold_it, "both stores to hold it")
        await client.forget("m0", session="s1")

        async def is_gone() -> bool:
            return not any([await store.versions("default", "m0") for store in stores])

        await until(is_gone, "both stores to be erased")
        assert all([await store.count() < 2 for store in stores])
        for name in ("one", "other"):
            with closing(sqlite3.connect(tmp_path / name / "store.sqlite3")) as file:
                assert file.execute("SELECT count(*) FROM breadcrumbs WHERE text LIKE '%kumquat%'").fetchone() == (0,)


async def test_whichever_worker_is_asked_knows_what_the_others_took(tmp_path: Path, broker: Broker) -> None:
    one, other = (settings(tmp_path / name, broker.url).model_copy(update={"name": "lookups"}) for name in ("one", "other"))
    async with service_here(one), connect(broker.url, name="lookups") as client:
        for number in range(4):
            await client.send_user_message("s1", f"Message {number}.", message_id=f"m{number}")
        await client.send_user_message("s2", "Elsewhere.", message_id="elsewhere")
        assert [row.id async for row in client.history("s1")] == ["m0", "m1", "m2", "m3"]
        await client.forget("m0", session="s1")
    async with service_here(other), connect(broker.url, name="lookups") as client:
        assert [row.id async for row in client.history("s1") if row.schema == "user.message.v1"] == ["m1", "m2", "m3"]
        assert (await client.fetch("elsewhere")).text == "Elsewhere."
        with pytest.raises(Rejected):
            await client.fetch("m0")
