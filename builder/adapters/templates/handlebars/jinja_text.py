"""Pieces of a Jinja2 template, written so that texts and white space stay as they are in the sandbox's environment.

It drops the first line end behind a block and the blanks in front of one (`trim_blocks`, `lstrip_blocks`).
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from builder.domain.control_text import visible

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_OPENING = re.compile(r"\{(?=[{%#]|\Z)")
_OPENING_IN_TEXT = re.compile(r"\{(?=[{%#])")


class Piece(NamedTuple):
    """A text, an expression whose value is shown, a statement, or a remark."""

    kind: Literal["text", "value", "block", "comment"]
    content: str


def joined(pieces: Iterable[Piece]) -> str:
    """The template."""
    merged = list(_merged(pieces))
    source = ""
    for number, (kind, content) in enumerate(merged):
        behind = merged[number + 1] if number + 1 < len(merged) else None
        match kind:
            case "text":
                source += _escaped(content, is_last=behind is None)
            case "value":
                source += f"{{{{ {content} }}}}"
            case _:
                source += _statement(kind, content, source, behind)
    return source


def member(value: str, names: Sequence[str]) -> str:
    """A field of a field of a value."""
    for name in names:
        value += f".{name}" if _NAME.fullmatch(name) else f"[{name if name.isdecimal() else literal(name)}]"
    return value


def literal(value: Any) -> str:
    """A JSON value in Jinja's words."""
    return "none" if value is None else json.dumps(value)


def _statement(kind: str, content: str, source: str, behind: Piece | None) -> str:
    """A line of its own where it stands at the beginning of one; else with the signs that keep white space as it is."""
    opening, closing = ("{%", "%}") if kind == "block" else ("{#", "#}")
    keep_before = "+" if source.rpartition("\n")[2].isspace() else ""
    if not source or source.endswith("\n"):
        return f"{opening} {content} {closing}\n"
    keep_behind = "+" if behind and behind.kind == "text" and behind.content.startswith("\n") else ""
    return f"{opening}{keep_before} {content} {keep_behind}{closing}"


def _merged(pieces: Iterable[Piece]) -> Iterable[Piece]:
    for kind, group in groupby(pieces, key=lambda piece: piece.kind):
        if kind == "text":
            text = "".join(piece.content for piece in group).replace("\r\n", "\n").replace("\r", "\n")
            yield Piece("text", visible(text))  # as every page shows it; a template must not hold control text
        else:
            yield from group


def _escaped(text: str, *, is_last: bool) -> str:
    """Text in which nothing begins a tag, not even together with a tag behind it."""
    return (_OPENING_IN_TEXT if is_last else _OPENING).sub('{{ "{" }}', text)
