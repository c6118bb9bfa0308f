"""Costs as people read them."""

from typing import Any

import pytest

from builder.cli.cost_table import table

ROW: dict[str, Any] = {
    "consumer": "default",
    "contexts_per_day": 1200.0,
    "tokens": 1500.4,
    "reused_tokens": 700.0,
    "cached_tokens": 640.0,
    "new_tokens": 860.4,
    "response_tokens": 90.0,
    "money": [],
}


def test_without_prices_there_are_no_columns_of_money() -> None:
    assert table({"currency": "EUR", "consumers": [ROW], "a_day": None}) == (
        "consumer   contexts a day   tokens a turn   reused   cached   new   response\n"
        "────────────────────────────────────────────────────────────────────────────\n"
        "default             1,200           1,500      700      640   860         90\n"
    )


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_several_consumers_have_a_sum() -> None:
    other = ROW | {"consumer": "weather-agent", "money": [{"model": "small", "a_day": 0.5}]}
    lines = table({"currency": "EUR", "consumers": [ROW | {"money": [{"model": "large", "a_day": 2.25}]}, other], "a_day": 2.75})
    assert [line.split()[-2:] for line in lines.splitlines()] == [
        ["a", "day"],
        ["─" * 101],
        ["large", "2.2500"],
        ["small", "0.5000"],
        ["all", "2.7500"],
    ]
