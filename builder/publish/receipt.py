"""A receipt as JSON values, for people and programs."""

from dataclasses import asdict
from typing import Any

from builder.domain.receipt import Receipt

DIGITS = 6
"""Of probabilities and signals."""


def receipt_values(receipt: Receipt) -> dict[str, Any]:
    """The fields of `Receipt`; what is None is left out."""
    values: dict[str, Any] = _plain(asdict(receipt))
    values["budget"]["unused"] = receipt.budget.unused
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
