"""Costs as people read them."""

from typing import Any

import pytest

from builder.cli.commands.explain import cost_text

ROW: dict[str, Any] = {
    "consumer": "default",
    "contexts": 1200,
    "sent": {
        "page": {"tokens": 1500.4, "cached": 640.0},
        "whole conversation": {"tokens": 21500.0, "cached": 0.0},
        "last 20 messages": {"tokens": 2100.0, "cached": 0.0},
    },
}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_page_is_beside_what_would_be_sent_without_it() -> None:
    assert cost_text(ROW) == (
        "default: 1,200 contexts\n"
        "sent                 tokens   cached\n"
        "────────────────────────────────────\n"
        "page                  1,500      640\n"
        "whole conversation   21,500        0\n"
        "last 20 messages      2,100        0\n\n"
    )
