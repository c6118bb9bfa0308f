"""The documentation is complete in itself, and what it names exists."""

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "builder" / "docs"
PAGES = [ROOT / "README.md", *sorted((ROOT / ".github").glob("*.md")), *sorted(DOCS.rglob("*.md"))]
TEMPLATES = ROOT / "builder" / "adapters" / "templates"
ROOTS = (ROOT, ROOT / "templates", ROOT / "builder", ROOT / "builder" / "adapters", TEMPLATES)
"""Folders that paths in the docs are relative to."""
SOURCES = [*sorted((ROOT / "builder").rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]
ABSENT = re.compile(
    r"\bfeatures? [a-z]{1,2}\d+|\bfeatures? [A-Z]\d+|\bfeatures uS\d|design §|\breference/\w+\.md|\bhouse\.md|\bdesign\.md"
)
"""Citations of documents that are not in the repository."""
GENERATED = re.compile(r"<!-- ([\w -]+): .*?UPDATE_DOCS=1.*?<!-- end of \1 -->", re.DOTALL)
WALK = (DOCS / "architecture.md").read_text("utf-8").split("## The walk")[1].split("\n## ")[0]
STOPS = re.findall(r"^\| [^|]+ \| `builder/([\w/]+)\.py` \| `([\w.]+)` \|", WALK, re.MULTILINE)


def test_the_walk_names_functions_that_exist() -> None:
    for module, function in STOPS:
        target: object = importlib.import_module(f"builder.{module.replace('/', '.')}")
        for name in function.split("."):
            target = getattr(target, name, None)
        assert callable(target), (module, function)


def test_the_walk_has_all_four_verbs() -> None:
    assert len(STOPS) == len(re.findall(r"^\| .*`builder/", WALK, re.MULTILINE))
    assert {"remember", "recall", "assemble", "publish"} <= {module.split("/")[0] for module, _ in STOPS}


def test_the_tree_names_every_folder_of_the_core() -> None:
    """Adapters and benches stand on the line of their parent."""
    tree = (DOCS / "architecture.md").read_text("utf-8").split("## The tree")[1].split("\n## ")[0]
    folders = {file.parent.relative_to(ROOT / "builder").parts for file in SOURCES if file.is_relative_to(ROOT / "builder")}
    names = {parts[0] for parts in folders if parts}
    names |= {parts[1] for parts in folders if len(parts) > 1 and parts[0] not in {"adapters", "bench", "cli"}}
    assert sorted(name for name in names if f" {name}/ " not in tree) == []


def in_pages(faults: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """Page → what is wrong with it."""
    return {str(page.relative_to(ROOT)): found for page in PAGES if (found := faults(page))}


def dead_links(page: Path) -> list[str]:
    targets = re.findall(r"\]\((?!http)([^)]+)\)", page.read_text("utf-8"))
    return [target for target in targets if not is_alive(page, target)]


def is_alive(page: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    linked = (page.parent / file).resolve() if file else page
    return linked.exists() and (not anchor or anchor in anchors(linked))


def absent_files(page: Path) -> list[str]:
    """Paths in backticks that nothing has: they are relative to the repository, `builder/`, its adapters, or the templates."""
    names = re.findall(r"`([\w/]+/[\w.-]+\.(?:py|toml|yaml))`", page.read_text("utf-8"))
    return [name for name in names if not any((folder / name).exists() for folder in ROOTS)]


def test_every_link_leads_to_a_heading_or_a_file() -> None:
    assert in_pages(dead_links) == {}


def test_a_file_that_the_docs_name_exists() -> None:
    assert in_pages(absent_files) == {}


def test_a_page_has_at_most_250_lines_beside_what_is_generated() -> None:
    lines = {page.name: len(GENERATED.sub("", page.read_text("utf-8")).splitlines()) for page in DOCS.rglob("*.md")}
    assert {name: number for name, number in lines.items() if number > 250} == {}


def test_no_docstring_or_comment_cites_a_document_that_is_not_here() -> None:
    files = [file for file in SOURCES if file != Path(__file__)]
    suspects = [file for file in files if ABSENT.search(file.read_text("utf-8"))]
    found = {str(file.relative_to(ROOT)): [text for text in prose(file) if ABSENT.search(text)] for file in suspects}
    assert {name: texts for name, texts in found.items() if texts} == {}


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose(file: Path) -> Iterator[str]:
    """Comments, and strings that stand as statements: docstrings of modules, classes, functions, fields and constants."""
    text = file.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                yield words
