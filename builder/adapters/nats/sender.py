"""`Sender` on JetStream."""

from nats.js import JetStreamContext

from builder.adapters.nats.errors import translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS
from builder.domain.breadcrumb import StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.wire.subjects import MESSAGE_ID_HEADER, REPLAY_HEADER


class NatsSender:
    """See the port."""

    def __init__(self, js: JetStreamContext, stream: NatsStream) -> None:
        """stream: reads BREADCRUMBS."""
        self._js = js
        self._stream = stream

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> StreamMessage:
        """See the port. It is read back, because only the stream knows its time."""
        headers = {MESSAGE_ID_HEADER: message_id} | ({} if triggers else {REPLAY_HEADER: "1"})
        with translated(f"publishing on {subject}"):
            ack = await self._js.publish(subject, data, stream=BREADCRUMBS, headers=headers)
        held = await self._stream.get(ack.seq)
        if held is None:
            raise Unavailable(f"the stream did not keep breadcrumb {ack.seq}; ask again")
        if held.subject != subject:
            raise Rejected(f"{message_id} was not published on {subject}: it stands on {held.subject} as sequence {ack.seq}")
        return held
