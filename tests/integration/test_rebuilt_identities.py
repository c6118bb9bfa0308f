"""A store that is made again has the same breadcrumbs under each id."""

from pathlib import Path

from nats.js import JetStreamContext

from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, DEADLETTERS, Topology, ensure_streams
from builder.app.broker import connected, locate_store
from builder.domain.breadcrumb import TOMBSTONE, StreamMessage
from builder.extras.operations.maintenance import rebuild_store
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing
from builder.worker.erasure import OF_NEW_SECRET
from builder.worker.tombstones import LAST_TOMBSTONE
from tests.factories import remembered_of
from tests.integration.inside import settings
from tests.running import Broker, jetstream, say


async def test_what_was_refused_beside_a_forgotten_message_does_not_take_its_id_in_the_rebuilt_store(tmp_path: Path) -> None:
    """Its dead letter comes after the erasure, and the worker stops before it looks once more."""
    with Broker(tmp_path / "broker") as broker:
        local, nothing = settings(tmp_path / "service", broker.url), lambda _sequence, _last: None
        async with jetstream(broker.url) as js, connected(local, broker.url) as connection:
            await ensure_streams(js, Topology())
            await say(js, "The rent is 950 euros.", "s1", "rent")
            taken = outgoing(make_record("agent.response.v1", "rent", "_", {"message": "I never said that."}, version=2), "acme")
            await js.publish(taken.subject, taken.data, stream=BREADCRUMBS)
            assert await rebuild_store(local, nothing) == {"remembered": 1, "rejected": 1}
            (_, rival), _ = await arrivals(js), await say(js, "", "s1", "t", schema=TOMBSTONE, body={"breadcrumb_id": "rent"})
            *_, tombstone = await arrivals(js)
            async with locate_store(local).open() as store:
                await store.remember(remembered_of(decode(tombstone)))
                await store.erase("acme", "s1", "rent", tombstone.place)
            await js.delete_msg(BREADCRUMBS, 1)
            await NatsPublisher(connection, 1_000_000).dead_letter(rival, "of another session")
            assert await rebuild_store(local, nothing) == {"remembered": 1, "rejected": 0}
            assert (await js.stream_info(DEADLETTERS)).state.messages == 0
            async with locate_store(local).open() as store:
                assert await store.versions("acme", "rent") == ()


async def test_what_was_stored_before_a_secret_that_stands_before_it_goes_with_that(tmp_path: Path) -> None:
    """Its session was read first, and the tombstone of the secret says that nothing else had stood under its id."""
    with Broker(tmp_path / "broker") as broker:
        local, nothing = settings(tmp_path / "service", broker.url), lambda _sequence, _last: None
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            secret = make_record("note.v1", "code", "s1", {"content": "4711"}) | {"sensitivity": "secret"}
            taken = make_record("note.v1", "code", "s2", {"content": "Mine."}, version=2)
            tombstone = make_record(TOMBSTONE, "t", "s1", {"breadcrumb_id": "code", "reason": OF_NEW_SECRET})
            for event in (outgoing(record, "acme") for record in (secret, taken, tombstone)):
                await js.publish(event.subject, event.data, stream=BREADCRUMBS)
            first, *later = await arrivals(js)
            await js.delete_msg(BREADCRUMBS, 1)
            async with locate_store(local).open() as store:
                for arrival in (later[0], first, later[1]):
                    await store.remember(remembered_of(decode(arrival)))
                await store.advance(*LAST_TOMBSTONE, first.place)
            assert await rebuild_store(local, nothing) == {"remembered": 1, "rejected": 0}
            async with locate_store(local).open() as store:
                assert await store.versions("acme", "code") == ()


async def arrivals(js: JetStreamContext) -> list[StreamMessage]:
    incarnation = await ensure_streams(js, Topology())
    stream = NatsStream(js, lambda: incarnation, BREADCRUMBS)
    return [arrival async for arrival in stream.everything(0, (await stream.last()).next)]
