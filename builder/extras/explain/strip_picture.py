"""A session and its page: one cell a breadcrumb by how much of it is on the page, tokens as a bar, the page beside it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from builder.extras.explain.cells import STATES, State
from builder.extras.explain.svg import SERIES, box, picture, words
from builder.wire.subjects import session_text

WIDTH, MARGIN, SIDE = 880, 16, 400
CELL, STEP = 15, 18
COLUMNS = SIDE // STEP
MAX_CELLS = 40 * COLUMNS
"""More are counted in a line above."""
PAGE_X, LINE_HEIGHT, LINE_CHARS = MARGIN + SIDE + 24, 13, 68
MIN_LINES, MAX_LINES = 30, 60
"""Of the page."""
NAMES: Mapping[State, str] = {
    "whole": "whole on the page",
    "part": "in part",
    "line": "a line that stands for it",
    "found": "found for the question",
    "not": "not on the page",
}
FULL: Mapping[State, str] = {"whole": "one", "found": "two"}
"""State → colour of the whole cell."""
SECTIONS = SERIES[2:]
"""Colours that no state has."""
GRID_Y = 66


def strip_svg(answer: Mapping[str, Any]) -> str:
    """answer: of the request `strip`."""
    cells = answer["cells"][-MAX_CELLS:]
    earlier = answer["earlier"] + len(answer["cells"]) - len(cells)
    count = len(cells) + earlier
    bottom = GRID_Y + STEP * -(-len(cells) // COLUMNS)
    legend = bottom + 20
    bar = legend + 20 * len(STATES) + 20
    lines_beside = (bar + 60 - GRID_Y) // LINE_HEIGHT
    lines = _page_lines(answer["content"], max(MIN_LINES, min(lines_beside, MAX_LINES)))
    height = max(bar + 60, GRID_Y + 16 + LINE_HEIGHT * len(lines)) + MARGIN
    head = f"{count:,} messages, calls and results of session {session_text(answer['session'])}"
    tokens = f"{answer['tokens']:,} of {answer['budget']:,} tokens"
    return picture(
        WIDTH,
        height,
        f"{head}, and its page of {tokens}",
        (
            words(MARGIN, 28, head, "head ink"),
            words(MARGIN, 48, f"{earlier:,} earlier ones are not drawn" if earlier else "the oldest first", "faint"),
            *_grid(cells),
            *_legend(cells, legend),
            *_bar(answer, bar),
            words(PAGE_X, 28, f"The page: {tokens}", "head ink"),
            words(PAGE_X, 48, f"of agent {answer['consumer']} for message {answer['trigger']}", "faint"),
            *_page(lines, height),
        ),
    )


def _grid(cells: list[dict[str, Any]]) -> Iterator[str]:
    for number, each in enumerate(cells):
        row, column = divmod(number, COLUMNS)
        name = f"{each['id']}: {NAMES[each['state']]}, {each['tokens']:,} tokens"
        name += f", {each['tokens_shown']:,} on the page with its label" if each["tokens_shown"] else ""
        yield from _cell(MARGIN + STEP * column, GRID_Y + STEP * row, each["state"], name)


def _cell(x: float, y: float, state: State, name: str = "") -> Iterator[str]:
    """A state has a shape, too: who sees no colours tells them apart."""
    if state in FULL:
        yield box(x, y, CELL, CELL, FULL[state], 2, name)
        return
    yield box(x, y, CELL, CELL, "edge", 2)
    yield box(x + 1, y + 1, CELL - 2, CELL - 2, "back", 1, name)
    if state == "part":
        yield box(x + 1, y + CELL / 2, CELL - 2, CELL / 2 - 1, "one")
    if state == "line":
        yield box(x + 2, y + CELL / 2 - 1.5, CELL - 4, 3, "one")


def _legend(cells: list[dict[str, Any]], y: float) -> Iterator[str]:
    counts, tokens = Counter[str](), Counter[str]()
    for each in cells:
        counts[each["state"]] += 1
        tokens[each["state"]] += each["tokens"]
    for number, state in enumerate(STATES):
        place = y + 20 * number
        yield from _cell(MARGIN, place, state)
        yield words(MARGIN + STEP + 6, place + 11, NAMES[state])
        yield words(MARGIN + 250, place + 11, f"{counts[state]:,}", "ink", "end")
        yield words(MARGIN + 370, place + 11, f"{tokens[state]:,} tokens", "faint", "end")


def _bar(answer: Mapping[str, Any], y: float) -> Iterator[str]:
    """The budget, and the tokens of each section."""
    width, x = SIDE - 8, float(MARGIN)
    yield words(MARGIN, y, "tokens of the page, by section; grey is unused")
    yield box(MARGIN, y + 8, width, 14, "edge", 2)
    for number, section in enumerate(answer["sections"]):
        size = width * section["tokens"] / max(answer["budget"], 1)
        yield box(x, y + 8, round(size, 2), 14, SECTIONS[number % len(SECTIONS)], 0, f"{section['name']}: {section['tokens']:,}")
        x = round(x + size, 2)
    names = ", ".join(f"{section['name']} {section['tokens']:,}" for section in answer["sections"])
    yield words(MARGIN, y + 40, names if len(names) <= LINE_CHARS else names[: LINE_CHARS - 1] + "…", "faint")


def _page_lines(content: str, most: int) -> list[str]:
    """Beginnings of the page's lines; where there are too many, the first and the last, which has the question."""
    every = content.rstrip("\n").split("\n")
    lines = [text if len(text) <= LINE_CHARS else f"{text[: LINE_CHARS - 1]}…" for text in every]
    if len(lines) <= most:
        return lines
    head, tail = most // 3, most - most // 3 - 3
    return [*lines[:head], "", f"   ({len(lines) - head - tail:,} more lines)", "", *lines[-tail:]]


def _page(lines: list[str], height: float) -> Iterator[str]:
    yield box(PAGE_X - 8, GRID_Y - 6, WIDTH - PAGE_X + 8 - MARGIN, height - GRID_Y - MARGIN + 6, "edge", 4)
    yield box(PAGE_X - 7, GRID_Y - 5, WIDTH - PAGE_X + 6 - MARGIN, height - GRID_Y - MARGIN + 4, "paper", 3)
    for number, text in enumerate(lines):
        if text.strip():
            yield words(PAGE_X, GRID_Y + 10 + LINE_HEIGHT * number, text, "mono ink")
