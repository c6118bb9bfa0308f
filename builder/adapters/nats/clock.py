"""The broker's clock. It decides what is expired, old or due, whatever this computer's clock says."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from nats.aio.client import Client

from builder.adapters.nats.connection import translated
from builder.adapters.nats.topology import BREADCRUMBS
from builder.wire.subjects import Installation

PROBE_SECONDS = 1.0
"""How long a question to the broker waits."""
CLOCK_SECONDS = 5.0
"""Above this difference of two clocks nothing is purged."""
UTC_NOW = partial(datetime.now, UTC)


class BrokerClock:
    """The broker's time of its last answer, and what has passed since by this computer's uptime."""

    def __init__(
        self,
        connection: Client,
        installation: Installation,
        system: Callable[[], datetime] = UTC_NOW,
    ) -> None:
        """system: this computer's clock."""
        self._connection = connection
        self._subject = f"$JS.API.STREAM.INFO.{installation.stream(BREADCRUMBS)}"
        self._system = system
        self._answer: tuple[datetime, float] | None = None
        """The broker's time, and the uptime when it came."""

    def now(self) -> datetime:
        """Aware UTC. Before the first answer of a broker that has the stream it is this computer's time."""
        if self._answer is None:
            return self._system()
        moment, uptime = self._answer
        return moment + timedelta(seconds=monotonic() - uptime)

    async def ahead(self) -> float:
        """Ask anew: seconds by which this computer's clock is ahead, below 0 when it is behind. Raises `Unavailable`."""
        before = self._system()
        with translated("asking for the broker's time"):
            # nats-py leaves `ts`, the server's time of the answer, out of what it parses.
            reply = await self._connection.request(self._subject, timeout=PROBE_SECONDS)
        answer, after = json.loads(reply.data), self._system()
        if "ts" not in answer:
            return 0.0
        moment = datetime.fromisoformat(answer["ts"])
        self._answer = moment, monotonic()
        return max((before - moment).total_seconds(), 0) or min((after - moment).total_seconds(), 0)

    async def state(self) -> str:
        """How far this computer's clock is from the broker's; "" within CLOCK_SECONDS. Raises `Unavailable`."""
        ahead = await self.ahead()
        if abs(ahead) <= CLOCK_SECONDS:
            return ""
        difference = f"{abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'}"
        return f"this computer's clock is {difference} the broker's; set both by a time server: until then nothing is purged"
