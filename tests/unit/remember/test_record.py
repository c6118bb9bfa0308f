"""A breadcrumb ends at the earliest end that its record gives."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.remember.lifetimes import LIFETIMES
from tests.conversations import message_of

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def read(schema: str = "note.v1", **record: Any) -> Breadcrumb:
    message = message_of(1, schema, {"content": "x"}, **{"created_at": "2026-11-21T10:00:00Z"} | record)
    return decode(replace(message, received_at=NOON), lifetimes=LIFETIMES)


@pytest.mark.parametrize(
    ("record", "end"),
    [
        ({}, None),
        ({"ttl": None, "expires_at": None}, None),
        ({"ttl": 90}, datetime(2026, 11, 21, 10, 1, 30, tzinfo=UTC)),
        ({"ttl": 0.5}, datetime(2026, 11, 21, 10, 0, 0, 500_000, tzinfo=UTC)),
        ({"ttl": 60, "created_at": None}, NOON + timedelta(minutes=1)),
        ({"ttl": "2026-12-01T01:00:00+01:00"}, datetime(2026, 12, 1, tzinfo=UTC)),
        ({"expires_at": "2026-12-01T00:00:00Z", "ttl": 3600}, datetime(2026, 11, 21, 11, 0, tzinfo=UTC)),
        ({"ttl": "2026-12-01"}, datetime(2026, 12, 1, tzinfo=UTC)),
        ({"ttl": "2026-12-01 00:00:00"}, datetime(2026, 12, 1, tzinfo=UTC)),
        ({"ttl": 60, "created_at": "2099-01-01T00:00:00Z"}, NOON + timedelta(minutes=1)),
        ({"ttl": 1e15}, None),
    ],
)
def test_the_earliest_end_that_the_record_gives_counts(record: dict[str, Any], end: datetime | None) -> None:
    assert read(**record).expires_at == end


@pytest.mark.parametrize("ttl", ["3600", "-5", "12.5", "tomorrow", "2026-11-31", True, -1, [], {}])
def test_an_end_that_nobody_can_read_is_rejected_with_its_place(ttl: Any) -> None:
    with pytest.raises(Rejected, match="/ttl"):
        read(ttl=ttl)
