"""Arguments and reports of the benchmark commands."""

import json

import pytest
import typer

from builder.cli.bench_options import folder, numbers, progress, report


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


@pytest.mark.parametrize(
    ("every", "lines"),
    [(0.0, ["latency: 1 steps of 3", "latency: 2 steps of 3", "latency: 3 steps of 3"]), (3600.0, ["latency: 1 steps of 3"])],
)
def test_a_long_bench_says_how_far_it_is_where_nobody_sees_a_bar(
    every: float, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("latency", 3, every) as step:
        for _ in range(3):
            step()
    assert capsys.readouterr().err.splitlines() == ["latency begins", *lines]


def test_a_bench_on_a_terminal_shows_a_bar_and_no_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("latency", 2) as step:
        step()
    said = capsys.readouterr().err
    assert "latency begins" not in said
    assert "50%" in said
