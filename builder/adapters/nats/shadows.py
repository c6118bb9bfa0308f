"""`ShadowDifferences` on JetStream."""

import logging
from collections.abc import AsyncIterator

from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from typing_extensions import override

from builder.adapters.nats.errors import translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, SHADOWS, Topology, shadows_config
from builder.domain.breadcrumb import Place
from builder.domain.shadow_difference import ShadowDifference
from builder.ports.broker import ShadowDifferences
from builder.wire.shadows import decode_difference, encode_difference, shadow_subject

log = logging.getLogger("builder.nats")


class NatsShadows(ShadowDifferences):
    """One message a consumer, shadow and trigger, in a stream that the first difference makes."""

    def __init__(self, js: JetStreamContext, topology: Topology) -> None:
        self._js = js
        self._config = shadows_config(topology)
        self._installation = topology.installation
        self._name = topology.installation.stream(SHADOWS)
        self._is_there = False
        """The stream was seen."""
        self._is_denied = False
        """The broker does not answer for it, as it does where the rights are missing."""

    @override
    async def keep(self, difference: ShadowDifference) -> None:
        names = (difference.workspace, difference.consumer, difference.shadow, difference.session)
        subject = self._installation.subject(shadow_subject(*names, difference.trigger))
        with translated(f"keeping {subject}"):
            if not self._is_there:
                if not await self._exists():
                    await self._js.add_stream(self._config)
                self._is_there = True
            await self._js.publish(subject, encode_difference(difference), stream=self._name)

    @override
    async def remove(self, workspace: str, triggers: frozenset[str]) -> None:
        """Nothing where the stream is not there, or the broker grants no rights on it."""
        if self._is_denied:
            return
        with translated("looking for differences of shadows"):
            if not await self._exists():
                return
        for trigger in sorted(triggers):
            subject = self._installation.subject(shadow_subject(workspace, "*", "*", "*", trigger))
            with translated(f"removing {subject}"):
                await self._js.purge_stream(self._name, subject=subject)

    async def read(
        self, workspace: str, consumer: str = "*", shadow: str = "*", trigger: str = "*"
    ) -> AsyncIterator[ShadowDifference]:
        """Those of these names, in the order in which they were kept. Raises `Unavailable`."""
        with translated("reading differences of shadows"):
            if not await self._exists():
                return
        stream = NatsStream(self._js, lambda: 0, SHADOWS, self._installation)
        last = await stream.last()
        subject = shadow_subject(workspace, consumer, shadow, "*", trigger)
        async for message in stream.follow(subject, 1, Place(0, last.sequence + 1)):
            yield decode_difference(message.data)

    async def _exists(self) -> bool:
        """Raises what nats-py raises, but for a broker that answers for other streams and not for this one."""
        try:
            await self._js.stream_info(self._name)
        except NotFoundError:
            return False
        except (TimeoutError, NatsTimeoutError):
            await self._js.stream_info(self._installation.stream(BREADCRUMBS))  # or the broker is away
            self._is_denied = True
            log.warning("the broker does not answer for stream %s; grant its rights, or remove shadow profiles", self._name)
            return False
        return True
