"""When a breadcrumb ends: by its record, else by its kind."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.app.settings import LIFETIMES
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.remember.lifetimes import lifetime
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


@pytest.mark.parametrize(
    ("schema", "tags", "hours"),
    [
        ("user.message.v1", (), None),
        ("tool.request.v1", ("workspace:tools", "health:check"), 1 / 12),
        ("tool.request.v1", ("health:checked",), None),
        ("system.ping.v1", (), 1 / 6),
        ("my.agent.temp.v1", (), 1),
        ("agent.thinking.v1", (), 6),
        ("tool.response.v1", ("log:build",), 168),
        ("tool.response.v1", (), None),
        ("system.metrics.v1", (), 720),
    ],
)
def test_kinds_live_as_long_as_rcrt_lets_them(schema: str, tags: tuple[str, ...], hours: float | None) -> None:
    assert lifetime(schema, tags, LIFETIMES) == hours


def test_the_shortest_of_several_lifetimes_counts() -> None:
    assert lifetime("note.v1", ("draft",), {"*": 9, "note.v1": 5, "note.v1 draft": 2, "note.v1 final": 1}) == 2


def test_a_kind_counts_only_where_the_record_says_nothing() -> None:
    assert read("agent.thinking.v1").expires_at == datetime(2026, 11, 21, 16, 0, tzinfo=UTC)
    assert read("agent.thinking.v1", ttl=60).expires_at == datetime(2026, 11, 21, 10, 1, tzinfo=UTC)
