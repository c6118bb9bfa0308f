"""Tables as people read them in a terminal."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from builder.app.console import table
from builder.bench.commands.options import report
from builder.extras.explain.commands import cost_text
from builder.extras.explain.reports import comparison_text, receipt_text
from tests.extras.explain.test_commands import ROW
from tests.extras.explain.test_reports import ANSWER, source

RESULTS = Path(__file__).parents[2] / "bench" / "results"

COLUMNS = ("lines", "from", "why", "signals")
ROWS = [("7", "m7 v1 Anna", "found", "+1.9 window_similarity, +1.7 context_words_of_best, +1.4 speaker")] * 3
CUT = frozenset({"signals"})
IDENTITY, OTHER = "1006248e-34d7-4a8d-9da6-7f0e55fb1c4e", "07bc406e-bfcb-4c4b-bea0-c1992f0dcced"


@pytest.mark.parametrize("width", [50, 80, 120])
def test_a_cut_column_takes_what_the_others_leave_and_each_row_stays_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = table(COLUMNS, ROWS, frozenset({"lines"}), CUT).splitlines()
    assert len(lines) == 2 + len(ROWS)
    assert max(map(len, lines)) <= width
    assert lines[2].startswith("    7   m7 v1 Anna   found   +1.9 window_simi")


@pytest.mark.parametrize("width", [24, 60, 100])
def test_ids_headings_and_numbers_are_whole_however_narrow_the_terminal_is(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    columns = ("trigger", "of the session", "tokens saved")
    rows = [(IDENTITY, f"{OTHER} v1 Anna Petrowna", "1,234"), (OTHER, IDENTITY, "")]
    text = table(columns, rows, frozenset({"tokens saved"}))
    for word in (*columns, IDENTITY, OTHER, "1,234", "Petrowna"):
        assert word in text
    assert max(map(len, text.splitlines())) <= max(width, len("  of the session: ") + len(IDENTITY))


def test_a_table_without_rows_has_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert table(COLUMNS, [], cut=CUT).splitlines()[0].split() == list(COLUMNS)


def bench_tables() -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of every table that the commands of `bench` made of the stored results, by result and figure."""
    tables: dict[str, dict[str, dict[str, Any]]] = {}
    for file in sorted(RESULTS.glob("*.json")):
        figures = json.loads(file.read_text("utf-8"))["figures"]
        values = {name: {"value": value} for name, value in figures.items() if not isinstance(value, dict | list)}
        tables[f"{file.stem}: values"] = values
        tables[f"{file.stem}: one row"] = {"": {name: row["value"] for name, row in values.items()}}
        for name, rows in figures.items():
            if isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values()):
                tables[f"{file.stem}: {name}"] = rows
    return {name: rows for name, rows in tables.items() if rows}


def test_each_heading_and_each_number_of_every_bench_can_be_read_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, rows in bench_tables().items():
        report({}, False, ("", "budget", rows))
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= 80, name
        assert "…" not in text, name
        for key, values in rows.items():
            words = " ".join((key, *values, *map(str, values.values()))).split()
            assert set(words) <= set(re.split(r"[\s:]+", text)) | set(text.split()), name


def commands() -> dict[str, str]:
    """What the other commands print of ids as long as they come, at the terminal's width."""
    receipt = ANSWER["receipt"]
    parts = [{**each, "source": source(IDENTITY, "Anna Petrowna")} for each in receipt["parts"]]
    absent = [{**each, "source": source(OTHER)} for each in receipt["absent"]]
    answer = ANSWER | {"session": OTHER, "receipt": receipt | {"parts": parts, "absent": absent}}
    page = {"sections": [], "token_count": 9, "content": f"- Result {IDENTITY} {OTHER}\n- Call"}
    comparison = {"before": page, "after": page | {"content": f"- Result {OTHER} {IDENTITY}\n- Call"}, "failures": []}
    row = ROW | {"consumer": f"{OTHER} {IDENTITY}"}
    return {
        "explain": receipt_text(answer),
        "replay": comparison_text(comparison, is_other=True),
        "cost": cost_text(row),
        "profiles": table(("name", "made by", "triggers", "tokens"), [(OTHER, f"{IDENTITY} in _", "user.message.v1", "4,000")]),
    }


def test_no_command_breaks_an_id_or_a_heading_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, text in commands().items():
        assert IDENTITY in text, name
        assert OTHER in text, name
        assert not re.search(r"[0-9a-f]{4}-$|^ *[0-9a-f]{1,12}$", text, re.MULTILINE), name
    printed = commands()
    assert all(word in printed["explain"] for word in ("from", "why", "tokens", "signals", "not on the page"))
    assert all(word in printed["cost"] for word in ("contexts", "tokens", "cached"))
