"""Tokens → tree, with the white space that Handlebars takes away around tags."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from builder.adapters.templates.handlebars.expressions import Head, head_of
from builder.adapters.templates.handlebars.tokens import HandlebarsError, Tag, Text, tokens_of

MAX_CHARS = 65_536
"""Of a template."""
MAX_DEPTH = 50
"""Of blocks within blocks."""
_BLANK_END = re.compile(r"(?:^|(?<=\n))[ \t]*\Z")
_BLANK_START = re.compile(r"[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that is shown."""

    head: Head
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block with what it shows, and what it shows else."""

    head: Head
    body: tuple["Node", ...]
    inverse: tuple["Node", ...]
    line: int
    is_chained: bool = False
    """It began with `else`, so the block around it ends it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A tag that has no counterpart."""

    tag: Tag


Node = Text | Value | Block | Unknown


def parse(source: str) -> tuple[Node, ...]:
    """The template as a tree. Raises `HandlebarsError` with the line."""
    if len(source) > MAX_CHARS:
        raise HandlebarsError(1, f"it has more than {MAX_CHARS:,} characters; make it shorter")
    parser = _Parser(_stripped(list(tokens_of(source))))
    nodes, end = parser.nodes(0)
    if end is not None:
        raise HandlebarsError(end.line, f"{{{{{_source_of(end)}}}}} ends or divides no block; take it out")
    return nodes


def _source_of(tag: Tag) -> str:
    return f"/{tag.content}" if tag.kind == "close" else f"else {tag.content}".strip()


def _stripped(tokens: list[Text | Tag]) -> list[Text | Tag]:
    """Without the lines that hold a tag of structure and nothing else, and without the white space at `~`; comments go."""
    texts = {number: token.text for number, token in enumerate(tokens) if isinstance(token, Text)}
    for number, token in enumerate(tokens):
        if isinstance(token, Tag) and token.kind not in {"value", "other"} and _is_alone(tokens, number):
            texts[number - 1] = _BLANK_END.sub("", texts[number - 1])
            texts[number + 1] = _BLANK_START.sub("", texts[number + 1], count=1)
    for number, token in enumerate(tokens):
        if isinstance(token, Tag):
            texts[number - 1] = texts[number - 1].rstrip() if token.strips_before else texts[number - 1]
            texts[number + 1] = texts[number + 1].lstrip() if token.strips_behind else texts[number + 1]
    stripped = [Text(texts[number], token.line) if isinstance(token, Text) else token for number, token in enumerate(tokens)]
    return [token for token in stripped if not (isinstance(token, Tag) and token.kind == "comment")]


def _is_alone(tokens: Sequence[Text | Tag], number: int) -> bool:
    """Whether nothing but white space stands in the line of a tag. Every tag has a text on either side."""
    before, behind = tokens[number - 1], tokens[number + 1]
    if not isinstance(before, Text) or not isinstance(behind, Text):
        return False
    is_first, is_last = number == 1, number == len(tokens) - 2
    begins = bool(_BLANK_END.search(before.text)) and ("\n" in before.text or is_first)
    line_end = _BLANK_START.match(behind.text)
    return begins and line_end is not None and ("\n" in line_end.group() or is_last)


class _Parser:
    def __init__(self, tokens: list[Text | Tag]) -> None:
        self._tokens = tokens
        self._number = 0

    def nodes(self, depth: int) -> tuple[tuple[Node, ...], Tag | None]:
        """Up to the tag that ends or divides the block around them, and that tag."""
        nodes: list[Node] = []
        while self._number < len(self._tokens):
            token = self._tokens[self._number]
            self._number += 1
            if isinstance(token, Text):
                nodes += [token] if token.text else []
            elif token.kind in {"close", "else"}:
                return tuple(nodes), token
            elif token.kind == "value":
                nodes.append(Value(head_of(token.content, token.line), token.line))
            elif token.kind in {"open", "inverse"}:
                nodes.append(self._block(token, depth))
            else:
                nodes.append(Unknown(token))
        return tuple(nodes), None

    def _block(self, opening: Tag, depth: int, chained: str = "") -> Block:
        """chained: the name of the block whose `else` begins this one."""
        if depth > MAX_DEPTH:
            raise HandlebarsError(opening.line, f"more than {MAX_DEPTH} blocks stand in each other; take some out")
        head = head_of(opening.content, opening.line)
        name = chained or head.call.name
        body, end = self.nodes(depth + 1)
        inverse: tuple[Node, ...] = ()
        if end is not None and end.kind == "else":
            if end.content:
                inner = self._block(end, depth + 1, name)
                return Block(head, body, (inner,), opening.line, bool(chained))
            inverse, end = self.nodes(depth + 1)
        if end is None or end.kind != "close" or end.content != name:
            raise HandlebarsError(opening.line, f"the block {name} is not closed; write {{{{/{name}}}}} behind it")
        parts = (inverse, body) if opening.kind == "inverse" else (body, inverse)
        return Block(head, *parts, opening.line, bool(chained))
