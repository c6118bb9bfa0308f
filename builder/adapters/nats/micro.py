"""The requests as a NATS micro service (ADR-32): one that tools discover, describe and count by `$SRV.PING`, `INFO`, `STATS`.

nats-py's own service waits for one answer before it reads the next request; `requests.py` answers at the same time.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.micro.service import DEFAULT_PREFIX, EndpointInfo, EndpointStats, ServiceInfo, ServicePing, ServiceStats
from nats.nuid import NUID

from builder.wire.subjects import REQUESTS, Installation

DESCRIPTION = "Remembers what an agent system says, and answers what each agent needs to know of it."


class MicroService:
    """One instance of the service, for as long as its process runs."""

    def __init__(self, installation: Installation, version: str, endpoints: Mapping[str, Mapping[str, str]]) -> None:
        """version: semantic. endpoints: verb → metadata."""
        self._endpoints = endpoints
        self._counts = {
            verb: EndpointStats(verb, installation.subject(f"{REQUESTS}.*.{verb}"), installation.queue, 0, 0, 0, 0, "")
            for verb in endpoints
        }
        self._started = datetime.now(UTC)
        self._own: dict[str, Any] = {"id": NUID().next().decode(), "name": installation.name, "version": version}

    def count(self, verb: str, outcome: str, seconds: float) -> None:
        """Count a request. outcome: `ok`, or the kind of its error: texts of errors quote what people said."""
        if (counts := self._counts.get(verb)) is not None:
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
        answers: dict[str, ServicePing | ServiceInfo | ServiceStats] = {
            "PING": ServicePing(**self._own),
            "INFO": ServiceInfo(**self._own, description=DESCRIPTION, endpoints=self._described()),
            "STATS": ServiceStats(**self._own, started=self._started, endpoints=[*self._counts.values()]),
        }
        answer = answers.get(message.subject.split(".")[1])
        if answer is not None and message.reply:
            await message.respond(json.dumps(answer.to_dict()).encode())

    def _described(self) -> list[EndpointInfo]:
        return [
            EndpointInfo(each.name, each.subject, each.queue_group, dict(self._endpoints[each.name]))
            for each in self._counts.values()
        ]
