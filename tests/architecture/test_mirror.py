"""A file of unit tests is named after the module that it tests, a topic behind it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDER, UNIT = ROOT / "builder", ROOT / "tests" / "unit"
OF_A_PACKAGE = {
    "adapters/embedding/test_engines.py": "how engines are opened and prepared, whichever they are",
    "adapters/http/test_routes.py": "the package is one application",
    "adapters/profiles/test_profile_docs.py": "the docs of all settings",
    "adapters/templates/test_hints.py": "the bundled hint templates",
    "adapters/templates/test_limits.py": "the limits of rendering, wherever in the package they are kept",
    "adapters/templates/test_payloads.py": "hostile texts as the sources of templates",
    "cli/test_main.py": "the entry point, `cli/__init__.py`",
    "service/test_compacted_session.py": "the whole line after a compaction",
    "service/test_memory_of_person.py": "the memory of a person through the whole line",
    "service/test_presets.py": "the bundled profiles through the whole line",
}
"""Unit files of no single module, and what they are about."""


def mirrors_nothing(file: Path) -> bool:
    """Whether neither a module nor a package has this name, or this name in front of a topic (`test_front_target.py`).

    A package's own file lies in its folder and has its name.
    """
    path = file.relative_to(UNIT)
    words = path.stem.removeprefix("test_").split("_")
    parts = [BUILDER / path.parent / "_".join(words[:number]) for number in range(1, len(words) + 1)]
    is_own = path.stem == f"test_{path.parent.name}"
    return not is_own and not any(part.with_suffix(".py").exists() or part.is_dir() for part in parts)


def test_each_unit_file_is_about_a_module_or_says_what_it_is_about() -> None:
    files = {file.relative_to(UNIT).as_posix() for file in UNIT.rglob("test_*.py") if mirrors_nothing(file)}
    assert files - OF_A_PACKAGE.keys() == set()


def test_no_exception_outlives_its_reason() -> None:
    assert [name for name in OF_A_PACKAGE if not (UNIT / name).exists() or not mirrors_nothing(UNIT / name)] == []
