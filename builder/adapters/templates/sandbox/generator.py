"""Python code of a template, with a counted step in each block."""

from collections.abc import Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators


class Generator(CodeGenerator):
    """Writes the Python of a template; operators become metered calls."""

    def blockvisit(self, nodes: Iterable[Any], frame: Frame) -> None:
        """A pass, call or branch begins with a step for its own text."""
        block = list(nodes)
        self.writeline(f"environment.step({_own_text(block)})")
        super().blockvisit(block, frame)

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        """With its line number, for error messages."""
        self.newline(node)
        super().visit_Output(node, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        """A skipped item costs a step too."""
        if node.test is not None:
            node.test = nodes.Or(_internal("environment.step(0)"), node.test, lineno=node.lineno)
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """The values one after the other."""
        self._call("joined", node.nodes, frame)

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """Charges both sides. `in` becomes a call: a missing field is in nothing."""
        if len(node.ops) == 1 and node.ops[0].op in {"in", "notin"}:
            self.write("(not " if node.ops[0].op == "notin" else "(")
            self._call("contains", (node.ops[0].expr, node.expr), frame)
        else:
            self.write("(")
            self._call("whole", (node.expr,), frame)
            for operand in node.ops:
                self.write(f" {operators[operand.op]} ")
                self._call("whole", (operand.expr,), frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """A slice is a copy."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self._call("whole", (node.node,), frame)
        self.write("[")
        self.visit(node.arg, frame)
        self.write("]")

    def visit_List(self, node: nodes.Expr, frame: Frame) -> None:
        """All parts of a new value are charged."""
        self.write("environment.whole(")
        getattr(super(), f"visit_{type(node).__name__}")(node, frame)
        self.write(")")

    visit_Dict = visit_List  # noqa: N815

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """As a list, unless it is a target that unpacks values."""
        if node.ctx == "load":
            self.visit_List(node, frame)
        else:
            super().visit_Tuple(node, frame)

    def _call(self, function: str, operands: Iterable[nodes.Node], frame: Frame) -> None:
        self.write(f"environment.{function}(")
        for operand in operands:
            self.visit(operand, frame)
            self.write(", ")
        self.write(")")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


def _own_text(block: Iterable[nodes.Node]) -> int:
    outputs = (node for node in block if isinstance(node, nodes.Output))
    return sum(len(part.data) for output in outputs for part in output.nodes if isinstance(part, nodes.TemplateData))


def _internal(code: str) -> nodes.InternalName:
    node: nodes.InternalName = object.__new__(nodes.InternalName)
    nodes.Node.__init__(node, code, lineno=1)
    return node
