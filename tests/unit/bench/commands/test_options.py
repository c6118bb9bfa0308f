"""Arguments and reports of the benchmark commands."""

import json

import pytest
import typer

from builder.bench.commands.options import folder, numbers, report


def test_numbers_are_comma_separated() -> None:
    assert numbers("500,1000") == (500, 1000)


@pytest.mark.parametrize("text", ["", "a", "500,", "1.5"])
def test_what_is_no_list_of_whole_numbers_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="no list of whole numbers"):
        numbers(text)


def test_numbers_begin_at_one() -> None:
    with pytest.raises(typer.BadParameter, match="below 1"):
        numbers("500,0")


def test_the_folder_of_a_bench_is_removed_afterwards() -> None:
    with folder() as path:
        (path / "store.sqlite3").write_bytes(b"")
    assert not path.exists()


def test_a_report_is_json_or_tables(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"sizes": {"700": {"p50": 19.1}}}
    table = ("medians", "messages", figures["sizes"])
    report(figures, True, table)
    assert json.loads(capsys.readouterr().out) == figures
    report(figures, False, table)
    printed = capsys.readouterr().out
    assert [word in printed for word in ("medians", "messages", "700", "p50", "19.1")] == [True] * 5
