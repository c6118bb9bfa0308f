"""What shadow profiles would have changed, as people read it."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builder.app.operations.shadows import shadow_report
from builder.cli.commands.shadows import moment_of
from builder.cli.shadow_report import difference_text, report_text
from builder.domain.errors import Rejected
from builder.domain.shadow_difference import PageFigures, ShadowDifference
from builder.wire.shadows import decode_difference, difference_json, encode_difference, shadow_subject

GOLDEN = Path(__file__).with_name("shadow_report.txt")
NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
PAGE = PageFigures(
    profile="0a1b2c3d",
    templates="4e5f6a7b",
    tokens=2841,
    budget=4000,
    build_ms=6.4,
    flags=(),
    sections={"recent": 2700, "current": 141},
    omissions={"over budget": 3},
)
LEAN = replace(
    PAGE,
    profile="99887766",
    tokens=1672,
    budget=2000,
    build_ms=5.1,
    flags=("hint_failed",),
    sections={"recent": 1531, "current": 141},
)
DIFFERENCE = ShadowDifference(
    workspace="acme",
    consumer="default",
    shadow="lean",
    session="s1",
    trigger="m7",
    trigger_seq=7,
    at=NOW,
    page=PAGE,
    shadow_page=LEAN,
    both=12,
    only_consumer=("m1", "m2"),
    only_shadow=("m3",),
    out_of_order=("m4",),
    equal_lines=0.71,
)
SAME = replace(DIFFERENCE, trigger="m8", trigger_seq=8, shadow_page=PAGE, only_consumer=(), only_shadow=(), out_of_order=())
IDENTICAL = replace(SAME, equal_lines=1.0, is_identical=True)
NONE = replace(
    SAME, trigger="m9", trigger_seq=9, shadow_page=None, rejection="default: no room", only_consumer=("m1",), equal_lines=0
)


def test_a_report_and_one_difference_in_full_are_as_the_golden_file_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """UPDATE_GOLDEN=1 writes it."""
    monkeypatch.setenv("COLUMNS", "160")
    parts = (
        report_text(shadow_report([DIFFERENCE, IDENTICAL, NONE], 10)),
        *(difference_text(difference_json(each)) for each in (DIFFERENCE, NONE)),
    )
    text = "\n---\n".join(parts)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_a_difference_is_read_back_as_it_was_kept() -> None:
    assert [decode_difference(encode_difference(each)) for each in (DIFFERENCE, NONE)] == [DIFFERENCE, NONE]
    with pytest.raises(Rejected, match="not readable"):
        decode_difference(b"{}")


def test_the_subject_of_a_difference_holds_ids_of_any_form() -> None:
    assert shadow_subject("acme", "default", "lean", "s1", "m1") == "shadows.acme.default.lean.s1.m1"
    assert shadow_subject("acme", "*", "*", "*", "message.7") == "shadows.acme.*.*.*._x-message_2E7"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", NOW - timedelta(minutes=30)),
        ("24h", NOW - timedelta(days=1)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-11-22", datetime(2026, 11, 22, tzinfo=UTC)),
        ("2026-11-22T08:00+01:00", datetime(2026, 11, 22, 7, tzinfo=UTC)),
    ],
)
def test_since_is_a_span_or_a_date(text: str, moment: datetime) -> None:
    assert moment_of(text, NOW) == moment


def test_another_text_for_since_is_refused_with_what_to_write() -> None:
    with pytest.raises(Rejected, match="write 30m, 24h, 7d, or a date"):
        moment_of("yesterday", NOW)
