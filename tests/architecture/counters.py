"""Size and shape of the product: `python -m tests.architecture.counters`.

A folder of `YARD` is, or shall become, an extra: the service answers without it. The house is everything else.
"""

import ast
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from grimp import ImportGraph, build_graph

ROOT = Path(__file__).parents[2]
CORE = ("domain", "language", "wire", "ports", "remember", "recall", "assemble", "publish", "worker", "service")
YARD = (
    "bench",
    "extras",
    "integrations",
    "local",
    "testing",
)
START = "builder.app.service"
MOST_BRANCHES, LEAST_ISLANDS = 12, 4
BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.comprehension, ast.ExceptHandler, ast.BoolOp, ast.match_case)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def modules() -> dict[str, ast.Module]:
    """Name of each module below `builder` → its tree; `builder` itself is left out of the name."""
    named = {}
    for path in sorted((ROOT / "builder").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT / "builder").with_suffix("").parts).removesuffix(".__init__")
        named[name] = ast.parse(path.read_text("utf-8"))
    return named


def is_below(name: str, folders: Iterable[str]) -> bool:
    """Whether a module is one of these folders, or lies in one."""
    return any(name == folder or name.startswith(f"{folder}.") for folder in folders)


def nodes(trees: Iterable[ast.Module]) -> int:
    """Nodes of the syntax trees."""
    return sum(1 for tree in trees for _ in ast.walk(tree))


def statements(trees: Iterable[ast.Module]) -> int:
    """Statements, docstrings left out."""
    every = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return sum(1 for node in every if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)))


def branching(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Functions with more branches than a head holds, and how many."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            number = sum(isinstance(each, BRANCHES) for each in ast.walk(node))
            if number > MOST_BRANCHES:
                yield node.name, number


def islands(tree: ast.Module) -> list[set[str]]:
    """Groups of functions and classes of a file that never name each other; a constant belongs to whoever names it."""
    names = {name: node for node in tree.body for name in _defines(node)}
    groups = {name: {name} for name in names}
    for name, node in names.items():
        for other in {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & names.keys():
            joined = groups[name] | groups[other]
            for each in joined:
                groups[each] = joined
    definitions = (*FUNCTIONS, ast.ClassDef)
    distinct = {id(group): group for group in groups.values()}
    return [group for group in distinct.values() if any(isinstance(names[name], definitions) for name in group)]


def _defines(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def seams(graph: ImportGraph) -> list[tuple[str, str]]:
    """Imports of the house that point into the yard."""
    found = []
    for module in sorted(graph.modules):
        name = module.removeprefix("builder.")
        if not is_below(name, YARD):
            others = (other.removeprefix("builder.") for other in graph.find_modules_directly_imported_by(module))
            found += [(name, other) for other in sorted(others) if is_below(other, YARD)]
    return found


def reached(graph: ImportGraph) -> set[str]:
    """Modules that the start of the service reaches by imports, those inside functions included."""
    return {*graph.find_upstream_modules(START), START}


def figures() -> dict[str, object]:
    """All of them."""
    trees, graph = modules(), build_graph("builder")
    core = {name: tree for name, tree in trees.items() if is_below(name, CORE)}
    product = {name: tree for name, tree in trees.items() if not is_below(name, ("bench",))}
    house = {name: tree for name, tree in product.items() if not is_below(name, YARD)}
    crowded = {name: len(groups) for name, tree in house.items() if len(groups := islands(tree)) >= LEAST_ISLANDS}
    tangled = {f"{name}.{function}": number for name, tree in product.items() for function, number in branching(tree)}
    return {
        "seams": [f"{importer} → {imported}" for importer, imported in seams(graph)],
        "modules that the start reaches": len(reached(graph)),
        "nodes of the core": nodes(core.values()),
        "nodes without bench": nodes(product.values()),
        "statements of the core": statements(core.values()),
        "statements without bench": statements(product.values()),
        "files of four islands or more": crowded,
        "functions with more than twelve branches": tangled,
    }


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(figures(), indent=2)}\n")
