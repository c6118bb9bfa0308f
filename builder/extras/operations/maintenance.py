"""The store: rebuilt from the stream, brought to another model, copied, purged."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

from nats.aio.client import Client

from builder.adapters.nats.clock import BrokerClock
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import (
    BREADCRUMBS,
    FILL_PLACE,
    FLOOR,
    current_incarnation,
    ensure_streams,
    original_incarnation,
)
from builder.adapters.sql.copying import copy_store
from builder.adapters.sql.store import SqlStore
from builder.app.address import running
from builder.app.broker import connected, locate_store, location, open_bus, topology
from builder.app.components import open_components
from builder.app.settings import Settings
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Misconfigured, Rejected
from builder.domain.recall import EVERY_SESSION
from builder.extras.operations.erasures import end_erasures, erasure_of, tombstones
from builder.extras.operations.purging import Purging, purge_rows
from builder.ports.store import CallOrigin, CompleteStore, StoreLocation
from builder.remember.decode import decode
from builder.worker.log import StoredLog
from builder.worker.tombstones import LAST_TOMBSTONE

log = logging.getLogger("builder.reindex")

MAX_LAG = 1_000
"""Breadcrumbs that may come while a store is filled and are left to its workers: else it ends only when nobody writes."""

REINDEX_STEPS = (
    "under systemd `systemctl stop context-builder`, the command, `systemctl start context-builder`; with compose "
    "`docker compose stop context-builder`, `docker compose run --rm context-builder reindex`, `docker compose start "
    "context-builder`; with Helm `helm upgrade RELEASE CHART --reset-then-reuse-values --set reindex=true`, which rebuilds "
    "before the pod's service starts, and then the same with reindex=false; with PostgreSQL the same with replicas=0 goes before"
)
"""For a running service."""


async def rebuild_store(settings: Settings, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Rebuild the store from the stream.

    progress: (sequence, last). Raises `Misconfigured` while the service runs, or if only the store has old breadcrumbs.
    """
    store = locate_store(settings)
    if service := running(settings):
        raise Misconfigured(f"the service of process {service.pid} runs on this store; stop the service first: {REINDEX_STEPS}")
    async with AsyncExitStack() as stack:
        try:
            old, fresh = await stack.enter_async_context(store.rebuild())
        except Misconfigured as error:
            raise Misconfigured(f"{error}: {REINDEX_STEPS}" if await store.exists() else str(error)) from error
        _, connection, _ = await stack.enter_async_context(open_bus(settings))
        stream, floor, origins = await _stream_of(settings, connection, old)
        if old:
            await end_erasures(settings, old, connection.jetstream(), stream)
        return await _fill(settings, fresh, stream, floor, origins, progress)


