"""Stored results of the benchmarks, and the tables that quote them.

A page quotes a result between two comments, which `UPDATE_DOCS=1` fills:
`<!-- results NAME: written by tests/bench/test_results.py, UPDATE_DOCS=1 -->` and `<!-- end of results NAME -->`. The README's
`comparison` and the table of `peers` are filled in the same way.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from builder.cli.registry import application
from tests.bench.comparison import bridge, peers_table, readme_table, sentences

RESULTS = sorted(Path(__file__).with_name("results").glob("*.json"))
ROOT = Path(__file__).parents[2]
README, BENCHMARKS = ROOT / "README.md", ROOT / "builder" / "docs" / "benchmarks.md"
QUOTE = re.compile(
    r"(<!-- (?P<mark>(?:results|curve) (?P<name>[\w-]+)|comparison|peers): .*? -->\n)(?P<table>.*?)(<!-- end of (?P=mark) -->)",
    re.DOTALL,
)
NAMED_ROWS = {
    "kinds": "beside",
    "orders": "order",
    "builders": "builder",
    "budgets": "budget",
    "sizes": "messages",
    "baselines": "baseline",
    "gains": "signal",
    "rankings": "ranking",
}
"""Rows of a result → what their first column has."""
SHARES = ("hit@", "evidence", "saved", "reused median", "reused mean", "front reused", "cached share", "answer words", "spaced")
"""Columns and rows whose values are shares: shown in percent."""
MACHINE_ROWS = frozenset({"conversations", "example", "dataset", "seed"})
"""Rows that nobody reads in a table; they are in the files."""
MAX_ROWS = 7
PLOT_COLUMNS = 60


def table(result: dict[str, Any]) -> str:
    """The command, day and machine, and one table: a row a budget, size or language, else a row a measure."""
    figures, machine = result["figures"], result["machine"]
    first, rows = next(((head, figures[key]) for key, head in NAMED_ROWS.items() if key in figures), ("measure", None))
    if figures.get("dataset") == "languages":
        first, categories = "language", figures["by_category"].items()
        rows = {
            name: {f"evidence any, {budget} tokens": row["evidence_any"] for budget, row in budgets.items()}
            for name, budgets in categories
        }
    if rows is None:
        own = {name: value for name, value in figures.items() if name not in MACHINE_ROWS}
        rows = {name: value if isinstance(value, dict) else {"": value} for name, value in own.items()}
        rows = {f"{name} {part}".strip(): {"value": one} for name, found in rows.items() for part, one in found.items()}
        rows = {name: {"value": shown(words(name), row["value"])} for name, row in rows.items()}
    else:
        rows = {name: {key: shown(words(key), value) for key, value in row.items()} for name, row in rows.items()}
    columns = list(next(iter(rows.values())))
    lines = [
        f"`{result['command']}` ({result['date']}, {machine['cores']} cores, load average {machine['load_average_before']}):",
        "",
        f"| {first} | {' | '.join(map(words, columns))} |",
        "|---" * (1 + len(columns)) + "|",
        *(f"| {words(name)} | {' | '.join(row[column] for column in columns)} |" for name, row in rows.items()),
    ]
    return "\n".join(["", *lines, "", ""])


def curve(result: dict[str, Any]) -> str:
    """What first results say (o) beside how often they are right (x; * where both are one), a line for each bin."""
    lines = [f"{'says':>5} {'right':>5}  0{'1':>{PLOT_COLUMNS}}"]
    for row in result["figures"]["first_results"]["bins"].values():
        places = {round(row["right"] * PLOT_COLUMNS): "x", round(row["says"] * PLOT_COLUMNS): "o"}
        both = len(places) == 1
        marks = ("*" if both and place in places else places.get(place, "·") for place in range(PLOT_COLUMNS + 1))
        lines.append(f"{row['says']:>5.2f} {row['right']:>5.2f}  {''.join(marks)}")
    first, every = result["figures"]["first_results"], result["figures"]["answered"]["all"]
    lines += ["", f"calibration error of {first['searches']:,} first results: {first['calibration_error']}"]
    lines += [f"anything answers, area under the curve: foreign {every['auc_foreign']}, ordinary {every['auc_ordinary']}"]
    return "\n".join(["", "```text", *lines, "```", "", ""])


def shown(name: str, value: Any) -> str:
    """A value as people read it. name: of its column or row."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " / ".join(shown(name, part) for part in value.values())
    if isinstance(value, float) and any(part in name for part in SHARES):
        return f"{100 * value:.1f} %"
    return f"{value:,}"


def words(name: str) -> str:
    return f"{int(name):,}" if name.isdigit() else name.replace("_", " ")


def filled(match: re.Match[str]) -> str:
    """The quotation with its table."""
    tables = {"comparison": readme_table, "peers": peers_table}
    if match["name"] is None:
        return f"{match[1]}{tables[match['mark']]()}<!-- end of {match['mark']} -->"
    file = Path(__file__).with_name("results") / f"{match['name']}.json"
    draw = curve if match["mark"].startswith("curve") else table
    return f"{match[1]}{draw(json.loads(file.read_text('utf-8')))}<!-- end of {match['mark']} -->"


@pytest.mark.parametrize(
    "page", [README, BENCHMARKS, BENCHMARKS.with_name("rcrt.md"), BENCHMARKS.with_name("search.md")], ids=lambda page: page.name
)
def test_a_page_quotes_the_stored_results(page: Path) -> None:
    text = page.read_text("utf-8")
    assert QUOTE.search(text)
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(QUOTE.sub(filled, text), "utf-8")
    assert page.read_text("utf-8") == QUOTE.sub(filled, text)


@pytest.mark.parametrize("name", sentences())
def test_a_figure_in_the_text_of_the_readme_is_that_of_its_result(name: str) -> None:
    assert sentences()[name] in " ".join(README.read_text("utf-8").split())


@pytest.mark.parametrize("name", bridge())
def test_a_figure_in_the_text_of_the_benchmarks_is_that_of_its_result(name: str) -> None:
    assert bridge()[name] in " ".join(BENCHMARKS.read_text("utf-8").split())


def test_the_comparison_has_at_most_seven_rows() -> None:
    assert len([line for line in readme_table().splitlines() if line.startswith("| ")]) - 1 <= MAX_ROWS


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_a_result_tells_its_command_day_and_machine_and_no_path(file: Path) -> None:
    result = json.loads(file.read_text("utf-8"))
    _, group, command = result["command"].split()[:3]
    assert group == "bench"
    commands: Any = get_command(application)
    assert command in commands.commands["bench"].commands
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])
    assert result["machine"].keys() == {"cores", "load_average_before"}
    assert "/" not in result["command"]
    assert "/tmp" not in file.read_text("utf-8")  # noqa: S108 - a path that must not be there
    assert result["command"] in table(result)
