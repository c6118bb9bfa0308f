"""Handlebars → tree of texts, values and blocks: paths, `each`, `if`, `unless`, `with`.

A block tag or comment alone in its line takes the line with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from builder.domain.lint_finding import Severity

MAX_DEPTH = 50
"""Blocks within blocks."""
_COMMENT = r"!--(?:(?!--\}\}).)*--|!(?!--)[^{}]*"
_STRUCTURE = r"\s*(?:[#^/>]|else(?=[\s}]))[^{}]*"
_TAG = re.compile(
    rf"^[ \t]*\{{\{{(?P<alone>{_COMMENT}|{_STRUCTURE})\}}\}}[ \t]*(?:\r?\n|\Z)"
    rf"|\{{\{{(?P<inline>{_COMMENT}|[^{{}}!][^{{}}]*)\}}\}}"
    r"|\{\{\{(?P<unescaped>[^{}]+)\}\}\}"
    r"|(?P<other>\\?\{{2,})",
    re.MULTILINE | re.DOTALL,
)
_OPENING = re.compile(r"(?:([#^][>*]?)|else\b)\s*(\S*)\s*(.*)", re.DOTALL)


class Problem(NamedTuple):
    """A line that the author has to look at."""

    line: int
    """Line of the Handlebars template, from 1."""
    problem: str
    fix: str
    severity: Severity = "error"
    """error: not converted. note: may look different from RCRT."""

    def __str__(self) -> str:
        """The one line that people read."""
        return f"line {self.line}: {'note: ' if self.severity == 'note' else ''}{self.problem}; {self.fix}"


class NotConverted(ValueError):  # noqa: N818 - named after what happened
    """The template is no Handlebars, or uses more than RCRT's records."""

    def __init__(self, line: int, problem: str, fix: str) -> None:
        """line: from 1."""
        self.problem = Problem(line, problem, fix)
        super().__init__(str(self.problem))


@dataclass(frozen=True, slots=True)
class Tag:
    """The text between braces."""

    content: str
    line: int


@dataclass(frozen=True, slots=True)
class Value:
    """A tag whose value is shown."""

    content: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A tag with what it shows, and what it shows else."""

    content: str
    line: int
    kind: str
    """Sign and name: `#each`."""
    argument: str
    body: tuple["Node", ...]
    inverse: tuple["Node", ...]
    is_chained: bool
    """It begins with `else`, so the block around it ends it."""


Node = str | Value | Block


def parse(source: str) -> tuple[Node, ...]:
    """The template as a tree. Raises `NotConverted` for unclosed tags and blocks."""
    nodes, end = _nodes(_tokens(source), 0)
    if end is not None:
        raise NotConverted(end.line, f"{{{{{end.content}}}}} ends or divides no block", "take it out")
    return nodes


def _tokens(source: str) -> Iterator[str | Value | Tag]:
    end, start, line = 0, 0, 1
    for match in _TAG.finditer(source):
        yield source[end : match.start()]
        line += source.count("\n", start, match.start())
        start, end = match.start(), match.end()
        if match["other"]:
            raise NotConverted(line, *_fault(match["other"]))
        content = (match["alone"] or match["inline"] or match["unescaped"]).strip()
        if "~" in {content[:1], content[-1:]}:
            fix = "take the ~ out, and the white space around the tag"
            raise NotConverted(line, f"{{{{{content}}}}} takes white space away", fix)
        if match["unescaped"] or (content[:1] not in {"#", "^", "/", "!"} and content.split()[:1] != ["else"]):
            yield Value(content, line)
        elif content[0] != "!":
            yield Tag(content, line)
    yield source[end:]


def _fault(opening: str) -> tuple[str, str]:
    if opening[0] == "\\":
        return "\\{{ shows braces", "write {{ '{{' }} in Jinja2"
    if len(opening) > len("{{{"):
        return "{{{{ begins a raw block", "write {% raw %}…{% endraw %} in Jinja2"
    return f"{opening} begins a tag that is empty or not closed", "close it, or write {{ '{{' }} for the braces"


def _nodes(tokens: Iterator[str | Value | Tag], depth: int) -> tuple[tuple[Node, ...], Tag | None]:
    nodes: list[Node] = []
    for token in tokens:
        if not isinstance(token, Tag):
            nodes += [token] if token else []
        elif token.content[0] == "#" or (token.content[1:] and token.content[0] == "^"):
            nodes.append(_block(token, tokens, depth))
        else:
            return tuple(nodes), token
    return tuple(nodes), None


def _block(opening: Tag, tokens: Iterator[str | Value | Tag], depth: int, around: str = "") -> Block:
    if depth > MAX_DEPTH:
        raise NotConverted(opening.line, f"more than {MAX_DEPTH} blocks are within each other", "take some out")
    ((sign, name, argument),) = _OPENING.findall(opening.content)
    closing = around or name
    body, end = _nodes(tokens, depth + 1)
    inverse: tuple[Node, ...] = ()
    if end is not None and end.content[0] in "e^":
        if end.content not in {"else", "^"}:
            inverse, end = (_block(end, tokens, depth + 1, closing),), Tag(f"/{closing}", end.line)
        else:
            inverse, end = _nodes(tokens, depth + 1)
    if end is None or end.content[0] != "/" or end.content[1:].strip() != closing:
        raise NotConverted(opening.line, f"{{{{{opening.content}}}}} is not closed", f"write {{{{/{closing}}}}} after it")
    return Block(
        content=opening.content,
        line=opening.line,
        kind=(sign or "#") + name,
        argument=argument,
        body=body,
        inverse=inverse,
        is_chained=bool(around),
    )
