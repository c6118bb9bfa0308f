"""A stream BREADCRUMBS in a list, for the parts of the client that read it and publish into it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.sending import Conflict, PublishResult
from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.records import Outgoing, make_record, outgoing

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
WORKSPACE, SESSION, AGENT = "acme", "s1", "default"
CONTEXT_ID = "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10"
CALL = {"tool": "weather", "input": {"city": "Oslo"}, "requestId": "r1"}


class ListStream:
    """`BreadcrumbStream` over a list."""

    def __init__(self) -> None:
        self.messages: list[StreamMessage] = []
        self.rival: Outgoing | None = None
        """Published by another process right before the next publication."""

    def put(self, schema: str, identity: str, body: dict[str, Any], session: str = SESSION) -> int:
        """Store a record; returns its sequence."""
        return self._store(outgoing(make_record(schema, identity, session, body), WORKSPACE))

    def _store(self, event: Outgoing) -> int:
        self.messages.append(event.arrive(Place(0, len(self.messages) + 1), NOW))
        return len(self.messages)

    async def at(self, sequence: int) -> StreamMessage | None:
        return self.messages[sequence - 1]

    async def last(self, subject: str) -> int:
        return max((message.place.sequence for message in self.messages if message.subject == subject), default=0)

    async def info(self) -> Any:
        return SimpleNamespace(state=SimpleNamespace(last_seq=len(self.messages)))

    async def behind(self, subject: str, sequence: int) -> AsyncIterator[StreamMessage]:
        for message in self.messages[sequence:]:
            if message.subject == subject:
                yield message

    async def publish(self, event: Outgoing, *, own_clock: bool = False, last: int | None = None) -> PublishResult:
        assert own_clock
        if self.rival is not None:
            rival, self.rival = self.rival, None
            self._store(rival)
        if last is not None and last != await self.last(event.subject):
            raise Conflict("another message came")
        return PublishResult(sequence=self._store(event), duplicate=False)


def context_of(sequence: int) -> ReceivedContext:
    """The context of the trigger `m1` at a sequence."""
    return ReceivedContext(
        content="page", token_count=1, workspace=WORKSPACE, session_id=SESSION, consumer_id=AGENT, trigger_event_id="m1",
        trigger_seq=sequence, late=False, event={"id": CONTEXT_ID},
    )  # fmt: skip


def response_body(message: str, **changes: Any) -> dict[str, Any]:
    """The body of a response to `m1`, as the client writes it."""
    return {
        "message": message,
        "trigger_event_id": "m1",
        "creator": {"type": "agent", "agent_id": AGENT},
        "speaker": "Assistant",
    } | changes
