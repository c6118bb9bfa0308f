"""What stands in a tag: paths, literals, and calls of helpers."""

import json
import re
from dataclasses import dataclass
from typing import Any

from builder.adapters.templates.handlebars.tokens import HandlebarsError

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"[^"]*"|\'[^\']*\')|(?P<bar>\||\(|\))|(?P<keyword>[\w-]+)=|(?P<word>(?:[^\s()|=\[\]"\']|\[[^\]]*\])+))'
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}


@dataclass(frozen=True, slots=True)
class Path:
    """A place in the data: `../items.[0].name`, `@index`, `this`."""

    levels: int
    """How many blocks further out it begins (`../`)."""
    names: tuple[str, ...]
    """Without `this`; `@index` as it stands."""
    is_own: bool = False
    """It begins with `this` or `./`."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number, true, false or null."""

    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """A helper with its arguments."""

    name: str
    arguments: tuple["Expression", ...]
    keywords: tuple[tuple[str, "Expression"], ...]


Expression = Path | Literal | Call


@dataclass(frozen=True, slots=True)
class Head:
    """The content of a tag."""

    call: Call
    names: tuple[str, ...]
    """Behind `as`: `as |item index|`."""


def head_of(content: str, line: int) -> Head:
    """Raises `HandlebarsError`."""
    tokens = _tokens(content, line)
    names: tuple[str, ...] = ()
    if "|" in tokens:
        start = tokens.index("|")
        between = tokens[start + 1 : -1]
        if (
            tokens[start - 1 : start] != [("word", "as")]
            or tokens[-1] != "|"
            or not all(isinstance(each, tuple) for each in between)
        ):
            raise HandlebarsError(line, "a bar stands alone; write block parameters as |item index|")
        names = tuple(name for _, name in between)
        tokens = tokens[: start - 1]
    call, rest = _call(tokens, line)
    if rest:
        raise HandlebarsError(line, "a bracket is closed that was not opened; take it out")
    return Head(call, names)


def path_of(word: str) -> Path:
    """`a.b`, `a/b`, `a.[0]`, `../a`, `this.a`, `./a`, `.`."""
    levels = 0
    while word == ".." or word.startswith("../"):
        levels, word = levels + 1, word[len("../") :]
    parts = [part.strip("[]") if part.startswith("[") else part for part in re.findall(r"\[[^\]]*\]|[^./\[\]]+", word)]
    is_own = word.startswith("./") or word == "." or parts[:1] == ["this"]
    return Path(levels, tuple(parts[1:] if parts[:1] == ["this"] else parts), is_own)


def _tokens(content: str, line: int) -> list[Any]:
    """Brackets and bars as they are; words, texts and names of arguments as pairs."""
    tokens: list[Any] = []
    position = 0
    while position < len(content.rstrip()):
        match = _TOKEN.match(content, position)
        if match is None:
            raise HandlebarsError(line, f"{content[position : position + 20].strip()!r} is no expression; mend it")
        kind = str(match.lastgroup)
        tokens.append(match["bar"] if kind == "bar" else (kind, match[kind]))
        position = match.end()
    return tokens


def _call(tokens: list[Any], line: int) -> tuple[Call, list[Any]]:
    """A name and what it is called with, up to a closing bracket or the end; and the tokens behind that."""
    if not tokens or tokens[0] in {")", "|"}:
        raise HandlebarsError(line, "a tag is empty; write what it shows")
    if tokens[0] == "(" or tokens[0][0] != "word":
        first, rest = _argument(tokens, line)
        return Call("", (first,), ()), rest
    name, rest = str(tokens[0][1]), tokens[1:]
    arguments: list[Expression] = []
    keywords: list[tuple[str, Expression]] = []
    while rest and rest[0] != ")":
        key = rest[0][1] if rest[0] != "(" and rest[0][0] == "keyword" else ""
        argument, rest = _argument(rest[1:] if key else rest, line)
        if key:
            keywords.append((key, argument))
        else:
            arguments.append(argument)
    return Call(name, tuple(arguments), tuple(keywords)), rest


def _argument(tokens: list[Any], line: int) -> tuple[Expression, list[Any]]:
    if not tokens:
        raise HandlebarsError(line, "an argument has no value; write one")
    first, rest = tokens[0], tokens[1:]
    if first == "(":
        call, rest = _call(rest, line)
        if rest[:1] != [")"]:
            raise HandlebarsError(line, "a bracket is not closed; close it")
        return call, rest[1:]
    if first in {")", "|"}:
        raise HandlebarsError(line, f"{first} stands where a value belongs; take it out")
    kind, word = first
    return (Literal(word[1:-1]) if kind == "text" else _word(word)), rest


def _word(word: str) -> Expression:
    if word in _LITERALS:
        return Literal(_LITERALS[word])
    return Literal(json.loads(word)) if _NUMBER.fullmatch(word) else path_of(word)
