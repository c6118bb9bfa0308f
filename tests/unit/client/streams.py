"""A stream BREADCRUMBS in a list, and the service that reads it, for the parts of the client that publish and ask."""

from datetime import UTC, datetime
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.sending import Conflict, PublishResult, TakenId
from builder.domain.breadcrumb import Place
from builder.wire.records import Outgoing, compared, make_record, outgoing
from tests.factories import make_profile
from tests.hosts import answer, host_of
from tests.ports import FixedConsumers, MemoryStream, make_log
from tests.stores import durable_store

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
WORKSPACE, SESSION, AGENT = "acme", "s1", "default"
CONTEXT_ID = "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10"
CALL = {"tool": "weather", "input": {"city": "Oslo"}, "requestId": "r1"}


class ListStream(MemoryStream):
    """`BreadcrumbStream` over a list, and the service's answers to the request `responses`."""

    def __init__(self) -> None:
        super().__init__()
        log = make_log(self, durable_store())
        self.host = host_of(log=log, consumers=FixedConsumers(make_profile()))

    def put(self, schema: str, identity: str, body: dict[str, Any], session: str = SESSION) -> int:
        """Store a record; returns its sequence."""
        return self._store(outgoing(make_record(schema, identity, session, body), WORKSPACE))

    def _store(self, event: Outgoing) -> int:
        self.messages.append(event.arrive(Place(0, len(self.messages) + 1), NOW))
        return len(self.messages)

    async def request(self, verb: str, request: dict[str, Any], timeout: float = 0) -> dict[str, Any]:  # noqa: ARG002 - the client's
        return await answer(self.host, verb, request)

    async def check_same(self, event: Outgoing, sequence: int, *, own_clock: bool) -> None:
        answer = compared(event, await self.get(sequence), own_clock=own_clock)
        if answer["fields"]:
            raise TakenId(f"the stream already has a breadcrumb with this id, and {answer['fields']} differ")

    async def publish(self, event: Outgoing, *, own_clock: bool = False, last: int | None = None) -> PublishResult:
        assert own_clock
        if last is not None and last != await self.newest(WORKSPACE, SESSION, "agent.response.v1"):
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
