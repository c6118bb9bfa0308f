"""One trigger, one consumer, one context: however often it is delivered, published, or by whom it is built."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.stream import MAX_SINGLE_GETS
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DURABLE, Topology, ensure_streams
from builder.app.components import Parts
from builder.app.config import bundled_folder
from builder.domain.context import Context
from builder.wire.records import make_record, outgoing
from tests.commands import COMMAND
from tests.integration.inside import service_here, settings, worker_here
from tests.ports import HandDelivery
from tests.running import Broker, Running, all_settled, answered, context_bytes, dead_letters, jetstream, say, triggers, until

TWICE = 150
"""Breadcrumbs that are published twice: of so many some were answered twice."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A nats-server for the test."""
    with Broker(tmp_path / "broker") as running:
        yield running


async def deliver_again(js: JetStreamContext, start: int) -> None:
    """What an operator does who wants everything from a sequence on processed again; no worker may run."""
    await js.delete_consumer(BREADCRUMBS, DURABLE)
    config = ConsumerConfig(
        durable_name=DURABLE,
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start,
        ack_policy=AckPolicy.EXPLICIT,
        max_deliver=-1,
        filter_subject="breadcrumbs.>",
    )
    await js.add_consumer(BREADCRUMBS, config)


@pytest.mark.parametrize("how", ["the ack is lost", "it is handed back"])
async def test_a_delivery_that_comes_again_builds_the_same_bytes_and_publishes_nothing(
    how: str, tmp_path: Path, broker: Broker
) -> None:
    built: list[bytes] = []
    settled_once: set[int] = set()

    class Publisher(NatsPublisher):
        async def holds(self, context: Context) -> bool:  # as if the first context came between the look and the second one
            return await super().holds(context) and False

        async def publish(self, context: Context, event: bytes, times: str) -> None:
            built.append(event)
            await super().publish(context, event, times)

    class Delivery(NatsDelivery):
        async def ack(self) -> None:
            first = self.arrival.place.sequence not in settled_once
            settled_once.add(self.arrival.place.sequence)
            if not first:
                await super().ack()
            elif how == "it is handed back":
                await super().retry(0.01)

    parts = Parts(publisher=Publisher, delivery=Delivery)
    async with service_here(settings(tmp_path, broker.url, ack_wait_seconds=1), parts) as service:
        for number in range(3):
            await say(service.js, f"Message {number}.", "s1", f"m{number}")
        await all_settled(service.js)
        held = await context_bytes(service.js)
    assert len(built) == 6
    assert set(built) == set(held)
    assert len(held) == 3


async def test_a_repeated_attempt_says_nothing_to_a_plain_subscriber_once_the_context_is_there(
    tmp_path: Path, broker: Broker
) -> None:
    looked: list[bool] = []

    class Publisher(NatsPublisher):
        async def holds(self, context: Context) -> bool:
            looked.append(await super().holds(context))
            return looked[-1]

    parts = Parts(publisher=Publisher)
    async with worker_here(settings(tmp_path / "a", broker.url), parts) as bench:
        heard = await bench.js._nc.subscribe("contexts.>")
        sequence = await say(bench.js, "Hello.", "s1", "m1")
        await bench.process(sequence)
        assert looked == []  # a first attempt does not pay for it
        await bench.process(sequence)  # the durable was lost: only the store knows that it is a repeat
        async with worker_here(settings(tmp_path / "b", broker.url), parts) as other:  # only the broker knows
            delivery = await other.delivery(sequence)
            await other.worker.process(HandDelivery(replace(delivery.arrival, deliveries=2)))
        assert looked == [True, True]
        assert [done.outcome for done in bench.outcomes + other.outcomes] == ["published"] * 3
        await say(bench.js, "And now?", "s1", "m2")
        await bench.process(sequence + 1)
        assert [json.loads((await heard.next_msg()).data)["trigger_event_id"] for _ in range(2)] == ["m1", "m2"]


