"""The stream of contexts, followed without end: what is kept, then each context as it comes."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext

from builder.adapters.nats.connection import translated
from builder.adapters.nats.delivery import arrival_of
from builder.adapters.nats.stream import STUB, NatsStream
from builder.adapters.nats.topology import CONTEXTS, incarnation_of, walk_from
from builder.client.subscription import heed_cancellation
from builder.connection.names import DEFAULT, Installation
from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.subjects import CONTEXTS as HEAD
from builder.wire.subjects import check_token

FETCH_SECONDS = 5.0
"""Length of one request: so long a deleted consumer goes unnoticed."""


class ContextStream:
    """Contexts by place. Methods raise `Unavailable`; stubs of erased contexts are left out."""

    def __init__(self, js: JetStreamContext, installation: Installation = DEFAULT) -> None:
        self._js = js
        self._installation = installation
        self._name = installation.stream(CONTEXTS)

    async def last(self) -> Place:
        """Place of the newest context."""
        with translated("reading the state of the contexts"):
            info = await self._js.stream_info(self._name)
        return Place(incarnation_of(info), info.state.last_seq)

    async def between(self, workspace: str, consumer: str, after: int, until: Place) -> AsyncIterator[StreamMessage]:
        """A consumer's contexts that are still stored, from the sequence behind `after` up to but not including `until`."""
        subject = f"{HEAD}.{check_token(workspace, 'workspace')}.{check_token(consumer, 'consumer')}.>"
        stream = NatsStream(self._js, lambda: until.incarnation, CONTEXTS, self._installation)
        async for arrival in stream.follow(subject, after + 1, until):
            if arrival.data != STUB:
                yield arrival

    async def behind(self, place: Place) -> AsyncGenerator[StreamMessage, None]:
        """All contexts behind a place, in order, without end. Ends when the server has lost the consumer: begin again."""
        config = walk_from(place.sequence + 1)
        with translated("following the contexts"):
            subscription = await self._js.pull_subscribe(
                self._installation.subject(f"{HEAD}.>"), stream=self._name, config=config
            )
        expected = 0
        try:
            while True:
                with translated("following the contexts"):
                    try:
                        (message,) = await subscription.fetch(1, timeout=FETCH_SECONDS)
                    except (NatsTimeout, TimeoutError):
                        info = await subscription.consumer_info()
                        if info.delivered and info.delivered.consumer_seq != expected:
                            return
                        continue
                    finally:
                        heed_cancellation()
                expected += 1
                if message.metadata.sequence.consumer != expected:
                    return
                yield arrival_of(message, place.incarnation)
        finally:
            with contextlib.suppress(NatsError, OSError):
                await subscription.unsubscribe()
