"""`ShadowDifferences` on JetStream."""

from collections.abc import AsyncIterator

from nats.js import JetStreamContext
from typing_extensions import override

from builder.adapters.nats.errors import translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import SHADOWS
from builder.domain.breadcrumb import Place
from builder.domain.shadow_difference import ShadowDifference
from builder.ports.broker import ShadowDifferences
from builder.wire.installation import DEFAULT, Installation
from builder.wire.shadows import decode_difference, encode_difference, shadow_subject


class NatsShadows(ShadowDifferences):
    """One message a consumer, shadow and trigger."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        self._js = js
        self._installation = installation
        self._name = installation.stream(SHADOWS)

    @override
    async def keep(self, difference: ShadowDifference) -> None:
        names = (difference.workspace, difference.consumer, difference.shadow, difference.session)
        subject = self._installation.subject(shadow_subject(*names, difference.trigger))
        with translated(f"keeping {subject}"):
            await self._js.publish(subject, encode_difference(difference), stream=self._name)

    @override
    async def remove(self, workspace: str, triggers: frozenset[str]) -> None:
        with translated("looking for differences of shadows"):
            info = await self._js.stream_info(self._name)
        if not info.state.messages:
            return
        for trigger in sorted(triggers):
            subject = self._installation.subject(shadow_subject(workspace, "*", "*", "*", trigger))
            with translated(f"removing {subject}"):
                await self._js.purge_stream(self._name, subject=subject)

    async def read(
        self, workspace: str, consumer: str = "*", shadow: str = "*", trigger: str = "*"
    ) -> AsyncIterator[ShadowDifference]:
        """Those of these names, in the order in which they were kept. Raises `Unavailable`."""
        stream = NatsStream(self._js, lambda: 0, SHADOWS, self._installation)
        last = await stream.last()
        subject = shadow_subject(workspace, consumer, shadow, "*", trigger)
        async for message in stream.follow(subject, 1, Place(0, last.sequence + 1)):
            yield decode_difference(message.data)
