"""One trigger, one consumer, one context: however often it is delivered, published, or by whom it is built."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.topology import BREADCRUMBS, DURABLE, Topology, ensure_streams
from builder.app.components import Parts
from builder.domain.context import Context
from builder.wire.records import make_record, outgoing
from tests.commands import COMMAND
from tests.integration.inside import service_here, settings, worker_here
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, all_settled, answered, context_bytes, dead_letters, jetstream, say, until

TWICE = 150
"""Breadcrumbs that are published twice: of so many some were answered twice."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
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


async def test_consumers_that_cannot_be_served_take_no_other_with_them(tmp_path: Path) -> None:
    # One has no room for anything, the page of the other is larger than the broker takes.
    budgets = {"a-tiny": 16, "b-huge": 2_000_000, "c-usual": 4000}
    templates = with_profiles(tmp_path, {name: f"extends: default\nbudget: {budget}\n" for name, budget in budgets.items()})
    with Broker(tmp_path / "broker", max_payload="32KB") as broker:
        config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": templates})
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
    templates = with_profiles(tmp_path, {"default": "extends: default\n"})
    config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": templates})
    async with service_here(config) as service:
        sequence = await say(service.js, "Where do I set the API key?", "s1", "m1")
        await all_settled(service.js)
    async with jetstream(broker.url) as js:
        held = await context_bytes(js)
        with_profiles(tmp_path, {"default": "extends: default\nbudget: 500\n"})
        await deliver_again(js, sequence)
        async with service_here(config):
            await all_settled(js)
            assert await context_bytes(js) == held
            await say(js, "And where is it read?", "s1", "m2")
            await all_settled(js)
            assert [event["token_budget"] for event in await answered(js)] == [4000, 500]


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
