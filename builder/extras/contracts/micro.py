"""The requests as a NATS micro service (ADR-32): one that tools discover, describe and count by `$SRV.PING`, `INFO`, `STATS`.

nats-py's own service waits for one answer before it reads the next request; `adapters/nats/requests.py` answers at the same time.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.micro.service import DEFAULT_PREFIX, EndpointInfo, EndpointStats, ServiceInfo, ServicePing, ServiceStats
from nats.nuid import NUID

from builder import __version__
from builder.app.doors import Door, DoorParts
from builder.app.requests import all_requests
from builder.connection.names import Installation
from builder.extras.contracts.descriptions import metadata
from builder.wire.requests import OF_AGENT
from builder.wire.subjects import REQUESTS

DESCRIPTION = "Remembers what an agent system says, and answers what each agent needs to know of it."


def _subject(name: str) -> str:
    return f"{REQUESTS}.*.{name}" + (".*" if name in OF_AGENT else "")


class MicroService:
    """One instance of the service, for as long as its process runs."""

    def __init__(self, installation: Installation, version: str, names: Iterable[str]) -> None:
        """version: semantic."""
        self._counts = {
            name: EndpointStats(name, installation.subject(_subject(name)), installation.name, 0, 0, 0, 0, "") for name in names
        }
        self._started = datetime.now(UTC)
        self._own: dict[str, Any] = {"id": NUID().next().decode(), "name": installation.name, "version": version}

    def count(self, name: str, outcome: str, seconds: float) -> None:
        """Count a request. outcome: `ok`, or the kind of its error: texts of errors quote what people said."""
        if (counts := self._counts.get(name)) is not None:
            counts.num_requests += 1
            counts.processing_time += round(seconds * 1e9)
            counts.average_processing_time = counts.processing_time // counts.num_requests
            counts.num_errors += outcome != "ok"
            counts.last_error = counts.last_error if outcome == "ok" else outcome

    @asynccontextmanager
    async def discoverable(self, connection: Client) -> AsyncIterator[None]:
        """Answer while the block runs. Where the broker denies `$SRV.>`, requests are answered all the same."""
        kind = f"{DEFAULT_PREFIX}.*.{self._own['name']}"
        subjects = (f"{DEFAULT_PREFIX}.*", kind, f"{kind}.{self._own['id']}")
        subscriptions = [await connection.subscribe(subject, cb=self._hear) for subject in subjects]
        try:
            yield
        finally:
            if not connection.is_closed:
                for subscription in subscriptions:
                    await subscription.unsubscribe()

    async def _hear(self, message: Msg) -> None:
        answer = await self._answer(message.subject.split(".")[1]) if message.reply else None
        if answer is not None:
            await message.respond(json.dumps(answer.to_dict()).encode())

    async def _answer(self, kind: str) -> ServicePing | ServiceInfo | ServiceStats | None:
        if kind == "PING":
            return ServicePing(**self._own)
        if kind == "INFO":
            schemas = await asyncio.to_thread(metadata)  # made when somebody asks: they cost a start its time
            endpoints = [
                EndpointInfo(each.name, each.subject, each.queue_group, schemas[each.name]) for each in self._counts.values()
            ]
            return ServiceInfo(**self._own, description=DESCRIPTION, endpoints=endpoints)
        if kind == "STATS":
            return ServiceStats(**self._own, started=self._started, endpoints=[*self._counts.values()])
        return None


@asynccontextmanager
async def open_door(parts: DoorParts) -> AsyncIterator[Door]:
    """The service can be discovered while it is open."""
    micro = MicroService(parts.settings.installation, __version__, all_requests())
    async with micro.discoverable(parts.connection):
        yield Door(observe=micro.count)
