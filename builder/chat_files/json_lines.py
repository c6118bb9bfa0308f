"""JSON values of a file with their lines: one a line, or values and lists over several lines."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from builder.domain.json_values import TOO_DEEP, parse

MARK = "\ufeff"
"""A byte order mark; some editors write one."""
_BYTES = re.compile("[\udc80-\udcff]")
"""Bytes of a text that was decoded with `surrogateescape`."""
MAX_BEGINNING = 60
_GAP = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class LineValue:
    """A value of the file, or why there is none."""

    line: int
    """In the file, from 1: where it begins."""
    value: Any = None
    problem: str = ""
    text: str = ""
    """The beginning of what is no JSON."""


def json_values(lines: Iterable[str]) -> Iterator[LineValue]:
    """Each value; items of a list are values of their own. What is no JSON is named with its line, and the rest is read."""
    rows = list(lines)
    if rows:
        rows[0] = rows[0].removeprefix(MARK)
    first = next((row for row in rows if row.strip()), "")
    is_value = _parsed(0, first).problem == ""
    yield from _values_of_rows(rows) if is_value or not first.startswith(("[", "{")) else _values_of_text("\n".join(rows))


def _values_of_rows(rows: list[str]) -> Iterator[LineValue]:
    for number, row in enumerate(rows, 1):
        rows[number - 1] = ""  # a file may be large
        if not row.strip():
            continue
        read = _parsed(number, row)
        if isinstance(read.value, list):
            yield from (LineValue(number, item) for item in read.value)
        else:
            yield read


def _parsed(line: int, text: str) -> LineValue:
    if bad := _BYTES.search(text):
        return LineValue(line, problem=f"it is no UTF-8 text at character {bad.start() + 1}; save the file as UTF-8")
    try:
        return LineValue(line, parse(text))
    except ValueError as error:
        return LineValue(line, problem=_problem(error), text=text[:MAX_BEGINNING])


def _problem(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    where = f"line {error.lineno}, character {error.colno}" if error.lineno > 1 else f"character {error.colno}"
    return f"it is no JSON: {error.msg} at {where}; write one JSON value a line"


class _Text:
    """A text that is read value by value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._line, self._counted = 1, 0

    def skip(self, sign: str = "") -> bool:
        """Go behind white space, and then behind the sign if it is there."""
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at
        is_there = bool(sign) and self.text.startswith(sign, self.at)
        self.at += is_there
        return is_there

    def value(self) -> LineValue:
        """The next one; behind what is none is the next line that may begin one."""
        line = self.line()
        try:
            _, end = json.JSONDecoder().raw_decode(self.text, self.at)
            read = _parsed(line, self.text[self.at : end])
            self.at = end
        except RecursionError:
            read = LineValue(line, problem=TOO_DEEP)
            self._resume()
        except ValueError as error:
            read = LineValue(line, problem=_problem(error), text=self.text[self.at : self.at + MAX_BEGINNING])
            self._resume()
        return read

    def line(self) -> int:
        """The line of the place."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def _resume(self) -> None:
        """At the next line that is not deeper and may begin a value."""
        begin = self.text.rfind("\n", 0, self.at) + 1
        pattern = re.compile(rf"\n(?=[ \t]{{0,{self.at - begin}}}[^\s}}\]\",:])")
        match = pattern.search(self.text, self.at)
        self.at = match.end() if match else len(self.text)


def _values_of_text(source: str) -> Iterator[LineValue]:
    text = _Text(source)
    text.skip()
    in_list = False
    while text.at < len(source):
        if not in_list and text.skip("["):
            in_list = not text.skip("]")
        elif in_list and text.skip("]"):
            in_list = False
        else:
            yield text.value()
            text.skip(",")
        text.skip()
