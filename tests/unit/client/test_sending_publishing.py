"""Publications are acknowledged, or refused with what to do. Duplicates, over a real broker: integration/test_duplicates."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.aio.client import Client as Connection
from nats.errors import TimeoutError as NatsTimeout
from nats.js.errors import APIError

from builder.client.sending import (
    HEADER_BYTES,
    NO_RESOURCES,
    WRONG_LAST_SEQUENCE,
    BreadcrumbStream,
    Conflict,
    PublishResult,
)
from builder.connection.names import DEFAULT
from builder.domain.errors import Rejected, Unavailable
from builder.wire.records import Outgoing, make_record, outgoing

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Broker:
    """A connection whose JetStream acknowledges or refuses."""

    def __init__(self, *, error: Exception | None = None, max_payload: int = 1_000_000) -> None:
        self.headers: dict[str, str] = {}
        self.max_payload = max_payload
        self._error = error

    def jetstream(self) -> "Broker":
        return self

    async def publish(self, _subject: str, _data: bytes, *, stream: str, headers: dict[str, str]) -> Any:
        assert stream == "BREADCRUMBS"
        self.headers = headers
        if self._error:
            raise self._error
        return SimpleNamespace(seq=7, duplicate=False)


def event() -> Outgoing:
    return outgoing(make_record("user.message.v1", "m1", "s1", {"content": "Hello."}, created_at=NOW), "acme")


def publishing(broker: Broker) -> BreadcrumbStream:
    async def compare(*_: Any) -> dict[str, Any]:
        raise AssertionError

    return BreadcrumbStream(cast("Connection", broker), DEFAULT, compare)


async def test_a_publication_carries_its_id_and_returns_its_sequence() -> None:
    broker = Broker()
    assert await publishing(broker).publish(event()) == PublishResult(sequence=7, duplicate=False)
    assert broker.headers == {"Nats-Msg-Id": "acme:m1:1"}


async def test_replays_and_expectations_are_headers() -> None:
    broker = Broker()
    await publishing(broker).publish(event(), replay=True, last=3)
    assert broker.headers["Context-Builder-Replay"] == "1"
    assert broker.headers["Nats-Expected-Last-Subject-Sequence"] == "3"


async def test_what_is_larger_than_the_broker_takes_is_rejected_before_it_is_sent() -> None:
    broker = Broker(max_payload=HEADER_BYTES + 10)
    with pytest.raises(Rejected, match="allowed are 10"):
        await publishing(broker).publish(event())
    assert broker.headers == {}


async def test_a_wrong_last_sequence_is_a_conflict() -> None:
    broker = Broker(error=APIError(code=400, err_code=WRONG_LAST_SEQUENCE, description="wrong last sequence"))
    with pytest.raises(Conflict, match="send it again"):
        await publishing(broker).publish(event(), last=1)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (NatsTimeout(), "did not acknowledge it"),
        (APIError(code=503, err_code=NO_RESOURCES, description="insufficient resources"), "storage is used up"),
        (OSError("reset"), "is the service up"),
    ],
)
async def test_a_failed_publication_is_unavailable_and_says_what_to_do(error: Exception, advice: str) -> None:
    with pytest.raises(Unavailable, match=advice):
        await publishing(Broker(error=error)).publish(event())
