"""What an installation needs, by calculation."""

from dataclasses import replace

import pytest

from builder.extras.capacity.figures import MIN_VOLUME_BYTES, Expected, plan, read_constants

EXPECTED = Expected(
    messages_per_day=1_000_000,
    days_kept=1_000,
    sessions=1_000,
    session_messages=100,
    text_bytes=300,
    replicas=3,
    user_share=0.3,
    peak=3,
)
CONSTANTS = read_constants()


def figures(expected: Expected) -> dict[str, float]:
    return {figure.name: figure.value for figure in plan(expected, CONSTANTS)}


def test_a_billion_messages_take_a_billion_times_what_one_takes() -> None:
    whole, one = figures(EXPECTED), figures(replace(EXPECTED, messages_per_day=1, days_kept=1))
    assert whole["messages kept"] == 1e9
    for name in ("stream BREADCRUMBS, one replica", "PostgreSQL", "SQLite of a worker that had all sessions"):
        assert whole[name] == pytest.approx(1e9 * one[name])
    assert whole["PostgreSQL"] > whole["stream BREADCRUMBS, one replica"] > 3e11


def test_workers_follow_the_rate_and_are_two_where_brokers_are_several() -> None:
    quiet = replace(EXPECTED, messages_per_day=10)
    assert figures(quiet)["workers"] == 2
    assert figures(replace(quiet, replicas=1))["workers"] == 1
    assert figures(replace(EXPECTED, messages_per_day=100_000_000))["workers"] > 20 * figures(EXPECTED)["workers"]
    many = replace(EXPECTED, messages_per_day=100_000_000)
    assert figures(replace(many, user_share=1))["workers"] > figures(replace(many, user_share=0))["workers"]


def test_contexts_are_kept_a_day_however_long_messages_are() -> None:
    name = "stream CONTEXTS, 24 hours, one replica"
    assert figures(EXPECTED)[name] == figures(replace(EXPECTED, days_kept=1))[name] > 0
    assert figures(replace(EXPECTED, user_share=0))[name] == 0


def test_a_volume_is_never_smaller_than_a_server_needs() -> None:
    assert figures(replace(EXPECTED, messages_per_day=1, days_kept=1))["volume of each NATS server"] == MIN_VOLUME_BYTES


def test_each_figure_names_constants_that_there_are() -> None:
    beginnings = {name for figure in plan(EXPECTED, CONSTANTS) for name in figure.constants.split()}
    assert [name for name in beginnings if not any(constant.startswith(name) for constant in CONSTANTS)] == []
    assert [name for name in CONSTANTS if not any(name.startswith(beginning) for beginning in beginnings)] == []
    assert [name for name, constant in CONSTANTS.items() if not constant.source.startswith("context-builder bench ")] == []
