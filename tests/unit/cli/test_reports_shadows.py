"""What shadow profiles would change, as people read it."""

import os
from pathlib import Path
from typing import Any

import pytest

from builder.app.operations.shadows import summarise_differences
from builder.cli.reports import difference_text, report_text

GOLDEN = Path(__file__).with_name("shadow_report.txt")
PAGE: dict[str, Any] = {
    "profile": "0a1b2c3d",
    "templates": "4e5f6a7b",
    "tokens": 2841,
    "budget": 4000,
    "flags": [],
    "sections": {"recent": 2700, "current": 141},
    "omissions": {"over budget": 3},
}
LEAN = PAGE | {
    "profile": "99887766",
    "tokens": 1672,
    "budget": 2000,
    "flags": ["hint_failed"],
    "sections": {"recent": 1531, "current": 141},
}
DIFFERENCE: dict[str, Any] = {
    "workspace": "acme",
    "consumer": "default",
    "shadow": "lean",
    "session": "s1",
    "trigger": "m7",
    "trigger_seq": 7,
    "at": "2026-11-23T09:00:00Z",
    "page": PAGE,
    "shadow_page": LEAN,
    "rejection": "",
    "both": 12,
    "only_consumer": ["m1", "m2"],
    "only_shadow": ["m3"],
    "out_of_order": ["m4"],
    "equal_lines": 0.71,
    "is_identical": False,
}
SAME = DIFFERENCE | {
    "trigger": "m8", "trigger_seq": 8, "shadow_page": PAGE, "only_consumer": [], "only_shadow": [], "out_of_order": [],
}  # fmt: skip
IDENTICAL = SAME | {"equal_lines": 1.0, "is_identical": True}
NONE = SAME | {
    "trigger": "m9", "trigger_seq": 9, "shadow_page": None, "rejection": "default: no room", "only_consumer": ["m1"],
    "equal_lines": 0,
}  # fmt: skip


def test_a_session_has_its_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    each = DIFFERENCE | {"session": "_x-maya_40example_2Ecom"}
    assert "of session maya@example.com, " in difference_text(each)
    assert "session: maya@example.com " in report_text(summarise_differences([each], 10))


def test_a_report_and_one_difference_in_full_are_as_the_golden_file_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """UPDATE_GOLDEN=1 writes it."""
    monkeypatch.setenv("COLUMNS", "160")
    parts = (
        report_text(summarise_differences([DIFFERENCE, IDENTICAL, NONE], 10)),
        *(difference_text(each) for each in (DIFFERENCE, NONE)),
    )
    text = "\n---\n".join(parts)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")
