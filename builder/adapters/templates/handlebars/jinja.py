"""Tree → Jinja2 that writes the same, and what of it cannot be converted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from builder.adapters.templates.handlebars.expressions import Call, Expression, Literal, Path, path_of
from builder.adapters.templates.handlebars.jinja_text import Piece, joined, literal, member
from builder.adapters.templates.handlebars.tokens import HandlebarsError, Text
from builder.adapters.templates.handlebars.tree import Block, Node, Unknown, Value, parse
from builder.domain.lint_finding import Severity

CONTEXT = "context"
"""What RCRT's templates call the body."""
OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "and": "and", "or": "or"}
"""Helper of two arguments or more → Jinja's operator."""
HELPERS = (*OPERATORS, "not", "len", "lookup")
LOOP_VALUES = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}
NOTHING = "''"


class Problem(NamedTuple):
    """What the author has to look at."""

    line: int
    """Of the Handlebars template, from 1."""
    problem: str
    fix: str
    severity: Severity = "error"
    """error: it is not converted. note: it is, and shows something else than in RCRT."""

    def __str__(self) -> str:
        """The one line that people read."""
        return f"line {self.line}: {'note: ' if self.severity == 'note' else ''}{self.problem}; {self.fix}"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A template in Jinja2."""

    text: str
    """With a comment in each place that is not converted."""
    problems: tuple[Problem, ...]


def convert(source: str, root: str = CONTEXT) -> Conversion:
    """root: the name of the body in the result: `context` in `llm_hints`, `body` in a hint template."""
    try:
        nodes = parse(source)
    except HandlebarsError as error:
        problem, _, fix = error.problem.partition("; ")
        return Conversion("", (Problem(error.line, problem, fix or "mend it"),))
    writer = _Writer(root)
    text = joined(writer.pieces(nodes, (_Scope(),)))
    return Conversion(text, tuple(sorted(dict.fromkeys(writer.problems))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """What names stand for within a block."""

    this: str = ""
    """As a Jinja expression; "" outside of all blocks."""
    is_loop: bool = False
    key: str = ""
    names: dict[str, str] = field(default_factory=dict)
    """Of block parameters → Jinja expressions."""


_Scopes = tuple[_Scope, ...]


class _Writer:
    def __init__(self, root: str) -> None:
        self._root = root
        self._blocks: dict[str, Callable[[Block, _Scopes], Iterator[Piece]]] = {
            "each": self._each,
            "if": self._if,
            "unless": self._if,
            "with": self._with,
        }
        self.problems: list[Problem] = []

    def pieces(self, nodes: Iterable[Node], scopes: _Scopes) -> Iterator[Piece]:
        """The nodes in Jinja."""
        for node in nodes:
            match node:
                case Text(text):
                    yield Piece("text", text)
                case Value(head, line):
                    yield from self._value(head.call, line, scopes)
                case Block(head, line=line):
                    write = self._blocks.get(head.call.name)
                    yield from write(node, scopes) if write else self._unknown_block(node)
                case Unknown(tag):
                    what, sign = ("a partial", "> ") if tag.kind == "partial" else ("a decorator", "")
                    yield self._comment(tag.line, f"{what} {{{{{sign}{tag.content}}}}} has no counterpart", "write its text here")

    def _value(self, call: Call, line: int, scopes: _Scopes) -> Iterator[Piece]:
        if call.name == "log":
            self.problems.append(Problem(line, "{{log}} shows nothing and is left out", "look at the service's log", "note"))
            return
        expression = self._call(call, line, scopes)
        if expression == NOTHING:
            yield self._remark(line)
        else:
            yield Piece("value", expression)

    def _unknown_block(self, block: Block) -> Iterator[Piece]:
        name = block.head.call.name
        fix = "write #each for a list, #with for an object, or #if" if not block.head.call.arguments else "write it in Jinja2"
        yield self._comment(block.line, f"the block {{{{#{name}}}}} is unknown to RCRT", fix)

    def _comment(self, line: int, problem: str, fix: str) -> Piece:
        self.problems.append(Problem(line, problem, fix))
        return self._remark(line)

    @staticmethod
    def _remark(line: int) -> Piece:
        return Piece("comment", f"line {line} of the Handlebars template is not converted")

    def _each(self, block: Block, scopes: _Scopes) -> Iterator[Piece]:
        values = self._only_argument(block, scopes)
        depth = sum(scope.is_loop for scope in scopes) + 1
        this, key = ("this", "key") if depth == 1 else (f"this_{depth}", f"key_{depth}")
        names = dict(zip(block.head.names, (this, "loop.index0"), strict=False))
        is_object = any(_uses(block.body, "@key"))
        scope = _Scope(this=this, is_loop=True, key=key if is_object else "", names=names)
        yield Piece("block", f"for {key}, {this} in {values} | items" if is_object else f"for {this} in {values}")
        yield from self.pieces(block.body, (*scopes, scope))
        yield from self._else(block.inverse, scopes)
        yield Piece("block", "endfor")

    def _if(self, block: Block, scopes: _Scopes) -> Iterator[Piece]:
        keyword = "elif" if block.is_chained else "if"
        yield Piece("block", f"{keyword} {self._condition(block, scopes)}")
        yield from self.pieces(block.body, scopes)
        match block.inverse:
            case (Block(head, is_chained=True) as other,) if head.call.name in {"if", "unless"}:
                yield from self._if(other, scopes)
            case _:
                yield from self._else(block.inverse, scopes)
        if not block.is_chained:
            yield Piece("block", "endif")

    def _condition(self, block: Block, scopes: _Scopes) -> str:
        condition = self._only_argument(block, scopes)
        return f"not {condition}" if block.head.call.name == "unless" else condition

    def _with(self, block: Block, scopes: _Scopes) -> Iterator[Piece]:
        value = self._only_argument(block, scopes)
        scope = _Scope(this=value, names=dict.fromkeys(block.head.names[:1], value))
        yield Piece("block", f"if {value}")
        yield from self.pieces(block.body, (*scopes, scope))
        yield from self._else(block.inverse, scopes)
        yield Piece("block", "endif")

    def _else(self, inverse: Sequence[Node], scopes: _Scopes) -> Iterator[Piece]:
        if inverse:
            yield Piece("block", "else")
            yield from self.pieces(map(_unchained, inverse), scopes)

    def _only_argument(self, block: Block, scopes: _Scopes) -> str:
        call = block.head.call
        if call.keywords:
            names = ", ".join(name for name, _ in call.keywords)
            self.problems.append(Problem(block.line, f"{names}= of {{{{#{call.name}}}}} is left out", "write it in Jinja2"))
        if len(call.arguments) != 1:
            self.problems.append(Problem(block.line, f"{{{{#{call.name}}}}} takes one value", "write one"))
            return NOTHING
        return self._expression(call.arguments[0], block.line, scopes)

    def _expression(self, expression: Expression, line: int, scopes: _Scopes) -> str:
        match expression:
            case Literal(value):
                return literal(value)
            case Path():
                return self._path(expression, line, scopes)
            case Call():
                return self._call(expression, line, scopes)

    def _call(self, call: Call, line: int, scopes: _Scopes) -> str:
        if not call.arguments and not call.keywords:
            return self._expression(path_of(call.name), line, scopes)
        if not call.name:
            return self._expression(call.arguments[0], line, scopes)
        arguments = [self._expression(argument, line, scopes) for argument in call.arguments]
        expression = "" if call.keywords else _helped(call.name, arguments)
        if not expression:
            problem = f"the helper {call.name!r} with {len(arguments)} arguments is unknown"
            self.problems.append(Problem(line, problem, f"known are {', '.join(HELPERS)}; write it in Jinja2"))
        return expression or NOTHING

    def _path(self, path: Path, line: int, scopes: _Scopes) -> str:
        note = partial(Problem, line, severity="note")
        if path.names[:1] and path.names[0].startswith("@"):
            return self._loop_value(path, line, scopes)
        if path.levels >= len(scopes):
            self.problems.append(Problem(line, f"{'../' * path.levels} leads out of all blocks", "take some ../ away"))
            return NOTHING
        scope = scopes[len(scopes) - 1 - path.levels]
        for outer in reversed(scopes if not path.levels and not path.is_own else ()):
            if path.names[:1] and path.names[0] in outer.names:
                return self._member(outer.names[path.names[0]], path.names[1:], line)
        if scope.this:
            if path.names[:1] == (CONTEXT,) and not path.is_own:
                fix = f"write {'../' * (len(scopes) - 1)}{'.'.join(path.names)} for the record's"
                self.problems.append(note(f"within a block {'.'.join(path.names)} is a field of its item", fix))
            return self._member(scope.this, path.names, line)
        if path.names[:1] == (CONTEXT,):
            return self._member(self._root, path.names[1:], line)
        name = ".".join(path.names) or "this"
        if path.names:
            fix = f"{self._root}.{name} is written; take it out if nothing was meant"
            self.problems.append(note(f"{{{{{name}}}}} is empty in RCRT, whose data are under {CONTEXT}", fix))
        return self._member(self._root, path.names, line)

    def _member(self, value: str, names: Sequence[str], line: int) -> str:
        if names and names[-1] == "length":
            self.problems.append(Problem(line, "RCRT shows nothing for .length", "the length is written", "note"))
            return f"({member(value, names[:-1])} | length)"
        return member(value, names)

    def _loop_value(self, path: Path, line: int, scopes: _Scopes) -> str:
        name = path.names[0]
        if name == "@root":
            return self._path(Path(0, path.names[1:]), line, scopes[:1])
        loop = next((scope for scope in reversed(scopes) if scope.is_loop), None)
        if loop is not None and not path.levels and (name in LOOP_VALUES or (name == "@key" and loop.key)):
            return LOOP_VALUES.get(name) or loop.key
        problem = f"{'../' * path.levels}{name} is no value here"
        fix = "it belongs to the nearest #each; write its value in Jinja2" if path.levels else "write it within #each"
        self.problems.append(Problem(line, problem, fix))
        return NOTHING


def _helped(name: str, arguments: list[str]) -> str:
    """What a helper of RCRT makes of its arguments, in Jinja; "" for one that is unknown."""
    match name, arguments:
        case _, [_, _, *_] if name in OPERATORS:
            return f"({f' {OPERATORS[name]} '.join(arguments)})"
        case "not", [value]:
            return f"(not {value})"
        case "len", [value]:
            return f"({value} | length)"
        case "lookup", [value, field_name]:
            return f"{value}[{field_name}]"
    return ""


def _unchained(node: Node) -> Node:
    """A block behind `else` as one that begins by itself."""
    if isinstance(node, Block) and node.is_chained:
        return Block(node.head, node.body, node.inverse, node.line)
    return node


def _uses(nodes: Iterable[Node], name: str) -> Iterator[bool]:
    """Whether a loop value is used in these nodes, and not in a loop within them."""
    for node in nodes:
        match node:
            case Value(head):
                yield _takes(head.call, name)
            case Block(head, body, inverse):
                yield _takes(head.call, name)
                yield from _uses(inverse, name)
                yield from _uses(body, name) if head.call.name != "each" else ()


def _takes(expression: Expression, name: str) -> bool:
    match expression:
        case Path(levels=0, names=(first, *_)):
            return first == name
        case Call(called, arguments):
            return called == name or any(_takes(argument, name) for argument in arguments)
    return False
