"""Costs as people read them."""

from typing import Any

import pytest

from builder.extras.explain.commands import cost_text

ROW: dict[str, Any] = {
    "consumer": "default",
    "contexts": 1200,
    "sent": {
        "page": {"tokens": 1500.4, "cached": 640.0, "cost": 924.4},
        "whole conversation": {"tokens": 21500.0, "cached": 0.0, "cost": 21500.0},
        "last 20 messages": {"tokens": 2100.0, "cached": 0.0, "cost": 2100.0},
    },
    "break_even": {"pages": 900, "cached": 8344, "uncached": 1510},
}
TABLE = (
    "default: 1,200 contexts\n"
    "sent                 tokens   cached     cost\n"
    "─────────────────────────────────────────────\n"
    "page                  1,500      640      924\n"
    "whole conversation   21,500        0   21,500\n"
    "last 20 messages      2,100        0    2,100\n"
)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_page_is_beside_what_would_be_sent_without_it() -> None:
    assert cost_text(ROW) == (
        f"{TABLE}900 pages leave something out; they cost less than a conversation above 8,344 tokens that is cached, "
        "1,510 that is not\n\n"
    )


def test_pages_that_have_the_whole_conversation_are_not_the_cheaper_ones() -> None:
    assert cost_text(ROW | {"break_even": None}) == (
        f"{TABLE}every page has the whole conversation, and none costs less than that\n\n"
    )
