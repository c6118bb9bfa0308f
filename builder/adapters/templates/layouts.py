"""Tables for lists of like objects."""

from collections.abc import Callable
from typing import Any

MIN_ROWS = 3
MIN_FULL_SHARE = 0.75
"""Of a table's cells; objects with fewer common keys are not alike."""
MAX_CELL_CHARS = 80
"""With a longer cell a list is easier to read."""


def table(rows: list[dict[str, Any]], cell: Callable[[Any], str], caption: str) -> str:
    """Objects of plain values as a caption and a markdown table with a column a key; "" where they are too few or not alike.

    Cells are one line each, and their bars are escaped: no value can end its cell or its row. caption: with the field {number}.
    """
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    if len(rows) < MIN_ROWS or sum(map(len, rows)) < MIN_FULL_SHARE * len(rows) * len(columns):
        return ""
    cells = [[_escaped(cell(row.get(column, ""))) for column in columns] for row in rows]
    if any(len(text) > MAX_CELL_CHARS for line in cells for text in line):
        return ""
    head = [[_escaped(cell(column)) for column in columns]]
    first, *others = (f"| {' | '.join(line)} |" for line in (*head, *cells))
    return "\n".join((caption.format(number=len(rows)), first, "|---" * len(columns) + "|", *others))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
