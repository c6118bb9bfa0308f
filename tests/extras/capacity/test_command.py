"""The printed plan."""

import json
import os

import pytest

from builder.extras.capacity.command import amount
from tests.commands import run


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "bytes", "0 B"),
        (999, "bytes", "999 B"),
        (663_300_000_000, "bytes", "663 GB"),
        (2.5e12, "bytes a second", "2.5 TB a second"),
        (34.72, "a second", "34.7 a second"),
        (62_500_000.0, "messages", "62,500,000 messages"),
        (2, "workers", "2 workers"),
    ],
)
def test_an_amount_has_three_digits_of_bytes_and_the_whole_of_a_count(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text


def test_the_plan_shows_each_figure_and_the_source_of_each_constant() -> None:
    env = dict(os.environ) | {"COLUMNS": "200"}
    numbers = ("plan", "--messages-per-day", "1000000", "--days", "1000", "--bytes", "340")
    printed, asked = run(*numbers, env=env), run(*numbers, "--json", env=env)
    result = json.loads(asked.stdout)
    assert result["expected"]["messages_per_day"] == 1_000_000
    for name in (figure["name"] for figure in result["figures"]):
        assert name in printed.stdout
    for name, constant in result["constants"].items():
        assert name in printed.stdout
        assert constant["source"].startswith("context-builder bench ")
        assert constant["source"] in printed.stdout
