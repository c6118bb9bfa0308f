"""Stored results of the benchmarks, and the tables that quote them.

A README quotes a result between two comments, which `UPDATE_DOCS=1` fills:
`<!-- results NAME: written by tests/bench/test_results.py, UPDATE_DOCS=1 -->` and `<!-- end of results NAME -->`.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from builder.cli.registry import application

RESULTS = sorted(Path(__file__).with_name("results").glob("*.json"))
README = Path(__file__).parents[2] / "README.md"
QUOTE = re.compile(r"(<!-- results (?P<name>[\w-]+): .*? -->\n)(?P<table>.*?)(<!-- end of results (?P=name) -->)", re.DOTALL)
NAMED_ROWS = ("orders", "budgets", "sizes", "baselines", "gains")


def table(result: dict[str, Any]) -> str:
    """The command, day and machine, and one table: a row a budget or size, else a row a measure."""
    figures, machine = result["figures"], result["machine"]
    rows = next((figures[key] for key in NAMED_ROWS if key in figures), None)
    if rows is None:
        rows = {name: value if isinstance(value, dict) else {"": value} for name, value in figures.items()}
        rows = {f"{name} {part}".strip(): {"value": one} for name, found in rows.items() for part, one in found.items()}
    rows = {name: {key: shown(value) for key, value in row.items()} for name, row in rows.items()}
    columns = list(next(iter(rows.values())))
    lines = [
        f"`{result['command']}` ({result['date']}, {machine['cores']} cores, load average {machine['load_average_before']}):",
        "",
        f"| | {' | '.join(map(words, columns))} |",
        "|---" * (1 + len(columns)) + "|",
        *(f"| {words(name)} | {' | '.join(row[column] for column in columns)} |" for name, row in rows.items()),
    ]
    return "\n".join(["", *lines, "", ""])


def shown(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(shown(part) for part in value.values())
    return f"{value:,}" if isinstance(value, int) else str(value)


def words(name: str) -> str:
    return f"{int(name):,}" if name.isdigit() else name.replace("_", " ")


def test_the_readme_quotes_the_stored_results() -> None:
    def filled(match: re.Match[str]) -> str:
        file = Path(__file__).with_name("results") / f"{match['name']}.json"
        return f"{match[1]}{table(json.loads(file.read_text('utf-8')))}{match[4]}"

    text = README.read_text("utf-8")
    assert len(QUOTE.findall(text)) >= 5
    if os.environ.get("UPDATE_DOCS"):
        README.write_text(QUOTE.sub(filled, text), "utf-8")
    assert README.read_text("utf-8") == QUOTE.sub(filled, text)


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