async def test_an_event_that_is_published_twice_is_answered_once_where_it_first_stood(tmp_path: Path, broker: Broker) -> None:
    async with worker_here(settings(tmp_path, broker.url)) as bench:
        await say(bench.js, "It rained on Monday.", "s1", "m0")
        first = await say(bench.js, "When did it rain?", "s1", "m1")
        again = await say(bench.js, "When did it rain?", "s1", "m1", message_id="after the window")
        assert again > first
        # The second one overtakes the first, which was handed back or lies with another worker.
        for sequence in (again, first):
            assert (await bench.process(sequence)).settled == ["ack"]
        (event,) = await answered(bench.js)
    assert event["trigger_seq"] == first
    assert event["content"].count("When did it rain?") == 1


async def test_an_event_that_is_published_again_after_its_context_has_expired_is_not_answered_again(
    tmp_path: Path, broker: Broker
) -> None:
    later = timedelta(0)
    async with worker_here(settings(tmp_path, broker.url), now=lambda: datetime.now(UTC) + later) as bench:
        await bench.process(await say(bench.js, "When did it rain?", "s1", "m1"))
        await js_forgets(bench.js)
        again = await bench.delivery(await say(bench.js, "When did it rain?", "s1", "m1", message_id="a day later"))
        later = timedelta(hours=24)
        await bench.worker.process(HandDelivery(replace(again.arrival, received_at=again.arrival.received_at + later)))
        assert [done.outcome for done in bench.outcomes] == ["published", "expired"]
        assert await answered(bench.js) == []


async def js_forgets(js: JetStreamContext) -> None:
    """As if the age limit of CONTEXTS had passed."""
    await js.delete_stream(CONTEXTS)
    await ensure_streams(js, Topology())


async def test_the_same_trigger_id_in_two_workspaces_is_answered_for_each(tmp_path: Path, broker: Broker) -> None:
    async with service_here(settings(tmp_path, broker.url)) as service:
        for workspace in ("acme", "globex"):
            await say(service.js, f"This is {workspace}.", "s1", "m1", workspace)
        await all_settled(service.js)
        events = await answered(service.js)
    assert triggers(events) == [("acme", "s1", "m1", "default"), ("globex", "s1", "m1", "default")]
    assert len({event["id"] for event in events}) == 2
    for event in events:
        assert f"This is {event['workspace']}." in event["content"]
        assert event["content"].count("This is") == 1


async def test_consumers_that_cannot_be_served_take_no_other_with_them(tmp_path: Path) -> None:
    original = (bundled_folder("templates") / "profiles" / "default.yaml").read_text("utf-8")
    # One has no room for anything, the page of the other is larger than the broker takes.
    for name, budget in (("a-tiny", 16), ("b-huge", 2_000_000), ("c-usual", 4000)):
        file = tmp_path / "templates" / "profiles" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{original}budget: {budget}\n", "utf-8")
    with Broker(tmp_path / "broker", max_payload="32KB") as broker:
        config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": tmp_path / "templates"})
        async with service_here(config) as service:
            for number in range(4):
                text = "".join(f"Line {line} of report {number}.\n" for line in range(600))
                last = await say(service.js, text, "s1", f"m{number}")
            await all_settled(service.js)
            letters = await dead_letters(service.js)
            consumers = {event["consumer_id"] for event in await answered(service.js) if event["trigger_seq"] == last}
    assert consumers == {"c-usual", "default"}
    assert letters[-1]["sequence"] == last
    assert "a-tiny: " in letters[-1]["reason"]
    assert "b-huge: the context has" in letters[-1]["reason"]


