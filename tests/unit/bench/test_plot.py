"""Measured recall as a picture; that of the docs is made of `recall.toml` beside it. UPDATE_GOLDEN=1 draws it anew."""

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builder.bench.plot import Figures, Series, plot_svg, read_figures
from builder.domain.errors import Rejected

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "builder" / "docs" / "pictures"
PEERS = json.loads((ROOT / "tests" / "bench" / "peers.json").read_text("utf-8"))["peers"]
RESULTS = ROOT / "tests" / "bench" / "results"


def series(name: str, conversations: str = "0 to 2", **changes: Any) -> Series:
    fields: dict[str, Any] = {"source": "a test", "measured": date(2026, 11, 1), "points": ((500, 0.5), (4000, 0.9))}
    return Series(name=name, conversations=conversations, **(fields | changes))


def test_what_cannot_be_compared_is_in_panels_of_its_own_and_the_picture_says_so() -> None:
    one = plot_svg(Figures(title="T", recall="R", series=(series("a", ours=True), series("b"))))
    two = plot_svg(Figures(title="T", recall="R", series=(series("a", ours=True), series("b", "3 to 6"))))
    assert "Only lines of one panel can be compared." not in one
    assert "Only lines of one panel can be compared." in two
    assert ("conversations 3 to 6<" in one, "conversations 3 to 6<" in two) == (False, True)


def test_more_recall_is_higher_and_more_tokens_are_further_right() -> None:
    svg = plot_svg(Figures(title="T", recall="R", series=(series("a", ours=True),)))
    (points,) = [part.split('"')[0] for part in svg.split('points="') if 'class="one-line" stroke-width="3"' in part][:1]
    (left, low), (right, high) = [tuple(map(float, pair.split(","))) for pair in points.split()]
    assert left < right
    assert low > high


def test_a_file_of_another_form_is_refused_with_the_field(tmp_path: Path) -> None:
    file = tmp_path / "figures.toml"
    file.write_text('title = "T"\nrecall = "R"\n[[series]]\nname = "a"\n', "utf-8")
    with pytest.raises(Rejected, match=r"series\.0\.conversations: Field required; builder/docs/pictures/recall\.toml"):
        read_figures(file)
    with pytest.raises(Rejected, match="cannot be read"):
        read_figures(tmp_path / "nothing.toml")


def test_the_plot_of_the_docs_is_drawn_from_its_figures() -> None:
    svg = plot_svg(read_figures(FOLDER / "recall.toml"))
    if os.environ.get("UPDATE_GOLDEN"):
        (FOLDER / "recall.svg").write_text(svg, "utf-8")
    assert svg == (FOLDER / "recall.svg").read_text("utf-8")


def test_the_figures_of_the_plot_are_those_that_were_measured() -> None:
    theirs = {name.replace("`", ""): shares["any"] for name, shares in PEERS.items()}
    results = [json.loads(file.read_text("utf-8")) for file in sorted(RESULTS.glob("*-compare*.json"))]
    by_command = {each["command"]: each for each in results}
    for each in read_figures(FOLDER / "recall.toml").series:
        if each.source in by_command:
            stored = by_command[each.source]
            budgets = stored["figures"]["budgets"].values()
            assert each.points == tuple((row["tokens_mean"], row["evidence_any"]) for row in budgets), each.name
            assert each.measured.isoformat() == stored["date"]
        else:
            assert not each.ours
            assert each.points == tuple(zip((500, 1000, 2000, 4000), theirs[each.name], strict=True)), each.name
