"""Erasures outside a running service: what is left of them when a store is made again."""

from collections.abc import AsyncIterator

from nats.js import JetStreamContext

from builder.adapters.nats.stream import NatsArchive, NatsStream
from builder.app.settings import Settings
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.ports.store import CompleteStore, StoreLocation
from builder.remember.decode import decode
from builder.worker.erasure import Erasure
from builder.worker.log import StoredLog
from builder.worker.tombstones import LAST_TOMBSTONE


def erasure_of(settings: Settings, store: CompleteStore, js: JetStreamContext, incarnation: int) -> Erasure:
    """In this store and in the streams. incarnation: of the stream."""
    archive = NatsArchive(js, lambda: incarnation, settings.installation)
    return Erasure(StoredLog(store), archive, drop=lambda _workspace, _ids: 0)


async def tombstones(settings: Settings, stream: NatsStream, after: Place, until: Place) -> AsyncIterator[Breadcrumb]:
    """Those that can be read and remove something, in order. Raises `Unavailable`."""
    async for arrival in stream.tombstones(after, until):
        try:
            tombstone = decode(arrival, settings.worker.max_body_bytes, settings.lifetimes)
        except Rejected:
            continue
        if tombstone.removes:
            yield tombstone


async def end_erasures(settings: Settings, location: StoreLocation, js: JetStreamContext, stream: NatsStream) -> None:
    """Do what a worker would have done a minute after a tombstone, had it not been stopped. Raises `Unavailable`.

    location: of the store that knows under which ids nothing may stand. In one that is made without it a message that was refused
    beside the first version, and whose letter came after the erasure, would be the first one.
    """
    async with location.open() as store:
        after, last = await store.watermark(*LAST_TOMBSTONE), await stream.last()
        if after.incarnation == last.incarnation:
            pending = [each async for each in tombstones(settings, stream, after, last.next)]
            await erasure_of(settings, store, js, last.incarnation).erase_again(tuple(pending))
