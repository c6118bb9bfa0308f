"""When a breadcrumb ends: by its record, else by its kind."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.remember.decode import decode
from builder.remember.lifetimes import LIFETIMES, lifetime
from tests.conversations import message_of

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def read(schema: str = "note.v1", **record: Any) -> Breadcrumb:
    message = message_of(1, schema, {"content": "x"}, **{"created_at": "2026-11-21T10:00:00Z"} | record)
    return decode(replace(message, received_at=NOON), lifetimes=LIFETIMES)


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