async def test_a_profile_that_is_edited_before_a_redelivery_changes_no_context(tmp_path: Path, broker: Broker) -> None:
    config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": tmp_path / "templates"})
    profile = tmp_path / "templates" / "profiles" / "default.yaml"
    profile.parent.mkdir(parents=True)
    original = (bundled_folder("templates") / "profiles" / "default.yaml").read_text("utf-8")
    profile.write_text(original, "utf-8")
    async with service_here(config) as service:
        sequence = await say(service.js, "Where do I set the API key?", "s1", "m1")
        await all_settled(service.js)
    async with jetstream(broker.url) as js:
        held = await context_bytes(js)
        profile.write_text(f"{original}budget: 500\n", "utf-8")
        await deliver_again(js, sequence)
        async with service_here(config):
            await all_settled(js)
            assert await context_bytes(js) == held
            await say(js, "And where is it read?", "s1", "m2")
            await all_settled(js)
            assert [event["token_budget"] for event in await answered(js)] == [4000, 500]


async def test_two_workers_answer_every_trigger_once_and_a_third_one_that_catches_up_builds_the_same_bytes(
    tmp_path: Path, broker: Broker
) -> None:
    workers = [Running(tmp_path / name, broker.url, (COMMAND, "worker"), worker__batch=4) for name in ("a", "b")]
    lengths = (*range(10, 15), MAX_SINGLE_GETS + 20)
    try:
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for worker in workers:
                worker.launch()
            await until(lambda: ready(*workers), "both workers")
            await asyncio.gather(*(talk(js, session, length) for session, length in enumerate(lengths)))
            last = [await say(js, "What was the last word?", f"s{session}", f"last-{session}") for session in range(6)]
            await all_settled(js)
            held = await context_bytes(js)
            spoken = [(session, str(number)) for session, length in enumerate(lengths) for number in range(0, length, 2)]
            asked = [("acme", f"s{session}", f"m{session}-{number}", "default") for session, number in spoken]
            asked += [("acme", f"s{session}", f"last-{session}", "default") for session in range(6)]
            assert triggers([json.loads(event) for event in held]) == sorted(asked)
            assert await dead_letters(js) == []
            for worker in workers:
                assert set(worker.outcomes()) == {"published", "remembered"}
                assert worker.stop() == 0
            await js_forgets(js)
            await deliver_again(js, last[0])
            async with service_here(settings(tmp_path / "third", broker.url)):
                await all_settled(js)
            rebuilt = await context_bytes(js)
    finally:
        for worker in workers:
            worker.kill()
    assert [json.loads(event)["trigger_seq"] for event in rebuilt] == last
    assert set(rebuilt) <= set(held)


async def test_a_plain_subscriber_hears_a_context_once_though_its_breadcrumb_came_twice_and_two_workers_share_the_copies(
    tmp_path: Path, broker: Broker
) -> None:
    workers = [Running(tmp_path / name, broker.url, (COMMAND, "worker"), embedding__engine="none") for name in ("a", "b")]
    heard: list[str] = []

    async def hear(message: Msg) -> None:
        heard.append(message.subject)

    try:
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for worker in workers:
                worker.launch()
            await until(lambda: ready(*workers), "both workers")
            await js._nc.subscribe("contexts.>", cb=hear)
            for number in range(TWICE):
                event = outgoing(make_record("user.message.v1", f"m{number}", f"s{number}", {"content": "Hello."}), "acme")
                for _ in range(2):
                    await js.publish(event.subject, event.data, stream=BREADCRUMBS)
            await all_settled(js)
            await js._nc.flush()
            assert len(await answered(js)) == TWICE
            assert len(heard) == len(set(heard)) == TWICE
    finally:
        for worker in workers:
            worker.kill()


async def ready(*workers: Running) -> bool:
    """Whether all of them hear breadcrumbs."""
    return all(worker.http for worker in workers)


async def talk(js: JetStreamContext, session: int, length: int) -> None:
    """A user and an agent in turn."""
    for number in range(length):
        schema = "agent.response.v1" if number % 2 else "user.message.v1"
        text = f"In session {session} number {number} is about {('kilns', 'glazes', 'orders', 'tyres')[number % 4]}."
        await say(js, text, f"s{session}", f"m{session}-{number}", schema=schema)
