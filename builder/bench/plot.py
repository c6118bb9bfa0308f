"""Measured recall against tokens: one panel for each set of conversations, because only those of one set can be compared."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from textwrap import shorten

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from builder.domain.errors import Rejected
from builder.extras.explain.svg import SERIES, dot, picture, words

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Series(BaseModel):
    """One system on one set of conversations."""

    model_config = _STRICT
    name: str
    conversations: str = Field(description="the set that it was measured on")
    source: str = Field(description="the command, or the page that has the figures")
    measured: date
    ours: bool = False
    points: tuple[tuple[float, float], ...] = Field(min_length=1, description="tokens used, and the share of questions, 0 to 1")


class Figures(BaseModel):
    """Of a plot."""

    model_config = _STRICT
    title: str
    recall: str = Field(description="what the share is of")
    series: tuple[Series, ...] = Field(min_length=1)


WIDTH, MARGIN, TOP, PLOT_HEIGHT, KEY_HEIGHT = 880, 16, 78, 260, 18
AXIS = 34
"""Pixels left of a panel and below it, for its numbers."""
CHAR_WIDTH = 6.4
"""Pixels of a letter, on average."""
TICKS = (100, 250, 500, 1000, 2000, 4000, 8000, 16000)


def read_figures(file: Path) -> Figures:
    """Raises `Rejected`."""
    try:
        return TypeAdapter(Figures).validate_python(tomllib.loads(file.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Rejected(f"{file}: {where}: {first['msg']}; builder/docs/pictures/recall.toml shows the form") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Rejected(f"{file} cannot be read: {error}; give a TOML file as builder/docs/pictures/recall.toml") from error


def plot_svg(figures: Figures) -> str:
    """The picture."""
    panels = list(dict.fromkeys(each.conversations for each in figures.series))
    width = (WIDTH - 2 * MARGIN) / len(panels)
    keys = max(sum(each.conversations == name for each in figures.series) for name in panels)
    height = TOP + PLOT_HEIGHT + AXIS + KEY_HEIGHT * (keys + 2) + MARGIN
    drawn: list[str] = [
        words(MARGIN, 28, figures.title, "head ink"),
        words(MARGIN, 46, f"{figures.recall}, against tokens used. {_caution(panels)}", "faint"),
        words(MARGIN, height - MARGIN, f"Measured {_days(figures.series)}; dashed lines are not ours.", "faint"),
    ]
    span = _span(figures.series)
    for number, name in enumerate(panels):
        series = [each for each in figures.series if each.conversations == name]
        drawn += _panel(MARGIN + number * width, width - MARGIN, name, series, span)
    return picture(WIDTH, height, figures.title, drawn)


def _caution(panels: Sequence[str]) -> str:
    return "Only lines of one panel can be compared." if len(panels) > 1 else ""


def _days(series: Sequence[Series]) -> str:
    days = sorted({each.measured for each in series})
    return f"{days[0]} to {days[-1]}" if days[1:] else f"{days[0]}"


def _span(series: Sequence[Series]) -> tuple[float, float]:
    """Logarithms of the fewest and the most tokens, with room."""
    tokens = [x for each in series for x, _ in each.points]
    return math.log(min(tokens) * 0.9), math.log(max(tokens) * 1.1)


def _panel(x: float, width: float, name: str, series: Sequence[Series], span: tuple[float, float]) -> Iterator[str]:
    x0, x1, y1 = x + AXIS, x + width, TOP + PLOT_HEIGHT
    yield words(x0, TOP - 10, f"conversations {name}")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = y1 - share * PLOT_HEIGHT
        yield _line(((x0, y), (x1, y)), "edge-line")
        yield words(x0 - 6, y + 4, f"{share:.0%}", "faint", "end")
    for tick in TICKS:
        if span[0] <= math.log(tick) <= span[1]:
            yield words(_x(tick, x0, x1, span), y1 + 16, f"{tick:,}", "faint", "middle")
    yield words((x0 + x1) / 2, y1 + 31, "tokens", "faint", "middle")
    colours = iter(SERIES[1:] * len(series))
    for number, each in enumerate(series):
        colour = SERIES[0] if each.ours else next(colours)
        points = [
            (round(_x(tokens, x0, x1, span), 1), round(y1 - share * PLOT_HEIGHT, 1)) for tokens, share in sorted(each.points)
        ]
        key = y1 + AXIS + KEY_HEIGHT * (number + 1)
        dashes = "" if each.ours else "5 3"
        yield _line(points, f"{colour}-line", 3 if each.ours else 1.5, dashes)
        for (at, y), (tokens, share) in zip(points, sorted(each.points), strict=True):
            yield dot(at, y, colour, f"{each.name}: {share:.1%} with {tokens:,.0f} tokens ({each.source}, {each.measured})")
        yield _line(((x0, key - 4), (x0 + 22, key - 4)), f"{colour}-line", 3 if each.ours else 1.5, dashes)
        yield words(x0 + 30, key, shorten(each.name, int((width - AXIS - 30) / CHAR_WIDTH), placeholder=" …"))


def _x(tokens: float, x0: float, x1: float, span: tuple[float, float]) -> float:
    return x0 + (x1 - x0) * (math.log(tokens) - span[0]) / (span[1] - span[0])


def _line(points: Iterable[tuple[float, float]], kind: str, width: float = 1, dashes: str = "") -> str:
    """A line through points."""
    gaps = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" class="{kind}" stroke-width="{width:g}"{gaps}/>'
