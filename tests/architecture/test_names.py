"""Identifiers keep to the glossary of `builder/docs/architecture.md`."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDER = ROOT / "builder"
DOCS = BUILDER / "docs"
GLOSSARY = (DOCS / "architecture.md").read_text("utf-8").split("## Glossary")[1].split("\n## ")[0]
ROWS = [row.split("|") for row in GLOSSARY.rpartition("|---|\n")[2].split("\n") if row.startswith("|")]
SYNONYMS = frozenset(re.findall(r"\w+", " ".join(row[3] for row in ROWS)))
"""Words that are part of no identifier: the last column of the glossary."""
NO_NAMES = frozenset(re.findall(r"`(\w+)`", GLOSSARY.rpartition("no names by themselves:")[2].split(".\n")[0]))
"""Words that are no identifier by themselves."""
IN_PROSE = frozenset({"standing", "dropped", "owner"})
"""Words of the last column that are right in prose: a standing instruction, an optional copy is dropped, a ticket's owner."""

MODULES = sorted(BUILDER.rglob("*.py"))


def declarations(file: Path) -> Iterator[str]:
    """Names of the module, its functions, classes and fields."""
    yield file.stem
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name, body=body, bases=bases):
                yield name
                fields = (part.target for part in body if isinstance(part, ast.AnnAssign))
                if "BaseModel" not in map(ast.unparse, bases):  # those are the wire's
                    yield from (field.id for field in fields if isinstance(field, ast.Name))
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def local_names(file: Path) -> Iterator[str]:
    """Names of parameters and of everything that is assigned, but for fields."""
    tree = ast.parse(file.read_text("utf-8"))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    fields = {id(part.target) for node in classes for part in node.body if isinstance(part, ast.AnnAssign)}
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield name


def breaches(names: Iterator[str]) -> list[str]:
    return sorted({name for name in names if name.strip("_").lower() in NO_NAMES or SYNONYMS & words(name)})


def words(name: str) -> set[str]:
    return set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))


def in_modules(names: Callable[[Path], Iterator[str]]) -> dict[str, list[str]]:
    """Module → its names that the glossary bans."""
    return {str(file.relative_to(BUILDER)): found for file in MODULES if (found := breaches(names(file)))}


def test_functions_classes_fields_and_modules_have_names_of_the_glossary() -> None:
    assert in_modules(declarations) == {}


def test_parameters_and_local_variables_have_names_of_the_glossary() -> None:
    assert in_modules(local_names) == {}


def test_the_docs_use_the_words_of_the_glossary() -> None:
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        text = page.read_text("utf-8").lower().replace(GLOSSARY.lower(), "")
        assert (SYNONYMS - IN_PROSE) & set(re.findall(r"[a-z]+", text)) == set(), page


def test_the_glossary_bans_words() -> None:
    assert {"sitting", "chunk"} <= SYNONYMS
    assert {"told", "held", "wanted"} <= NO_NAMES
