"""Checks the broker's storage, by publishing an empty message because no query can tell, and the broker's clock."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, PROBES, PROBES_SUBJECT
from builder.client.connecting import reason, translated
from builder.wire.subjects import DEFAULT, Installation

PROBE_SECONDS = 1.0
"""How long a probe waits."""
CLOCK_SECONDS = 5.0
"""A smaller difference of two clocks is no problem."""


async def clock_state(connection: Client, installation: Installation, now: Callable[[], datetime]) -> str:
    """How far this computer's clock is from the broker's; empty within CLOCK_SECONDS, and before the first start made a stream.

    now: of this computer. Raises `Unavailable`.
    """
    before = now()
    with translated("the broker does not tell its time", "look at the connection"):
        # nats-py leaves `ts`, the server's time of the answer, out of what it parses.
        reply = await connection.request(f"$JS.API.STREAM.INFO.{installation.stream(BREADCRUMBS)}", timeout=PROBE_SECONDS)
    answer = json.loads(reply.data)
    there, after = datetime.fromisoformat(answer["ts"]) if "ts" in answer else before, now()
    ahead = max((before - there).total_seconds(), 0) or min((after - there).total_seconds(), 0)
    if abs(ahead) <= CLOCK_SECONDS:
        return ""
    direction = "ahead of" if ahead > 0 else "behind"
    return (
        f"this computer's clock is {abs(ahead):,.0f} s {direction} the broker's; set both by a time server: a trigger that is a "
        "day old by this clock gets no context"
    )


class Probe:
    """What an operator wants to know of the streams' storage."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        self._js = js
        self._installation = installation
        self.sizes: Mapping[str, int] = {BREADCRUMBS: 0, CONTEXTS: 0, DEADLETTERS: 0}
        """Bytes by stream, as of the last `measure`."""
        self.letters = 0
        """Messages of DEADLETTERS, as of the last `measure`."""

    async def state(self) -> str:
        """Why the broker refuses what is published, empty when it takes it."""
        own = self._installation
        try:
            await self._js.publish(own.subject(PROBES_SUBJECT), b"", timeout=PROBE_SECONDS, stream=own.stream(PROBES))
        except APIError as error:
            return f"the broker stores nothing now: {error.description}; free its storage, or raise its limits"
        except (NatsError, OSError) as error:
            return f"the broker did not take a message: {reason(error)}; look at its disk, its load and the connection"
        return ""

    async def measure(self) -> None:
        """Look at the sizes. Raises errors of nats-py."""
        states = {name: (await self._js.stream_info(self._installation.stream(name))).state for name in self.sizes}
        self.sizes = {name: int(state.bytes) for name, state in states.items()}
        self.letters = int(states[DEADLETTERS].messages)
