"""Handlebars text → tokens: texts, and the tags between them. Comments and escaped tags are resolved here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

TagKind = Literal["value", "open", "inverse", "close", "else", "comment", "partial", "other"]

_OPEN = re.compile(r"(\\*)(\{{2,4})")
_QUOTED = re.compile(r'"[^"]*"|\'[^\']*\'|\[[^\]]*\]')
_SIGNS: dict[str, TagKind] = {"#": "open", "^": "inverse", "/": "close", ">": "partial"}


class HandlebarsError(ValueError):
    """The text is no Handlebars template; RCRT cannot read it either."""

    def __init__(self, line: int, problem: str) -> None:
        """line: from 1."""
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is shown as it is."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """What stands between braces."""

    kind: TagKind
    content: str
    """Without its sign and the white space around it."""
    line: int
    strips_before: bool
    """`{{~`: white space in front of it goes."""
    strips_behind: bool


def tokens_of(source: str) -> Iterator[Text | Tag]:
    """In order; neighbouring texts are not joined. Raises `HandlebarsError`."""
    position = 0
    while opening := _OPEN.search(source, position):
        line = source.count("\n", 0, opening.start()) + 1
        slashes = len(opening[1])
        yield Text(source[position : opening.start()] + "\\" * (slashes // 2), line)
        if slashes % 2:
            position = _end_of_escaped(source, opening.end())
            yield Text(source[opening.start(2) : position], line)
            continue
        if len(opening[2]) == len("{{{{"):
            raise HandlebarsError(line, "a raw block {{{{…}}}} is not taken; write its text with \\{{ in front of each tag")
        tag, position = _tag(source, opening.start(2), line)
        yield tag
    yield Text(source[position:], source.count("\n", 0, position) + 1)


def _end_of_escaped(source: str, start: int) -> int:
    """Behind the tag that an escaped brace begins."""
    end = source.find("}}", start)
    return len(source) if end < 0 else end + len("}}")


def _tag(source: str, start: int, line: int) -> tuple[Tag, int]:
    """The tag that begins here, and where it ends."""
    is_triple = source.startswith("{{{", start)
    first = start + (len("{{{") if is_triple else len("{{"))
    strips_before = source.startswith("~", first)
    first += strips_before
    end = _end_of_tag(source, first, line, is_triple=is_triple)
    content = source[first:end]
    strips_behind = content.endswith("~")
    behind = end + (len("}}}") if is_triple else len("}}"))
    kind, inner = _kind(content.removesuffix("~").strip(), is_triple=is_triple)
    return Tag(kind=kind, content=inner, line=line, strips_before=strips_before, strips_behind=strips_behind), behind


def _end_of_tag(source: str, start: int, line: int, *, is_triple: bool) -> int:
    """Where its closing braces begin: not within quotes, and of a long comment behind its two dashes."""
    closing = "}}}" if is_triple else "}}"
    if source.startswith("!--", start):
        end = source.find("--", start + len("!--"))
        while end >= 0 and not source.startswith(("--}}", "--~}}"), end):
            end = source.find("--", end + 1)
        end = source.find(closing, end) if end >= 0 else -1
    else:
        is_comment = source.startswith("!", start)
        blank = source[start:] if is_comment else _QUOTED.sub(lambda match: "_" * len(match.group()), source[start:])
        end = blank.find(closing)
        end = start + end if end >= 0 else -1
    if end < 0:
        raise HandlebarsError(line, f"a tag is not closed; write {closing} behind it")
    return end


def _kind(content: str, *, is_triple: bool) -> tuple[TagKind, str]:
    sign = "" if is_triple else content[:1]
    if sign == "!":
        return "comment", content
    if sign == "&":
        return "value", content[1:].strip()
    if content == "^" or re.fullmatch(r"else(\s.*)?", content, re.DOTALL):
        return "else", "" if content == "^" else content.removeprefix("else").strip()
    if sign == "*":
        return "other", content
    if sign in _SIGNS:
        inner = content[1:].strip()
        return ("other", content) if inner[:1] in {">", "*"} else (_SIGNS[sign], inner)
    return "value", content
