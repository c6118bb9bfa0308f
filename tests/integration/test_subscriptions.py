"""Who listens to contexts, as `doctor` and `consumers` tell it of a real broker."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.js.api import ConsumerConfig

from builder.adapters.nats.topology import CONTEXTS
from builder.app.settings import NatsSettings, Settings
from builder.app.subscriptions import list_subscriptions
from builder.client import connect
from tests.commands import run
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, jetstream, until

PROFILES = {
    "desk": "extends: default\n",
    "night": "extends: desk\n",
    "attic": "extends: desk\ntriggers: [note.v1]\n",
    "shelf": "extends: desk\ntriggers: []\n",
}
UNREAD = 7


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A service with four consumers, for workspace acme."""
    templates = with_profiles(tmp_path, PROFILES)
    with Running(tmp_path / "data", workspace="acme", templates_dir=templates, embedding__engine="none") as running:
        yield running


def consumers(service: Running) -> dict[str, dict[str, Any]]:
    """By name, as the command shows them."""
    done = run("consumers", "--json", env=service.env)
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["consumers"]}


def agents(service: Running) -> dict[str, Any]:
    """What doctor says of agents."""
    findings = json.loads(run("doctor", "--json", env=service.env).stdout)
    return next(dict(finding) for finding in findings if finding["part"] == "agents")


async def test_a_dead_agent_with_unread_contexts_is_told_with_their_number_and_age_and_who_never_subscribed(
    service: Running,
) -> None:
    async with jetstream(service.url) as js, connect(service.url, "acme") as client:
        await js.pull_subscribe("contexts.acme.desk.>", durable="acme=desk", stream=CONTEXTS)
        second = await js.pull_subscribe("contexts.*.desk.>", durable="spare", stream=CONTEXTS)
        await js.pull_subscribe("contexts.>", durable="audit", stream=CONTEXTS)
        await js.pull_subscribe("contexts.other.night.>", durable="other=night", stream=CONTEXTS)
        for number in range(UNREAD):
            await client.ask("s1", f"Message {number}.", consumer="desk")
        for message in await second.fetch(UNREAD - 1):
            await message.ack_sync()
        found = consumers(service)
        oldest = await js.get_msg(CONTEXTS, seq=1, subject="contexts.acme.desk.>", next=True)
        newest = await js.get_last_msg(CONTEXTS, "contexts.acme.desk.>")
        told = {each["name"]: (each["waiting"], each["since"]) for each in found["desk"]["subscriptions"]}
        assert oldest.time is not None
        assert newest.time is not None
        assert told == {"acme=desk": (UNREAD, oldest.time.isoformat()), "spare": (1, newest.time.isoformat())}
        assert found["desk"]["readers"].startswith("acme=desk: nobody listens, 7 wait since 20")
        assert [found[name]["readers"] for name in ("night", "attic", "shelf")] == ["nobody has subscribed yet"] * 2 + ["-"]
        finding = agents(service)
        assert (finding["ok"], finding["warning"]) == (True, True)
        assert finding["said"].startswith("nobody takes the contexts of acme=desk, audit, spare; start that agent again, or ")
        assert "acme=desk: nobody listens, 7 wait since " in finding["said"]
        assert "nobody has subscribed yet in workspace 'acme' for attic, default, night" in finding["said"]
        assert "contexts are built whether or not somebody listens" in finding["said"]


async def test_a_dead_agent_is_told_while_no_service_runs_too(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "data", broker.url, embedding__engine="none") as service:
        async with connect(broker.url) as client, jetstream(broker.url) as js:
            await js.pull_subscribe("contexts.default.default.>", durable="default=default", stream=CONTEXTS)
            await client.ask("s1", "Hello.")
        assert service.stop() == 0
        finding = agents(service)
        assert finding["warning"]
        assert "nobody takes the contexts of default=default" in finding["said"]
        assert "no service tells for which consumers nobody has subscribed" in finding["said"]


async def test_who_listens_with_and_without_a_durable_counts_and_who_has_a_context_in_hand_is_not_dead(service: Running) -> None:
    async with connect(service.url, "acme") as client, jetstream(service.url) as js:
        async with client.subscribed("desk") as pages, client.subscribed("night", durable=None) as others:
            await client.send_user_message("s1", "Hello.")
            await anext(pages)
            await anext(others)
            at_work = consumers(service)
            assert "acme=desk: may be at work, 1 wait" in at_work["desk"]["readers"]
            assert (len(at_work["night"]["subscriptions"]), at_work["night"]["subscriptions"][0]["is_durable"]) == (1, False)
            assert not agents(service)["warning"]
        short = ConsumerConfig(durable_name="short", ack_wait=0.2)
        listening = await js.pull_subscribe("contexts.acme.desk.>", durable="short", stream=CONTEXTS, config=short)
        await listening.fetch(1)
        settings = Settings(nats=NatsSettings(servers=service.url))

        async def is_silent() -> bool:
            return "short" in [each.name for each in await list_subscriptions(settings, service.url) if each.is_silent]

        await until(is_silent, "the time of the context in hand to be over")
