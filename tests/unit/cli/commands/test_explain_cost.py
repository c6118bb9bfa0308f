"""Costs as people read them."""

from typing import Any

import pytest

from builder.cli.commands.explain import cost_text

ROW: dict[str, Any] = {
    "consumer": "default",
    "contexts_per_day": 1200.0,
    "tokens": 1500.4,
    "response_tokens": 90.0,
    "sent": {
        "page": {"tokens": 1500.4, "cached": 640.0},
        "whole conversation": {"tokens": 21500.0, "cached": 0.0},
        "last 20 messages": {"tokens": 2100.0, "cached": 0.0},
    },
    "money": {},
}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_page_is_beside_what_would_be_sent_without_it() -> None:
    assert cost_text({"currency": "EUR", "consumers": [ROW], "unread": []}) == (
        "default: 1,200 contexts a day, responses of 90 tokens\n"
        "sent                 tokens a turn   cached\n"
        "───────────────────────────────────────────\n"
        "page                         1,500      640\n"
        "whole conversation          21,500        0\n"
        "last 20 messages             2,100        0\n\n"
    )


def test_money_has_a_column_a_model() -> None:
    money = {"page": 2.25, "whole conversation": 31.5, "last 20 messages": 3.0}
    lines = cost_text({"currency": "EUR", "consumers": [ROW | {"money": {"large": money}}], "unread": []}).splitlines()
    assert lines[0].endswith("responses of 90 tokens, money in EUR a day")
    assert [line.split()[-1] for line in lines[3:6]] == ["2.2500", "31.5000", "3.0000"]
    assert "responses of 90 tokens, money a day\n" in cost_text(
        {"currency": "", "consumers": [ROW | {"money": {"m": money}}], "unread": []}
    )


def test_whom_nobody_reads_is_listed_apart_without_a_price() -> None:
    text = cost_text({"currency": "", "consumers": [], "unread": [ROW]})
    assert text.startswith("default: 1,200 contexts a day of 1,500 tokens were built and read by nobody, so no model was paid; ")
