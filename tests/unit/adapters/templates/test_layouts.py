"""Tables and logs, as people would write them."""

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.layouts import table
from builder.adapters.templates.sandbox.filters import inline, readable

ROWS = [{"city": "Delft", "degrees": 9}, {"city": "Leiden", "degrees": 10}, {"city": "Gouda", "degrees": 8}] * 2
LOG = [f"2026-03-10 14:{n // 60:02}:{n % 60:02} INFO step {n} done" for n in range(300)]


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
