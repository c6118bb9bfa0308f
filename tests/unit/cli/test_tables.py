"""Tables as people read them in a terminal."""

import pytest

from builder.cli.tables import table

COLUMNS = ("lines", "from", "why", "signals")
ROWS = [("7", "m7 v1 Anna", "found", "+1.9 window_similarity, +1.7 context_words_of_best, +1.4 speaker")] * 3
CUT = frozenset({"signals"})


@pytest.mark.parametrize("width", [50, 80, 120])
def test_a_cut_column_takes_what_the_others_leave_and_each_row_stays_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = table(COLUMNS, ROWS, frozenset({"lines"}), CUT).splitlines()
    assert len(lines) == 2 + len(ROWS)
    assert max(map(len, lines)) <= width
    assert lines[2].startswith("    7   m7 v1 Anna   found   +1.9 window_simi")


def test_an_id_that_has_no_room_goes_on_in_a_further_line_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    identity = "1006248e-34d7-4a8d-9da6-7f0e55fb1c4e"
    _, _, *lines = table(("id", "why"), [(identity, "found")]).splitlines()
    assert len(lines) > 1
    assert "".join(line.split()[0] for line in lines) == identity


def test_a_table_without_rows_has_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert table(COLUMNS, [], cut=CUT).splitlines()[0].split() == list(COLUMNS)
