"""A durable, a stream or the whole broker goes away: the service goes on, answers nothing again, and says how it is."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from builder.adapters.nats.inbox import BackgroundInbox
from builder.adapters.nats.topology import (
    BREADCRUMBS,
    CONTEXTS,
    DEADLETTERS,
    DURABLE,
    FLOOR,
    Topology,
    ensure_streams,
    replayed_breadcrumbs,
)
from builder.app.components import Parts
from builder.app.service import open_service, serving
from builder.connection.names import Installation
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured
from builder.ports.stream import Delivery
from tests.integration.inside import service_here, settings
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, say, triggers, until
from tests.stores import Method, changed_stores, durable_store

BOUND_AGAIN = "was bound again"
WATCHFUL = (str(Path(__file__).with_name("watchful.py")),)


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker) -> Iterator[Running]:
    with Running(folder / "service", broker.url, WATCHFUL, worker__ack_wait_seconds=2) as running:
        yield running


async def bound(js: JetStreamContext) -> bool:
    """Whether the durable is there and somebody asks it for messages."""
    try:
        return bool((await js.consumer_info(BREADCRUMBS, DURABLE)).num_waiting)
    except NotFoundError:
        return False


async def answers(js: JetStreamContext, workspace: str, *expected: str) -> None:
    """Wait until everything is settled; these triggers have one context each, and no others have any."""
    await until(lambda: bound(js), "the subscription to be back")
    await all_settled(js)
    assert triggers(await answered(js, workspace)) == sorted((workspace, "s1", name, "default") for name in expected)


async def test_a_deleted_durable_is_made_again_and_nothing_is_answered_again(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        for name in ("m1", "m2"):
            await say(js, f"This is {name}.", "s1", name, workspace)
        await answers(js, workspace, "m1", "m2")
        before = service.outcomes().count("published")
        await js.delete_consumer(BREADCRUMBS, DURABLE)
        await say(js, "This is m3.", "s1", "m3", workspace)
        await answers(js, workspace, "m1", "m2", "m3")
        # The floor is noted now and then, so a few may be tried again; the server refuses their contexts.
        assert service.outcomes().count("published") > before
        assert service.get("/livez")[0] == 200


async def test_a_durable_that_is_lost_at_once_does_not_make_a_fresh_installation_answer_history(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for number in range(5):
                await say(js, f"Old {number}.", "s1", f"old-{number}")
            async with service_here(settings(tmp_path, broker.url), Parts(watch_seconds=0.1)):
                await js.delete_consumer(BREADCRUMBS, DURABLE)
                await say(js, "New.", "s1", "new")
                await answers(js, "acme", "new")


async def test_nobody_but_the_watchdog_makes_the_durable_and_no_service_starts_without_it(tmp_path: Path) -> None:
    noted: list[Place] = []

    def noting(advance: Method) -> Method:
        async def advance_and_note(kind: str, name: str, place: Place) -> None:
            await advance(kind, name, place)
            noted.extend([place] * ((kind, name) == FLOOR))

        return advance_and_note

    async def has_looked() -> bool:
        return len(noted) >= 2

    parts = Parts(stores=changed_stores(advance=noting), watch_seconds=3600)
    async with open_service(settings(tmp_path), parts) as service:
        await until(has_looked, "the watchdog to have looked once, after its preparation")
        await service.js.delete_consumer(BREADCRUMBS, DURABLE)
        with pytest.raises(Misconfigured):
            async with serving(service):
                pytest.fail("it serves")
        with pytest.raises(NotFoundError):
            await service.js.consumer_info(BREADCRUMBS, DURABLE)


async def test_a_stream_that_was_made_again_goes_on_after_the_old_one(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        await say(js, "The blue kiln is K-4711.", "s1", "m1", workspace)
        await answers(js, workspace, "m1")
        await js.delete_stream(BREADCRUMBS)
        await ensure_streams(js, Topology())
        await say(js, "The blue kiln is K-4711.", "s1", "m1", workspace)
        await say(js, "Which kiln is blue?", "s1", "m2", workspace)
        await answers(js, workspace, "m1", "m2")
        (last,) = (event for event in await answered(js, workspace) if event["trigger_event_id"] == "m2")
        assert last["trigger_seq"] == 2
        assert last["content"].count("The blue kiln is K-4711.") == 1
        assert service.get("/readyz")[0] == 200


async def test_a_stream_that_is_only_deleted_comes_back(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        await say(js, "Hello.", "s1", "m1", workspace)
        await answers(js, workspace, "m1")
        for stream in (BREADCRUMBS, DEADLETTERS):
            await js.delete_stream(stream)
        await until(lambda: there(js, BREADCRUMBS, DEADLETTERS), "the streams to be back")
        await js.publish(f"breadcrumbs.{workspace}.s1.user.message.v1", b"{", stream=BREADCRUMBS)
        await say(js, "Hello again.", "s1", "m2", workspace)
        await answers(js, workspace, "m1", "m2")
        assert len(await dead_letters(js)) == 1


async def test_imports_into_a_stream_that_was_made_again_are_all_delivered_with_their_new_places(broker: Broker) -> None:
    taken: list[Place] = []

    async def process(delivery: Delivery) -> None:
        taken.append(delivery.arrival.place)
        await delivery.ack()

    async def arrived() -> bool:
        await inbox.look()
        return len(taken) >= 3 and await ledger.watermark("", listening.ledger) == Place(known, 3)

    own = Installation("background")
    streams, listening, ledger = Topology(installation=own), replayed_breadcrumbs(own), durable_store()
    async with jetstream(broker.url) as js:
        known = current = await ensure_streams(js, streams)
        await ledger.advance(*FLOOR, Place(known, 0))
        inbox = BackgroundInbox(js._nc, streams, ledger, lambda: known, listening, process)
        for is_new in (False, True):
            taken.clear()
            if is_new:
                await js.delete_stream(listening.stream)
                current = await ensure_streams(js, streams)
            for _ in range(3):
                await js.publish(own.subject("breadcrumbs.acme.s1.note.v1"), b"{}", stream=listening.stream)
            await inbox.look()  # the watchdog has not seen the new stream yet
            known = current
            await until(arrived, "three deliveries")
            assert taken == [Place(known, number) for number in (1, 2, 3)]
        await inbox.close()


async def there(js: JetStreamContext, *streams: str) -> bool:
    return set(streams) <= {str(info.config.name) for info in await js.streams_info()}


async def test_a_purge_stops_nothing(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        await say(js, "The blue kiln is K-4711.", "s1", "m1", workspace)
        await answers(js, workspace, "m1")
        await js.purge_stream(BREADCRUMBS)
        await say(js, "Which kiln is blue?", "s1", "m2", workspace)
        await answers(js, workspace, "m1", "m2")
        assert "K-4711" in (await answered(js, workspace))[-1]["content"]


async def test_health_tells_when_the_stream_would_break_a_promise(service: Running) -> None:
    assert service.get("/livez")[0] == service.get("/readyz")[0] == 200
    async with jetstream(service.url) as js:
        config = (await js.stream_info(CONTEXTS)).config
        await js.update_stream(config.evolve(discard_new_per_subject=False))
        await until(lambda: health(service, 503), "the service to notice")
        assert "discard_new_per_subject" in service.get("/readyz")[1]
        await js.update_stream(config)
        await until(lambda: health(service, 200), "the service to recover")


async def health(service: Running, wanted: int) -> bool:
    return service.get("/livez")[0] == service.get("/readyz")[0] == wanted


async def test_two_workers_notice_both_that_the_stream_is_another_one(service: Running, tmp_path: Path, workspace: str) -> None:
    with Running(tmp_path / "other", service.url, WATCHFUL, worker__ack_wait_seconds=2) as other:
        async with jetstream(service.url) as js:
            before = service.said().count(BOUND_AGAIN)
            await js.delete_stream(BREADCRUMBS)
            await ensure_streams(js, Topology())
            new = (await js.stream_info(BREADCRUMBS)).created
            assert new is not None
            await until(lambda: rebound((service, before), (other, 0)), "both workers to notice")
            names = [f"m{number}" for number in range(20)]
            for name in names:
                await say(js, f"This is {name}.", "s1", name, workspace)
            await answers(js, workspace, *names)
        incarnations = set()
        for data in (tmp_path / "other", Path(service.env["CONTEXT_BUILDER_DATA_DIR"])):
            with closing(sqlite3.connect(data / "store.sqlite3")) as store:
                incarnations |= set(store.execute("SELECT incarnation FROM breadcrumbs WHERE workspace = ?", (workspace,)))
    assert incarnations == {(int(new.timestamp() * 1_000_000),)}


async def rebound(*workers: tuple[Running, int]) -> bool:
    """Whether each of them has bound again more often than so many times."""
    return all(worker.said().count(BOUND_AGAIN) > before for worker, before in workers)


async def test_a_killed_broker_is_waited_for_and_everything_is_answered_once(
    service: Running, broker: Broker, workspace: str
) -> None:
    async with jetstream(service.url) as js:
        for number in range(30):
            await say(js, f"Before {number}.", "s1", f"before-{number}", workspace)
    broker.kill()
    status, body = service.get("/readyz")
    assert status == 503
    assert json.loads(body)["parts"]["store"] == "ok"
    assert service.get("/livez")[0] == 200
    broker.start()
    async with jetstream(service.url) as js:
        for number in range(30):
            await say(js, f"After {number}.", "s1", f"after-{number}", workspace)
        await answers(js, workspace, *(f"{when}-{number}" for when in ("before", "after") for number in range(30)))
        assert not [letter for letter in await dead_letters(js) if workspace in letter["subject"]]
    await until(lambda: health(service, 200), "the service to be well again")