async def switch_model(settings: Settings, servers: str, url: str, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Fill another store with vectors of the settings' model, beside the running service; a second run goes on.

    progress: (sequence, last). Raises `Misconfigured` for the store of the service, `Unavailable`.
    """
    store, target = locate_store(settings), location(url)
    if target.name == store.name:
        raise Misconfigured(f"{store.name} is the store of the service; name a new one for the other model, as sqlite:PATH")
    if await target.exists():
        async with target.open():  # refuses what a service would
            pass
    async with target.alone() as own, connected(settings, servers) as connection:
        old = store if await store.exists() else None
        return await _fill(settings, own, *await _stream_of(settings, connection, old), progress)


async def _stream_of(
    settings: Settings, connection: Client, store: StoreLocation | None
) -> tuple[NatsStream, Place, tuple[CallOrigin, ...]]:
    js = connection.jetstream()
    incarnation = await ensure_streams(js, topology(settings))
    stream = NatsStream(js, lambda: incarnation, BREADCRUMBS, settings.installation)
    original = await original_incarnation(js, settings.installation)
    return stream, *await _examine(store, original, await stream.first(), await stream.last())


async def migrate(settings: Settings) -> str:
    """Bring the store's schema to this release; returns where it is. Raises `Misconfigured`, `Unavailable`."""
    store = locate_store(settings)
    async with store.open():
        return store.name


async def migrate_store(source: str, target: str, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Copy the store of one URL to another's, or go on with it; returns rows by table.

    progress: (rows so far, all rows). Raises `Misconfigured` without a source, `Rejected` if they differ then, `Unavailable`.
    """
    locations = location(source), location(target)
    if locations[0].name == locations[1].name:
        raise Misconfigured(f"{locations[0].name} is named twice; name an empty store as the second")
    if not await locations[0].exists():
        raise Misconfigured(f"{locations[0].name} is no store; name the one that the service wrote, as sqlite:PATH")
    async with AsyncExitStack() as stack:
        own = [await stack.enter_async_context(each.alone()) for each in locations]
        old, new = [await stack.enter_async_context(each.open()) for each in own]
        if not (isinstance(old, SqlStore) and isinstance(new, SqlStore)):
            raise Misconfigured("only stores in databases are copied: sqlite: and postgresql:")
        return await copy_store(old.connection, new.connection, progress)


async def purge_store(settings: Settings, servers: str, *, dry_run: bool) -> list[dict[str, Any]]:
    """Erase breadcrumbs that have expired by the broker's clock, and all made from them; a row per workspace and schema.

    dry_run: erases nothing. Raises `Unavailable`, and `Rejected` when the clocks differ.
    """
    store_location = locate_store(settings)
    if not await store_location.exists():
        return []
    async with store_location.open() as store, connected(settings, servers) as connection:
        clock = BrokerClock(connection, settings.installation)
        if problem := await clock.state():
            raise Rejected(problem)
        moment = clock.now()
        over = purge_rows(await store.ended(moment))
        if dry_run or not over:
            return [asdict(row) for row in over]
        js = connection.jetstream()
        incarnation = await current_incarnation(js, settings.installation)
        purging = Purging(StoredLog(store), erasure_of(settings, store, js, incarnation))
        return [asdict(row) for row in await purging.run(moment)]


async def _fill(
    settings: Settings,
    store_location: StoreLocation,
    stream: NatsStream,
    floor: Place,
    origins: tuple[CallOrigin, ...],
    progress: Callable[[int, int], None],
) -> dict[str, int]:
    counts = {"remembered": 0, "rejected": 0}
    sessions: set[tuple[str, str]] = set()
    async with open_components(settings, store_location) as core:
        await core.embedder.ready()
        await core.store.add_call_origins(origins)
        memory, waiting = core.builder.memory, list[Breadcrumb]()

        async def remember() -> None:
            """Computes facts concurrently, so that an engine gets batches; stores in order."""
            facts = await asyncio.gather(*map(memory.ingest.facts, waiting))
            for breadcrumb, each in zip(waiting, facts, strict=True):
                try:
                    await memory.remember(breadcrumb, each)
                    sessions.update(((breadcrumb.workspace, breadcrumb.session), (breadcrumb.workspace, EVERY_SESSION)))
                    counts["remembered"] += 1
                except Rejected:
                    counts["rejected"] += 1
            waiting.clear()

        reached, last = await core.store.watermark(*FILL_PLACE), await stream.last()
        start_place = last
        # A service that goes on with a half of it follows every tombstone.
        await core.store.advance(*LAST_TOMBSTONE, Place(last.incarnation, 0))
        while last > reached:
            start = reached.sequence if reached.incarnation == last.incarnation else 0
            async for arrival in stream.everything(start, Place(last.incarnation, last.sequence + 1)):
                try:
                    waiting.append(decode(arrival, settings.worker.max_body_bytes, settings.lifetimes))
                except Rejected:
                    counts["rejected"] += 1
                if len(waiting) >= memory.ingest.embedder.batch:
                    await remember()
                    await core.store.advance(*FILL_PLACE, arrival.place)
                progress(arrival.place.sequence, last.sequence)
            await remember()
            for workspace, session in (*sorted(sessions), FILL_PLACE):
                await core.store.advance(workspace, session, last)
            reached, last = last, await stream.last()
            if last.sequence - reached.sequence < MAX_LAG:
                break
        await _follow_tombstones(settings, core.store, stream, last.next)
        await core.store.advance(*LAST_TOMBSTONE, start_place)
        await core.store.advance(*FLOOR, floor)
    return counts


async def _follow_tombstones(settings: Settings, store: CompleteStore, stream: NatsStream, until: Place) -> None:
    """Erase what was forgotten while its copy was made; a message is deleted after its tombstone has come."""
    sessions = set[str]()
    async for tombstone in tombstones(settings, stream, await store.watermark(*LAST_TOMBSTONE), until):
        await store.erase(tombstone.workspace, tombstone.session, tombstone.removes, tombstone.place)
        sessions |= {each.session for each in await store.traces(tombstone.workspace, tombstone.removes)}
    await store.vacuum(frozenset(sessions))


async def _examine(
    store_location: StoreLocation | None, original: int, first: Place, last: Place
) -> tuple[Place, tuple[CallOrigin, ...]]:
    """The ack floor and the callers of a store that is made again; None = there is none."""
    if store_location is None:
        if first.sequence > 1:
            log.warning("the stream begins at %d: breadcrumbs that came before are not made again", first.sequence)
        return Place(0, 0), ()
    async with store_location.open() as store:
        older = await store.count_before(Place(original, first.sequence))
        if older:
            raise Misconfigured(
                f"{older} breadcrumbs of {store_location.name} are older than the stream and would be lost; "
                "keep the file, or move it away to go on without them"
            )
        newer = await store.count() - await store.count_before(Place(last.incarnation, last.sequence + 1))
        if newer:
            log.warning("%d breadcrumbs of %s are newer than the stream and go with the old store", newer, store_location.name)
        # A floor above the stream's end would keep a new durable from what comes next.
        return min(await store.watermark(*FLOOR), last), await store.call_origins(first.incarnation)
