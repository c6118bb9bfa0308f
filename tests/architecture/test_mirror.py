"""The unit tests mirror the tree: a module with behaviour has its file, and a file has its module or package."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILDER, UNIT = ROOT / "builder", ROOT / "tests" / "unit"
MIRRORED = ("domain", "remember", "recall", "language", "assemble", "publish", "worker")
"""Packages each of whose modules with a function has its unit file."""

UNTESTED = frozenset(
    {
        "assemble/budget/ledger.py", "assemble/budget/marks.py", "assemble/front.py", "assemble/items/draft.py",
        "assemble/items/layout.py", "assemble/items/words.py", "assemble/page/chat_turns.py", "assemble/page/composition.py",
        "assemble/sources/reminders.py", "assemble/sources/settled.py",
        "worker/catch_up.py", "worker/erasure.py", "worker/loop.py", "worker/request_handlers.py", "worker/resilience.py",
        "worker/summary_writer.py",
    }
)  # fmt: skip
"""Modules whose unit file is still to be written."""

OF_A_PACKAGE = {
    "adapters/embedding/test_engines.py": "how engines are opened and prepared, whichever they are",
    "adapters/http/test_routes.py": "the package is one application",
    "adapters/profiles/test_profile_docs.py": "the docs of all settings",
    "adapters/templates/test_hints.py": "the bundled hint templates",
    "adapters/templates/test_limits.py": "the limits of rendering, wherever in the package they are kept",
    "assemble/budget/test_limits.py": "the budget of whole pages",
    "assemble/budget/test_target.py": "the target of whole pages",
    "assemble/page/test_dates.py": "the dates of whole pages",
    "assemble/test_whole.py": "whole pages",
    "cli/test_main.py": "the entry point, `cli/__init__.py`",
    "language/test_lists_docs.py": "the docs of the word lists",
    "publish/test_providers.py": "what both providers' writers have in common",
    "service/test_calibrating.py": "the whole line on each store",
    "service/test_presets.py": "the bundled profiles through the whole line",
    "service/test_reading_again.py": "the whole line, read again",
    "worker/test_compacting.py": "summaries on demand, through scheduler and writer",
    "worker/test_edited_summaries.py": "summaries of what was edited, through scheduler and writer",
    "worker/test_purged_summaries.py": "summaries of what was erased, through scheduler and writer",
    "worker/test_summary_pages.py": "what a page shows of a summary that was made",
    "worker/test_unshown_summaries.py": "summaries that are hidden, through scheduler and writer",
}
"""Unit files of no single module, and what they are about."""


def has_behaviour(module: Path) -> bool:
    tree = ast.parse(module.read_text("utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def unit_file(module: str) -> Path:
    path = Path(module)
    return UNIT / path.parent / f"test_{path.name}"


def without_unit_file(package: str) -> set[str]:
    modules = (file for file in (BUILDER / package).rglob("*.py") if file.name != "__init__.py" and has_behaviour(file))
    names = (module.relative_to(BUILDER).as_posix() for module in modules)
    return {name for name in names if not unit_file(name).exists()}


def mirrors_nothing(file: Path) -> bool:
    """Whether neither a module nor a package has this name. A package's own file lies in its folder and has its name."""
    path = file.relative_to(UNIT)
    if path.stem == f"test_{path.parent.name}":
        return False
    part = BUILDER / path.parent / path.stem.removeprefix("test_")
    return not part.with_suffix(".py").exists() and not part.is_dir()


@pytest.mark.parametrize("package", MIRRORED)
def test_each_module_with_a_function_has_its_unit_file(package: str) -> None:
    assert without_unit_file(package) - UNTESTED == set()


def test_each_unit_file_is_about_a_module_or_says_what_it_is_about() -> None:
    files = {file.relative_to(UNIT).as_posix() for file in UNIT.rglob("test_*.py") if mirrors_nothing(file)}
    assert files - OF_A_PACKAGE.keys() == set()


def test_no_exception_outlives_its_reason() -> None:
    assert [name for name in UNTESTED if unit_file(name).exists() or not (BUILDER / name).exists()] == []
    assert [name for name in OF_A_PACKAGE if not (UNIT / name).exists() or not mirrors_nothing(UNIT / name)] == []
