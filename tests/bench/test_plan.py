"""The constants of `context-builder plan` are those of the stored results, and they hold."""

import importlib
import json
import os
from pathlib import Path
from typing import Any

from builder.extras.capacity import figures as capacity
from tests.commands import run
from tests.models import prepared

RESULTS = Path(__file__).with_name("results")
CONSTANTS = Path(capacity.__file__).with_name("constants.json")
CACHED_PASSAGES = 50_000
"""What `bench memory` keeps: the default of CONTEXT_BUILDER_STORE__CACHED_PASSAGES."""
PER_TEXT_BYTE = "for each byte of a message's text"


def result(name: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return stored


def constants() -> dict[str, dict[str, Any]]:
    """Name → value, unit and source, out of the results."""
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, value: float, unit: str, file: str) -> None:
        one = result(file)
        machine = f"{one['machine']['cores']} cores, load average {one['machine']['load_average_before']}"
        found[name] = {"value": value, "unit": unit, "source": f"{one['command']} ({one['date']}, {machine})"}

    for file, theirs, ours in (
        ("plan", "stream_bytes", "stream_bytes"),
        ("plan", "store_bytes", "sqlite_bytes"),
        ("plan-postgres", "store_bytes", "postgres_bytes"),
        ("plan", "passages", "passages"),
    ):
        measured = result(file)["figures"]["constants"]
        unit = "passages" if ours == "passages" else "bytes"
        add(f"{ours}_per_message", measured[f"{theirs}_per_message"], f"{unit} for each message", file)
        add(f"{ours}_per_text_byte", measured[f"{theirs}_per_text_byte"], f"{unit} {PER_TEXT_BYTE}", file)
    add("context_bytes", result("plan")["figures"]["constants"]["context_bytes"], "bytes of a context of 4,000 tokens", "plan")
    memory = result("memory")["figures"]
    add("worker_bytes", memory["resident_before_mb"] * 1e6, "bytes of a worker that keeps no passage", "memory")
    passage = (memory["resident_mb"] - memory["resident_before_mb"]) * 1e6 / CACHED_PASSAGES
    add("cached_passage_bytes", round(passage), "bytes of a passage in memory", "memory")
    for rate, what in (("ingest_per_second", "messages, one in twenty a trigger"), ("contexts_per_second", "triggers")):
        add(rate, result("load")["figures"][rate], f"{what} a second, a worker on one core", "load")
    return found


def test_the_constants_are_those_of_the_stored_results() -> None:
    if os.environ.get("UPDATE_DOCS"):
        CONSTANTS.write_text(json.dumps(constants(), indent=2) + "\n", "utf-8")
    assert json.loads(CONSTANTS.read_text("utf-8")) == constants()


def test_a_replay_took_what_the_constants_say() -> None:
    for name in ("plan", "plan-postgres"):
        for part, row in result(name)["figures"]["replay"].items():
            assert 0.9 < row["ratio"] < 1.1, (name, part)
    assert result("plan")["figures"]["messages"] == 1_000_000


def test_a_small_replay_takes_what_it_predicts_in_the_stream(tmp_path: Path) -> None:
    prepared()
    env = {name: value for name, value in os.environ.items() if not name.startswith("CONTEXT_BUILDER_")}
    done = run("bench", "plan", "--messages", "1000", "--json", env=env | {"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["messages"] == 1_000
    assert 0.97 < figures["replay"]["stream_bytes"]["ratio"] < 1.03
    stored = {name: constant.value for name, constant in capacity.read_constants().items()}
    assert abs(figures["constants"]["stream_bytes_per_message"] / stored["stream_bytes_per_message"] - 1) < 0.05


def test_the_partitions_are_those_of_the_migration() -> None:
    migration = importlib.import_module("builder.extras.postgres.migrations.versions.0001_breadcrumbs")
    assert migration.PARTITIONS == capacity.PARTITIONS
