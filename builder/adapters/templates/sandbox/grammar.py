"""The language of templates: allowed parts of Jinja's, checked when a template is read.

Anything else is refused with a remedy.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from jinja2 import TemplateSyntaxError, nodes

from builder.adapters.templates.sandbox.operations import FILTERS, MAX_NUMBER_BITS, TESTS
from builder.domain.lint_finding import advice

MAX_NODES = 5_000
"""Expressions, statements, texts between them."""
MAX_DEPTH = 64
MAX_LOOPS = 6
MAX_BRACKETS = 20
MAX_NAME_CHARS = 100
FILTER_LIKENESS = 0.7

ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Const, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Slice,
    nodes.Filter, nodes.Test, nodes.Call, nodes.Keyword, nodes.For, nodes.If, nodes.Assign, nodes.Tuple, nodes.List,
    nodes.Dict, nodes.Pair, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.Concat, nodes.BinExpr, nodes.UnaryExpr,
)  # fmt: skip
REFUSED: Mapping[type[nodes.Node], tuple[str, str]] = {
    nodes.Include: ("{% include %} loads another file", "write its text here"),
    nodes.Import: ("{% import %} loads another file", "write its text here"),
    nodes.FromImport: ("{% from … import %} loads another file", "write its text here"),
    nodes.Extends: ("{% extends %} loads another file", "write the whole template here"),
    nodes.Block: ("{% block %} is for templates that extend others", "write its content alone"),
    nodes.Macro: ("{% macro %} is not for templates", "write its text where it is needed, or loop over a list"),
    nodes.CallBlock: ("{% call %} is not for templates", "write the text where it is needed"),
    nodes.FilterBlock: ("{% filter %} is not for templates", "put the filter after each value, e.g. {{ text | upper }}"),
    nodes.AssignBlock: ("a {% set %} without a value is not for templates", "join the parts, e.g. {% set x = a ~ b %}"),
    nodes.With: ("{% with %} is not for templates", "write {% set x = … %}"),
    nodes.Scope: ("{% autoescape %} is not for templates", "leave it out: text is always kept inside its item"),
    nodes.NSRef: ("a field of a value cannot be set", "set a name of its own, e.g. {% set total = … %}"),
    nodes.Mod: ("the operator % is not for templates", "write '{}'.format(text), or the test even or odd"),
    nodes.Pow: ("the operator ** is not for templates", "multiply"),
}
"""Problem and remedy."""
TAGS: Mapping[str, str] = {
    "do": "write {% set x = … %}, or leave it out: values cannot be changed",
    "break": "loop over fewer: {% for x in list[:10] %} or {% for x in list if … %}",
    "continue": "loop over fewer: {% for x in list if … %}",
    "trans": "write the words, or a phrase: {{ words.… }}",
    "debug": "take it out",
}
"""Statement of Jinja's extensions → remedy."""
HIDDEN = frozenset({"self", "super", "caller", "varargs", "kwargs"})
"""Jinja's compiler gives them a meaning of its own."""
SENT = frozenset({"text", "speaker", "body", "id", "schema", "tags"})
"""Values that senders write."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_INTERNAL = re.compile(r"__.*__")


class NotInLanguage(TemplateSyntaxError):  # noqa: N818 - named after what happened
    """Not in the language of templates."""

    def __init__(self, problem: str, fix: str, line: int) -> None:
        """line: from 1; 0 = the whole template."""
        super().__init__(f"{problem}; {fix}", line)
        self.problem, self.fix = problem, fix


def check_source(source: str) -> None:
    """Raises `NotInLanguage` for control characters."""
    if match := _CONTROL.search(source):
        line = source.count("\n", 0, match.start()) + 1
        raise NotInLanguage(f"it has the control character U+{ord(match[0]):04X}", "take it out", line)


def check_brackets(tokens: Iterable[tuple[int, str, str]]) -> None:
    """Raises `NotInLanguage` for deep nesting. tokens: line, kind, text."""
    depth = 0
    for line, kind, text in tokens:
        if kind == "operator":
            depth += (text in _OPENING) - (text in _CLOSING)
            if depth > MAX_BRACKETS:
                raise NotInLanguage(f"brackets are nested more than {MAX_BRACKETS} deep", "set parts of it by {% set %}", line)


def check_tree(tree: nodes.Template) -> None:
    """Raises `NotInLanguage` for the first forbidden part, and for too many."""
    number = 0
    waiting: list[tuple[nodes.Node, int, int]] = [(tree, 0, 0)]
    while waiting:
        node, depth, loops = waiting.pop()
        number, loops, line = number + 1, loops + isinstance(node, nodes.For), node.lineno or 0
        for problem, fix in _problems(node):
            raise NotInLanguage(problem, fix, line)
        if number > MAX_NODES:
            raise NotInLanguage(f"it has more than {MAX_NODES:,} parts", "make it smaller", 0)
        if loops > MAX_LOOPS:
            raise NotInLanguage(f"loops are nested more than {MAX_LOOPS} deep", "loop over less", line)
        if depth > MAX_DEPTH:
            raise NotInLanguage(f"it is nested more than {MAX_DEPTH} deep", "set parts of it by {% set %}", line)
        children = [(child, depth + 1, loops) for child in node.iter_child_nodes()]
        waiting += reversed(children)


def _problems(node: nodes.Node) -> Iterator[tuple[str, str]]:
    if type(node) in REFUSED or not isinstance(node, ALLOWED):
        yield REFUSED.get(type(node), (f"{type(node).__name__} is not for templates", "write it otherwise"))
        return
    match node:
        case nodes.Name(name=name) | nodes.Keyword(key=name):
            yield from _of_name(name)
        case nodes.Const(value=value):
            yield from _of_constant(value)
        case nodes.Getattr(attr=attr) | nodes.Getitem(arg=nodes.Const(value=str(attr))) if _INTERNAL.fullmatch(attr):
            yield f"{attr!r} is a name of Python's internals", "write the name of a field"
        case nodes.Tuple(items=items) if any(isinstance(item, nodes.Slice) for item in items):
            yield "a slice is beside another index", "write one slice, e.g. list[:3]"
        case nodes.For(recursive=True):
            yield "a recursive loop is not for templates", "write one loop for each level"
        case nodes.Filter(name=name) if name not in FILTERS:
            yield f"there is no filter {name!r}", advice(name, FILTERS, FILTER_LIKENESS)
        case nodes.Test(name=name) if name not in TESTS:
            yield f"there is no test {name!r}", advice(name, TESTS, FILTER_LIKENESS)
    yield from _of_call(node)


def _of_name(name: str) -> Iterator[tuple[str, str]]:
    if name in HIDDEN:
        yield f"{name!r} is not for templates", "write the name of a value"
    elif name.startswith("_") and name != "_":
        yield f"the name {name[:MAX_NAME_CHARS]!r} begins with an underscore", "begin it with a letter"
    elif len(name) > MAX_NAME_CHARS:
        yield f"a name has more than {MAX_NAME_CHARS} characters", "write a shorter one"


def _of_constant(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, int) and value.bit_length() > MAX_NUMBER_BITS:
        yield f"a number of more than {MAX_NUMBER_BITS:,} bits", "use a smaller one"
    elif isinstance(value, float) and not math.isfinite(value):
        yield "a number that is too large", "use a smaller one"


def _of_call(node: nodes.Node) -> Iterator[tuple[str, str]]:
    if isinstance(node, nodes.Call | nodes.Filter | nodes.Test) and (node.dyn_args or node.dyn_kwargs):
        yield "a list or an object is spread over arguments by a star", "write the arguments out"
    match node:
        case nodes.Call(node=nodes.Getattr(node=value, attr="format")):
            if _root(value) in SENT:
                yield "the text of a message is no format", "write the format yourself, e.g. '{}'.format(text)"


def _root(node: nodes.Node | None) -> str:
    while isinstance(node, nodes.Getattr | nodes.Getitem | nodes.Filter):
        node = node.node
    return node.name if isinstance(node, nodes.Name) else ""
