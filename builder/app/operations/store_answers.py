"""Requests that change nothing, answered from the store and the streams while no service runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from nats.aio.client import Client

from builder.adapters.nats.archive import NatsArchive
from builder.adapters.nats.server import ANY_PORT, embedded_server
from builder.app.broker import connected, streams_folder
from builder.app.components import open_components
from builder.app.operations.explanations import Explanations
from builder.app.operations.replays import Replays
from builder.app.settings import Settings
from builder.app.stores import locate_store
from builder.domain.breadcrumb import Place
from builder.domain.errors import Unavailable
from builder.domain.record_consumers import Definitions
from builder.ports.store import BreadcrumbStore
from builder.publish.event import DEFAULT_MAX_BYTES
from builder.recall.definitions import definitions_as_of
from builder.worker.consumers import unexpired
from builder.worker.request_handlers import Contexts, Lookup, stay

READERS = frozenset({"fetch", "history"})
"""Verbs that need the store alone."""


async def answer_from_store(settings: Settings, servers: str, workspace: str, verb: str, data: bytes) -> dict[str, Any]:
    """The answer to fetch, history, context, explain, why or replay.

    servers: of the broker that keeps the contexts; "" = the embedded one, which is started on the data folder for the question.
    Raises `Rejected`, `Unavailable`, and `Misconfigured` while another process uses the data folder.
    """
    if verb in READERS:
        async with locate_store(settings).open() as store:
            return await Lookup(store, lambda: datetime.now(UTC)).verbs[verb](workspace, data)
    async with _broker(settings, servers) as connection:
        archive = NatsArchive(connection.jetstream(), lambda: 0, settings.installation)
        if verb == "context":
            async with locate_store(settings).open() as store:
                return await Contexts(store, archive).context(workspace, data)
        async with open_components(settings) as core:
            before = partial(_definitions_before, core.store)
            replays = Replays(lambda: core, archive, stay, before, DEFAULT_MAX_BYTES)
            return await Explanations(replays, core.store).verbs[verb](workspace, data)


async def _definitions_before(store: BreadcrumbStore, workspace: str, place: Place, moment: datetime) -> Definitions:
    """As `DefinitionReader.before`, without a stream to ask."""
    return unexpired(await definitions_as_of(store, workspace, place.previous), moment)


@asynccontextmanager
async def _broker(settings: Settings, servers: str) -> AsyncIterator[Client]:
    """The broker at the addresses, or the embedded one without its service. Raises `Unavailable` and `Misconfigured`."""
    if servers:
        async with connected(settings, servers) as connection:
            yield connection
        return
    data = streams_folder(settings)
    if not data.exists():
        raise Unavailable(f"no service answers, and there are no streams in {data}; start the service")
    async with embedded_server(data, ANY_PORT) as server, connected(settings, server.url) as connection:
        yield connection
