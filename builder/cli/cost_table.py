"""What `context-builder cost` found, as a table for people."""

from collections.abc import Iterator
from typing import Any

from builder.cli import tables

COUNTS = {
    "contexts a day": "contexts_per_day",
    "tokens a turn": "tokens",
    "reused": "reused_tokens",
    "cached": "cached_tokens",
    "new": "new_tokens",
    "response": "response_tokens",
}
"""Head of a column → its value in a row."""
CONSUMER, MODEL = "consumer", "model"


def table(figures: dict[str, Any]) -> str:
    """A line a consumer and model, and the sum where each consumer has one price; columns without a value are not in it."""
    money = f"{figures['currency']} a day".strip()
    lines = list(_lines(figures, money))
    heads = (CONSUMER, *COUNTS, *(head for head in (MODEL, money) if any(line[head] for line in lines)))
    rows = [tuple(line[head] for head in heads) for line in lines]
    return tables.table(heads, rows, frozenset(heads[1:]))


def _lines(figures: dict[str, Any], money: str) -> Iterator[dict[str, str]]:
    for row in figures["consumers"]:
        counts = {CONSUMER: row["consumer"]} | {head: f"{row[name]:,.0f}" for head, name in COUNTS.items()}
        prices = row["money"] or [{"model": "", "a_day": None}]
        yield from (counts | {MODEL: price["model"], money: _amount(price["a_day"])} for price in prices)
    if len(figures["consumers"]) > 1 and figures["a_day"] is not None:
        yield {CONSUMER: "all", MODEL: "", money: _amount(figures["a_day"])} | dict.fromkeys(COUNTS, "")


def _amount(value: float | None) -> str:
    return "" if value is None else f"{value:,.4f}"
