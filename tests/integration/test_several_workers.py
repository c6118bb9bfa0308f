"""Workers of one installation: what they run is a metric, they purge one after the other, and each knows what the others took."""

import re
from pathlib import Path

import pytest

from builder.client import Rejected, connect
from builder.extras.operations.purge_lock import PurgeLock
from builder.wire.subjects import Installation
from tests.commands import DEADLINE, run
from tests.integration.inside import service_here, settings
from tests.running import Broker, Running, jetstream, until, wait_for

PROFILE = "extends: default\ntriggers: [user.message.v1]\n"


def test_what_a_worker_runs_is_a_metric_that_follows_an_edit_of_its_profiles(tmp_path: Path, broker: Broker) -> None:
    templates = tmp_path / "templates"
    chatty = templates / "profiles" / "chatty.yaml"
    chatty.parent.mkdir(parents=True)
    with Running(tmp_path / "data", broker.url, name="described", templates_dir=templates) as service:

        def labels() -> dict[str, str]:
            (line,) = re.findall(r"^context_builder_build_info{(.*)} 1\.0$", service.get("/metrics")[1], re.MULTILINE)
            return dict(re.findall(r'(\w+)="([^"]*)"', line))

        before = labels()
        assert before.keys() == {"name", "version", "code", "model", "templates", "profiles"}
        assert (before["name"], before["code"].startswith(before["version"])) == ("described", True)
        chatty.write_text(PROFILE, "utf-8")
        wait_for(lambda: labels()["profiles"] != before["profiles"], "the profile to be taken")
        assert labels() | {"profiles": ""} == before | {"profiles": ""}
        chatty.unlink()
        wait_for(lambda: labels() == before, "the profile to be taken away")


async def test_one_worker_at_a_time_holds_the_lock_of_the_purge(broker: Broker) -> None:
    async with jetstream(broker.url) as js:
        one, other = (PurgeLock(js, Installation("locking"), ttl=10 * DEADLINE) for _ in range(2))
        assert [await one.claim(), await other.claim()] == [True, False]
        await one.renew()
        assert not await other.claim()
        await one.release()
        assert [await other.claim(), await one.claim()] == [True, False]
        await js.delete_key_value("locking-workers")
        await one.renew()
        assert not await other.claim()


async def test_the_lock_of_a_worker_that_was_killed_ends(broker: Broker) -> None:
    async with jetstream(broker.url) as js:
        one, other = (PurgeLock(js, Installation("ending"), ttl=1) for _ in range(2))
        assert await one.claim()
        await until(other.claim, "the lock to end")


async def test_a_broker_that_refuses_the_bucket_keeps_nobody_from_purging(tmp_path: Path) -> None:
    with Broker(
        tmp_path / "broker", configuration="accounts {A {jetstream: disabled, users: [{user: a, password: a}]}}\n"
    ) as bare:
        async with jetstream(bare.url.replace("nats://", "nats://a:a@")) as js:
            lock = PurgeLock(js, Installation("bare"))
            assert [await lock.claim(), await lock.claim()] == [True, True]
            await lock.release()


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


def test_doctor_tells_of_streams_with_other_replicas_than_the_setting(tmp_path: Path, broker: Broker) -> None:
    with Running(tmp_path, broker.url, name="replicated", embedding__engine="none") as service:
        said = run("doctor", env=service.env | {"CONTEXT_BUILDER_NATS__REPLICAS": "3"}).stdout
    assert "replicated-BREADCRUMBS holds 0 (num_replicas is 1, CONTEXT_BUILDER_NATS__REPLICAS 3)" in said
