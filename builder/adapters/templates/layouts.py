"""Tables for lists of like objects, and what of a log is worth reading."""

import re
from collections.abc import Callable
from typing import Any

from builder.domain.phrases import Mark

MIN_ROWS = 3
MIN_FILLED_SHARE = 0.75
"""Share of a table's cells that hold something; with less of them the objects are not alike."""
MAX_CELL_CHARS = 80
"""Characters of a cell from which a list is easier to read."""
MAX_LOG_LINES = 60
"""Lines up to which a log is shown whole."""
HEAD, TAIL, ERRORS = 8, 12, 12
"""Lines of a longer one that are kept."""


_ENTRY = re.compile(r"\W*(?:\d{4}-\d\d-\d\d|\d\d?:\d\d:\d\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)")
_ERROR = re.compile(
    r"\b(?:error|errors|fatal|critical|panic|exception|traceback|failed|failure)\b|(?:Error|Exception)\b", re.IGNORECASE
)


def table(rows: list[dict[str, Any]], cell: Callable[[Any], str]) -> str:
    """Objects of plain values as a caption and a markdown table with a column a key; "" where they are too few or not alike.

    Cells are one line each, and their bars are escaped: no value can end its cell or its row.
    """
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    if len(rows) < MIN_ROWS or sum(map(len, rows)) < MIN_FILLED_SHARE * len(rows) * len(columns):
        return ""
    cells = [[_escaped(cell(row.get(column, ""))) for column in columns] for row in rows]
    if any(len(text) > MAX_CELL_CHARS for line in cells for text in line):
        return ""
    head = [[_escaped(cell(column)) for column in columns]]
    first, *others = (f"| {' | '.join(line)} |" for line in (*head, *cells))
    return "\n".join((f"{len(rows)} rows", first, "|---" * len(columns) + "|", *others))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def digest(text: str, mark: Mark, share: float = 1) -> str:
    """The text; of a long log its head, its tail and the error lines between, with a mark wherever lines are left out.

    mark: lines that are missing → what stands in their place. share: of the lines that are kept otherwise.
    """
    lines = text.splitlines()
    if len(lines) <= MAX_LOG_LINES * share or 2 * sum(_ENTRY.match(line) is not None for line in lines) < len(lines):
        return text
    head, tail, most = (max(int(number * share), 1) for number in (HEAD, TAIL, ERRORS))
    between = range(head, len(lines) - tail)
    errors = [number for number in between if _ERROR.search(lines[number])][-most:]
    numbers = (*range(head), *errors, *range(len(lines) - tail, len(lines)))
    digest_lines: list[str] = []
    for before, number in zip((-1, *numbers), numbers, strict=False):
        digest_lines += [mark(number - before - 1)] if number > before + 1 else []
        digest_lines.append(lines[number])
    return "\n".join(digest_lines)
