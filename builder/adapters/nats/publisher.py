"""`Publisher` on JetStream: contexts and dead letters, each at most once."""

import base64
import json
from datetime import UTC

from nats.js import JetStreamContext

from builder.adapters.nats.errors import translated
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS
from builder.domain.breadcrumb import Arrival
from builder.domain.context import Context
from builder.domain.errors import AlreadyPublished
from builder.wire.subjects import MESSAGE_ID_HEADER, REPLAY_HEADER, context_subject

KEPT_BYTES = 2 * 1024 * 1024
"""Of a larger rejected event the dead letter keeps the beginning; the whole stays in BREADCRUMBS under its sequence."""
LONGEST_REASON = 4_000
HEADROOM = 32 * 1024
"""Bytes of what the broker takes that are left to the other fields of a dead letter."""


class NatsPublisher:
    """See the port."""

    def __init__(self, js: JetStreamContext, max_payload: int) -> None:
        """js: of a connection that reconnects for ever. max_payload: bytes that the broker takes."""
        self._js = js
        # A letter that the broker refused would be tried for ever, and everybody would wait for it. Base64 makes 4 of 3.
        self._kept = min(KEPT_BYTES, max(0, max_payload - HEADROOM) // 4 * 3)

    async def publish(self, context: Context, event: bytes) -> None:
        """See the port."""
        identity = str(context.id)
        subject = context_subject(context.trigger.workspace, context.consumer, context.trigger.session, identity)
        with translated(f"publishing context {identity}"):
            ack = await self._js.publish(subject, event, stream=CONTEXTS, headers={MESSAGE_ID_HEADER: identity})
        if ack.duplicate:
            raise AlreadyPublished(f"publishing context {identity}: the server has seen it")

    async def put(self, subject: str, data: bytes, message_id: str) -> int:
        """See the port."""
        headers = {MESSAGE_ID_HEADER: message_id, REPLAY_HEADER: "1"}
        with translated(f"publishing on {subject}"):
            return (await self._js.publish(subject, data, stream=BREADCRUMBS, headers=headers)).seq

    async def dead_letter(self, arrival: Arrival, reason: str) -> None:
        """See the port."""
        place = f"{arrival.place.incarnation}.{arrival.place.sequence}"
        letter = {
            "reason": reason[:LONGEST_REASON],
            "subject": arrival.subject,
            "sequence": arrival.place.sequence,
            "incarnation": arrival.place.incarnation,
            "replay": arrival.replay,
            "received_at": arrival.received_at.astimezone(UTC).isoformat(),
            "bytes": len(arrival.data),
            "data": base64.b64encode(arrival.data[: self._kept]).decode(),
        }
        data = json.dumps(letter, ensure_ascii=False).encode("utf-8", "replace")
        try:
            with translated(f"dead-lettering {arrival.subject}"):
                await self._js.publish(f"deadletters.{place}", data, stream=DEADLETTERS, headers={MESSAGE_ID_HEADER: place})
        except AlreadyPublished:
            return
