"""Handlebars → equal Jinja2 for the sandbox, and problems. The sandbox has `trim_blocks` and `lstrip_blocks`."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from builder.domain.control_text import visible
from builder.extras.rcrt.handlebars import Block, Node, NotConverted, Problem, Value, parse

CONTEXT = "context"
"""RCRT's name of the body."""
LOOP_VALUES = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}
_OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "and": "and", "or": "or"}
BY_HAND = {name: f"write a {operator} b in Jinja2" for name, operator in _OPERATORS.items()} | {
    "not": "write not a in Jinja2",
    "len": "write a | length in Jinja2",
    "lookup": "write a[b] in Jinja2",
    "log": "take it out, because it shows nothing",
    "includeZero": "write {% if a or a == 0 %} in Jinja2",
    "|": "write {% for name in … %} or {% set name = … %} in Jinja2",
    "@root": "write the path from the body in Jinja2",
    "@index": "write {% set number = loop.index0 %} in its loop, and number here",
    "@key": "write it directly in its {{#each}}",
    ">": "write its text here",
    "*": "write its text here",
    "^": "write {% if not a %} in Jinja2",
    "..": "take some ../ away",
}
"""A word that is not converted → how its author says it."""
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PART = r"(?:[\w-]+|\[[^\]]+\])"
_PATH = re.compile(
    r"(?=\S)(?!(?:true|false|null|undefined|-?[\d.]*\d)$)"
    rf"(?P<up>(?:\.\.(?:/|$))*)(?P<own>(?:(?:this|\.)(?:[./]|$))?)(?P<names>(?:{_PART}(?:\.{_PART})*)?)"
)
_METHODS = frozenset({"get", "items", "keys", "values", "copy"})
_OPENING = re.compile(r"\{(?=[{%#]|\Z)")
_OPENING_IN_TEXT = re.compile(r"\{(?=[{%#])")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A template in Jinja2."""

    text: str
    """It has a comment in each place that is not converted."""
    problems: tuple[Problem, ...]


class Piece(NamedTuple):
    """A text, an expression, a statement, or a comment."""

    kind: Literal["text", "value", "block", "comment"]
    content: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """A block that has values of its own."""

    this: str
    """A Jinja expression; "" outside of all blocks."""
    loop_values: dict[str, str]


_OUTSIDE = _Scope("", {})


def convert(source: str, root: str = CONTEXT) -> Conversion:
    """root: name of the body in the result: `context` in `llm_hints`, `body` in a hint template."""
    writer = _Writer(root)
    try:
        text = joined(writer.pieces(parse(source), (_OUTSIDE,)))
    except NotConverted as error:
        return Conversion("", (error.problem,))
    return Conversion(text, tuple(sorted(writer.problems.values())))


class _Writer:
    def __init__(self, root: str) -> None:
        self._root = root
        self.problems: dict[str, Problem] = {}

    def pieces(self, nodes: Iterable[Node], scopes: tuple[_Scope, ...]) -> list[Piece]:
        pieces: list[Piece] = []
        for node in nodes:
            try:
                pieces += [Piece("text", node)] if isinstance(node, str) else self._tag(node, scopes)
            except NotConverted as error:
                self.problems[str(error)] = error.problem
                remark = f"line {error.problem.line} of the Handlebars template is not converted"
                pieces.append(Piece("comment", remark))
        return pieces

    def _tag(self, node: Value | Block, scopes: tuple[_Scope, ...]) -> list[Piece]:
        """Raises `NotConverted`."""
        if isinstance(node, Value):
            return [Piece("value", self._path(node, node.content, scopes))]
        if node.kind in {"#if", "#unless"}:
            return self._condition(node, scopes)
        if node.kind not in {"#each", "#with"}:
            raise _refused(node)
        value = self._path(node, node.argument, scopes)
        opening, scope = self._loop(node, value, scopes) if node.kind == "#each" else (f"if {value}", _Scope(value, {}))
        body = self.pieces(node.body, (*scopes, scope))
        end = Piece("block", "endfor" if node.kind == "#each" else "endif")
        return [Piece("block", opening), *body, *self._else(node, scopes), end]

    def _loop(self, block: Block, value: str, scopes: tuple[_Scope, ...]) -> tuple[str, _Scope]:
        depth = sum(bool(scope.loop_values) for scope in scopes) + 1
        this, key = ("this", "key") if depth == 1 else (f"this_{depth}", f"key_{depth}")
        if any(_has_key(block.body)):
            return f"for {key}, {this} in {value} | items", _Scope(this, LOOP_VALUES | {"@key": key})
        fix = "write .values() after the name of an object"
        self._note(block.line, "{{#each}} without {{@key}} is written for a list", fix, "list")
        return f"for {this} in {value}", _Scope(this, LOOP_VALUES)

    def _condition(self, block: Block, scopes: tuple[_Scope, ...], keyword: str = "if") -> list[Piece]:
        condition = self._path(block, block.argument, scopes)
        opening = f"{keyword} {'not ' if block.kind == '#unless' else ''}{condition}"
        body = self.pieces(block.body, scopes)
        match block.inverse:
            case (Block(kind="#if" | "#unless", is_chained=True) as other,):
                return [Piece("block", opening), *body, *self._condition(other, scopes, "elif")]
        return [Piece("block", opening), *body, *self._else(block, scopes), Piece("block", "endif")]

    def _else(self, block: Block, scopes: tuple[_Scope, ...]) -> list[Piece]:
        return [Piece("block", "else"), *self.pieces(block.inverse, scopes)] if block.inverse else []

    def _path(self, node: Value | Block, path: str, scopes: tuple[_Scope, ...]) -> str:
        if path in scopes[-1].loop_values:
            return scopes[-1].loop_values[path]
        match = _PATH.fullmatch(path)
        levels = match["up"].count("..") if match else 0
        if match is None or levels >= len(scopes):
            raise _refused(node)
        names = [part.strip("[]") for part in re.findall(_PART, match["names"])]
        this = scopes[-1 - levels].this
        is_context = names[:1] == [CONTEXT] and not (this and match["own"])
        self._note_names(node.line, names, "../" * (len(scopes) - 1) if this else "", is_context=is_context)
        return member(this or self._root, names[1:] if is_context and not this else names)

    def _note_names(self, line: int, names: Sequence[str], up: str, *, is_context: bool) -> None:
        """up: from the block that the path begins in to the record; "" = it begins in the record."""
        path = ".".join(names)
        if up and is_context:
            self._note(line, f"within a block {path} is a field of its item", f"write {up}{path} for the record's")
        elif path and not up and not is_context:
            fix = f"{self._root}.{path} is written; take it out if nothing was meant"
            self._note(line, f"{{{{{path}}}}} is empty in RCRT, whose data are under {CONTEXT}", fix)
        if names[-1:] == ["length"]:
            self._note(line, "RCRT shows nothing for .length of a list", "write | length for its number of items")
        if any(name.isdecimal() for name in names):
            self._note(line, "a number in a path is written as a place in a list", "write ['0'] for a field", "number")

    def _note(self, line: int, problem: str, fix: str, topic: str = "") -> None:
        self.problems.setdefault(topic or f"{line} {problem}", Problem(line, problem, fix, "note"))


def member(value: str, names: Sequence[str]) -> str:
    """The expression of a field of a field of a value."""
    for number, name in enumerate(names, 1):
        if name in _METHODS:
            value += f".get('{name}')" if number < len(names) else f".get('{name}', '')"
        else:
            value += f".{name}" if _NAME.fullmatch(name) else f"[{name if name.isdecimal() else json.dumps(name)}]"
    return value


def joined(pieces: Iterable[Piece]) -> str:
    """The template."""
    merged = list(_merged(pieces))
    source = ""
    for (kind, content), following in zip(merged, [*merged[1:], None], strict=False):
        match kind:
            case "text":
                source += (_OPENING_IN_TEXT if following is None else _OPENING).sub('{{ "{" }}', content)
            case "value":
                source += f"{{{{ {content} }}}}"
            case _:
                source += _statement(kind, content, source, following)
    return source


def _refused(node: Value | Block) -> NotConverted:
    words = re.findall(r"@\w+|[\w.-]+|[>*|^]", node.content)
    tips = (tip for word, tip in BY_HAND.items() if word in words)
    otherwise = "write {% for … %} or {% if … %} in Jinja2" if isinstance(node, Block) else "write its value in Jinja2"
    return NotConverted(node.line, f"{{{{{node.content}}}}} is not converted", next(tips, otherwise))


def _has_key(nodes: Iterable[Node]) -> Iterator[bool]:
    for node in nodes:
        if isinstance(node, Value):
            yield node.content == "@key"
        elif isinstance(node, Block):
            yield node.argument == "@key"
            yield from _has_key((*node.inverse, *(node.body if node.kind in {"#if", "#unless"} else ())))


def _statement(kind: str, content: str, source: str, following: Piece | None) -> str:
    opening, closing = ("{%", "%}") if kind == "block" else ("{#", "#}")
    keep_before = "+" if source.rpartition("\n")[2].isspace() else ""
    if not source or source.endswith("\n"):
        return f"{opening} {content} {closing}\n"
    keep_after = "+" if following and following.kind == "text" and following.content.startswith("\n") else ""
    return f"{opening}{keep_before} {content} {keep_after}{closing}"


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for kind, group in groupby(pieces, key=lambda piece: piece.kind):
        if kind == "text":
            text = "".join(piece.content for piece in group).replace("\r\n", "\n").replace("\r", "\n")
            yield Piece("text", visible(text))  # as every page shows it; a template must not hold control text
        else:
            yield from group
