"""One factory makes environments and compiles templates; no other module of the package does, and none runs source as code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACTORY = ROOT / "builder" / "adapters" / "templates" / "sandbox" / "environment.py"
SOURCES = sorted((ROOT / "builder").rglob("*.py"))
ENVIRONMENTS = frozenset({"Environment", "SandboxedEnvironment", "ImmutableSandboxedEnvironment", "NativeEnvironment", "Sandbox"})
COMPILING = frozenset(
    {"Template", "NativeTemplate", "from_string", "from_code", "compile_expression", "compile_templates", "overlay"}
    | {"get_template", "select_template", "get_or_select_template", "make_module"}
)
"""Functions and methods of Jinja that make a template."""
RUNNING = frozenset({"eval", "exec", "compile", "__import__"})
"""Python's own, as plain names."""


def breaches(source: str) -> Iterator[str]:
    """What a module calls, subclasses or hands on that only the factory may."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in ENVIRONMENTS | COMPILING | RUNNING:
                yield f"line {node.lineno}: {name}(…)"
            case ast.Call(func=ast.Attribute(attr=name)) if name in ENVIRONMENTS | COMPILING:
                yield f"line {node.lineno}: .{name}(…)"
            case ast.ClassDef(bases=bases):
                names = (base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in bases)
                yield from (f"line {node.lineno}: class of {name}" for name in names if name in ENVIRONMENTS)
            case ast.ImportFrom(module="jinja2" | "jinja2.environment" | "jinja2.sandbox" | "jinja2.nativetypes", names=names):
                aliases = (alias for alias in names if alias.name in ENVIRONMENTS | COMPILING)
                yield from (f"line {node.lineno}: {alias.name} as {alias.asname}" for alias in aliases if alias.asname)
            case ast.Import(names=names):
                yield from (f"line {node.lineno}: import {each.name}" for each in names if each.name.split(".")[0] == "jinja2")


def test_no_module_but_the_factory_makes_an_environment_or_compiles_a_template() -> None:
    others = [file for file in SOURCES if file != FACTORY]
    found = {str(file.relative_to(ROOT)): list(breaches(file.read_text("utf-8"))) for file in others}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_factory_is_where_it_is_looked_for() -> None:
    assert list(breaches(FACTORY.read_text("utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "from jinja2 import Environment\nEnvironment()",
        "import jinja2\njinja2.Environment()",
        "from jinja2 import Template\nTemplate('x')",
        "from jinja2.sandbox import SandboxedEnvironment as E\nE()",
        "from jinja2.sandbox import SandboxedEnvironment\nclass Mine(SandboxedEnvironment): ...",
        "environment.from_string('x')",
        "environment.overlay().from_string('x')",
        "from a import Sandbox\nSandbox()",
        "eval('1')",
    ],
)
def test_every_way_to_make_another_one_is_found(source: str) -> None:
    assert list(breaches(source))
