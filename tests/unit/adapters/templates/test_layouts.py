"""Tables and logs, as people would write them."""

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.layouts import digest, table
from builder.adapters.templates.sandbox.filters import inline, readable
from tests.factories import PHRASES

ROWS = [{"city": "Delft", "degrees": 9}, {"city": "Leiden", "degrees": 10}, {"city": "Gouda", "degrees": 8}] * 2
LOG = [f"2026-03-10 14:{n // 60:02}:{n % 60:02} INFO step {n} done" for n in range(300)]


def lines_left_out(number: int) -> str:
    return PHRASES("lines_left_out", number=number)


def test_like_objects_are_a_table() -> None:
    assert readable(ROWS) == "6 rows\n| city | degrees |\n|---|---|" + "\n| Delft | 9 |\n| Leiden | 10 |\n| Gouda | 8 |" * 2
    assert readable({"cities": ROWS, "n": 3}).startswith("cities:\n  6 rows\n  | city | degrees |\n  |---|---|")


def test_objects_that_are_not_alike_nested_wide_or_few_stay_a_list() -> None:
    for rows in (ROWS[:2], [{"a": 1}, {"b": 1}, {"c": 1}], [*ROWS, {"city": ["x"]}], [{"t": "x" * 90, "n": 1}] * 5, [*ROWS, "x"]):
        assert readable(rows).startswith("- ")


@given(
    st.lists(st.fixed_dictionaries({"a": st.text(max_size=9), "b|c": st.text("|\\ -\nx", max_size=9)}), min_size=3, max_size=6)
)
def test_no_cell_can_end_its_cell_or_its_row(rows: list[dict[str, str]]) -> None:
    found = table(rows, inline, "{number} rows")
    lines = found.split("\n")[1:]
    assert len(lines) == len(rows) + 2
    assert all(line.replace("\\\\", "").replace("\\|", "").count("|") == 3 for line in lines)


def test_of_a_long_log_head_tail_and_errors_are_kept() -> None:
    log = LOG.copy()
    log[100], log[200] = "2026-03-10 15:40:00 ERROR no answer", "ValueError: no such cone"
    lines = digest("\n".join(log), lines_left_out).split("\n")
    assert lines[:8] == LOG[:8]
    assert lines[8:13] == ["[… 92 lines left out …]", log[100], "[… 99 lines left out …]", log[200], "[… 87 lines left out …]"]
    assert lines[13:] == LOG[-12:]


def test_a_smaller_share_keeps_fewer_lines_and_the_errors() -> None:
    log = [*LOG[:100], "ERROR no answer", *LOG[101:]]
    assert len(digest("\n".join(log), lines_left_out, 0.25).split("\n")) == 2 + 1 + 1 + 1 + 3
    assert "ERROR no answer" in digest("\n".join(log), lines_left_out, 0.25)


def test_a_short_log_and_a_text_that_is_none_stay() -> None:
    for text in ("\n".join(LOG[:60]), "\n".join(["def f():", "    return 1"] * 100), "word " * 900, ""):
        assert digest(text, lines_left_out) == text
