"""What shadow profiles would change, as people read it."""

import os
from pathlib import Path
from typing import Any

import pytest

from builder.app.operations.published import summarise_differences
from builder.cli.reports import report_text

GOLDEN = Path(__file__).with_name("shadow_report.txt")
DIFFERENCE: dict[str, Any] = {
    "consumer": "default",
    "shadow": "lean",
    "session": "s1",
    "trigger": "m7",
    "tokens": 2841,
    "shadow_tokens": 1672,
    "rejection": "",
    "lost": ["m1", "m2"],
    "gained": ["m3"],
    "equal_lines": 0.71,
    "is_identical": False,
}
SAME = DIFFERENCE | {"trigger": "m8", "shadow_tokens": 2841, "lost": [], "gained": []}
IDENTICAL = SAME | {"equal_lines": 1.0, "is_identical": True}
NONE = SAME | {"trigger": "m9", "shadow_tokens": None, "rejection": "default: no room", "equal_lines": 0}


def test_a_session_has_its_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    each = DIFFERENCE | {"session": "_x-maya_40example_2Ecom"}
    assert " maya@example.com " in report_text(summarise_differences([each], 10))


def test_a_report_is_as_the_golden_file_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """UPDATE_GOLDEN=1 writes it."""
    monkeypatch.setenv("COLUMNS", "160")
    text = report_text(summarise_differences([DIFFERENCE, IDENTICAL, NONE], 10))
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")
