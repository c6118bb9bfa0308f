"""House rules that no linter knows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SLOW_FOLDERS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "builder").rglob("*.py"))
FILES = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
CLOCKS = frozenset({"running.py", "growth.py", "image_driver.py"})
"""Files of tests that read a clock: to end a wait that hangs, to compare work of two sizes, to tell how long a start takes."""
SYNONYMS = ("utils", "helpers", "common", "misc", "manager")


def test_a_file_has_at_most_300_lines() -> None:
    lines = {str(file.relative_to(ROOT)): len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name: number for name, number in lines.items() if number > 300} == {}


def test_the_slow_folders_exist() -> None:
    assert [name for name in SLOW_FOLDERS if not (ROOT / "tests" / name).is_dir()] == []


def test_no_test_reads_a_clock() -> None:
    """A test counts work, compares work of two sizes, or waits for a condition; seconds are of the machine, not of the code."""
    clocks = re.compile(r"\b(perf_counter|monotonic|process_time|thread_time)(_ns)?\b|\btime\.time(_ns)?\(")
    tests = [file for file in FILES if file.is_relative_to(ROOT / "tests") and file.name not in CLOCKS and file != Path(__file__)]
    assert [str(file.relative_to(ROOT)) for file in tests if clocks.search(file.read_text("utf-8"))] == []


def test_a_wait_of_a_test_has_the_common_deadline() -> None:
    """A time near what a slow machine needs fails on one."""
    own = re.compile(r"asyncio\.(timeout\((?!DEADLINE)|wait_for\(.*, (?!DEADLINE)[\w.]+\)$)", re.MULTILINE)
    tests = [file for file in FILES if file.is_relative_to(ROOT / "tests") and file != Path(__file__)]
    assert [str(file.relative_to(ROOT)) for file in tests if own.search(file.read_text("utf-8"))] == []


def test_the_top_level_is_the_one_of_the_design() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    top = {name.split("/")[0] for name in tracked if not name.startswith(".")}
    assert top == {
        "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "Makefile", "constraints.txt",
        "builder", "templates", "schemas", "tests", "deploy",
    }  # fmt: skip


def test_no_module_is_a_junk_drawer() -> None:
    assert [file for file in SOURCES if file.stem in SYNONYMS] == []


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    mine = Path(__file__)
    assert [str(file) for file in FILES if file != mine and marks.search(file.read_text("utf-8"))] == []


def test_no_text_installs_the_other_project_that_has_the_name_of_the_command() -> None:
    """PyPI's `context-builder` is not ours: texts name the clone, or our distribution."""
    other = re.compile(
        r"(?<![\w-])context-builder\[|\b(?:pip[x3]?|uvx?|poetry)\b[^\n`]*\s['\"]?(?<![\w/.-])context[-_]builder(?![\w/.-])",
        re.IGNORECASE,
    )
    command = "context-" + "builder"
    for line in (f"pip install {command}", f"pip install -U '{command}==0.1.0'", f"uv add {command}", f"{command}[mcp]"):
        assert other.search(line), line
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [name for name in tracked if other.search((ROOT / name).read_text("utf-8", "replace"))] == []


@pytest.mark.parametrize("module", ["builder.client", "builder.remember.decode", "builder.domain.context"])
def test_the_client_brings_no_model_no_database_and_no_numpy(module: str) -> None:
    heavy = "{'torch', 'onnxruntime', 'numpy', 'apsw', 'faststream', 'tiktoken', 'jinja2', 'sentence_transformers'}"
    code = f"import sys, {module}; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
