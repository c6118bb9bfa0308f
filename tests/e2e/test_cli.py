"""The commands as people and programs run them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import commands
from tests.models import MODELS_DIR, prepared

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "builder" / "extras" / "demo" / "events.jsonl"


@pytest.fixture(scope="module", autouse=True)
def _model() -> None:
    prepared()


def run(*arguments: str, home: Path, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CONTEXT_BUILDER_")}
    environment = clean | {
        "CONTEXT_BUILDER_DATA_DIR": str(home),
        "CONTEXT_BUILDER_EMBEDDING__MODELS_DIR": str(MODELS_DIR),
        **variables,
    }
    return commands.run(*arguments, env=environment, stdin=stdin)


def test_the_package_is_a_program_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "builder", "build", "-"]
    env = os.environ | {"CONTEXT_BUILDER_DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=env, input='{"id": "a"', capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.partition(":")[0]) == (65, "context-builder")


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['context-builder', '--help']\nfrom builder.cli import main\n"
        "try:\n main()\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'nats', 'faststream', 'torch', 'onnxruntime', 'pydantic', 'apsw'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "dead-letters" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
    assert tmp_path.exists()


def test_build_turns_the_sample_into_a_page_with_the_answer(tmp_path: Path) -> None:
    done = run("build", str(SAMPLE), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "It goes into the secrets configuration" in done.stdout
    assert done.stdout.endswith(
        "## Current User Message\n[13 October 2026]\n"
        "- User: okay, and where did we say the openrouter key goes? I'm setting up the new machine now\n"
    )


def test_build_reads_standard_input_and_prints_the_event_as_json(tmp_path: Path) -> None:
    lines = SAMPLE.read_text("utf-8")
    event = json.loads(run("build", "-", "--json", "--trigger", "m045", home=tmp_path, stdin=lines).stdout)
    assert event["trigger_event_id"] == "m045"
    assert event["token_count"] <= event["token_budget"]


def test_build_says_which_line_is_wrong(tmp_path: Path) -> None:
    done = run("build", "-", home=tmp_path, stdin='{"id": "a", "schema_name": "user.message.v1"')
    assert done.returncode == 65
    assert done.stderr.startswith("context-builder: line 1: ")
    assert "Traceback" not in done.stderr


def test_build_says_in_one_sentence_that_a_file_is_missing_or_a_time_is_none(tmp_path: Path) -> None:
    record = '{"id": "a", "schema_name": "user.message.v1", "context": {"content": "Hi."}, "created_at": "yesterday"}'
    missing = run("build", str(tmp_path / "none.jsonl"), home=tmp_path)
    timeless = run("build", "-", home=tmp_path, stdin=f"\n{record}\n")
    assert f"{tmp_path / 'none.jsonl'} cannot be read" in missing.stderr
    assert timeless.stderr.startswith("context-builder: line 2: ")
    assert "/created_at" in timeless.stderr
    for done in (missing, timeless):
        assert (done.returncode, done.stderr.count("\n")) == (65, 1)


def test_a_missing_model_is_one_sentence_and_exit_code_78(tmp_path: Path) -> None:
    done = run("build", str(SAMPLE), home=tmp_path, CONTEXT_BUILDER_EMBEDDING__MODELS_DIR=str(tmp_path / "none"))
    assert done.returncode == 78
    assert "models prepare" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_names_its_variable(tmp_path: Path) -> None:
    done = run("build", str(SAMPLE), home=tmp_path, CONTEXT_BUILDER_WORKER__BATCH="many")
    assert done.returncode == 78
    assert "CONTEXT_BUILDER_WORKER__BATCH" in done.stderr


def test_an_unknown_profile_names_the_known_ones(tmp_path: Path) -> None:
    done = run("build", str(SAMPLE), "--profile", "nobody", home=tmp_path)
    assert done.returncode == 78
    assert "default, framework, recall" in done.stderr


def test_doctor_finds_every_part_well(tmp_path: Path) -> None:
    done = run("doctor", "--json", home=tmp_path)
    assert done.returncode == 0, done.stdout
    assert {finding["part"] for finding in json.loads(done.stdout)} == {
        "python", "disk", "model", "service", "broker", "agents", "store", "core",
    }  # fmt: skip


def test_doctor_warns_of_a_service_without_an_engine(tmp_path: Path) -> None:
    done = run("doctor", "--json", home=tmp_path, CONTEXT_BUILDER_EMBEDDING__ENGINE="none")
    warned = [finding for finding in json.loads(done.stdout) if finding["warning"]]
    assert done.returncode == 0, done.stdout
    assert [(finding["part"], finding["ok"]) for finding in warned] == [("service", True), ("core", True)]
    assert "contexts are built by words alone" in warned[1]["said"]
    said = run("doctor", home=tmp_path, CONTEXT_BUILDER_EMBEDDING__ENGINE="none").stdout.splitlines()
    assert [line.split()[:2] for line in said if not line.startswith("ok ")] == [["warn", "service"], ["warn", "core"]]


def test_doctor_says_what_to_do_when_nobody_answers(tmp_path: Path) -> None:
    done = run("doctor", "--json", home=tmp_path, CONTEXT_BUILDER_NATS__SERVERS="nats://127.0.0.1:1")
    broker = next(finding for finding in json.loads(done.stdout) if finding["part"] == "broker")
    assert done.returncode == 1
    assert not broker["ok"]
    assert "nats://127.0.0.1:1" in broker["said"]


def test_the_schemas_on_disk_are_up_to_date(tmp_path: Path) -> None:
    assert run("schemas", "export", "--check", home=tmp_path).returncode == 0
    assert run("schemas", "export", str(tmp_path / "out"), home=tmp_path).returncode == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {file.name for file in (ROOT / "schemas").iterdir()}


def test_a_stale_schema_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "note.v1.json").write_text("{}", "utf-8")
    done = run("schemas", "export", str(tmp_path), "--check", home=tmp_path)
    assert done.returncode == 65
    assert "note.v1.json" in done.stderr


def test_models_are_listed_with_their_state(tmp_path: Path) -> None:
    found = json.loads(run("models", "list", "--json", home=tmp_path).stdout)
    assert found[0]["name"] == "all-MiniLM-L6-v2"
    assert "/int8/" in found[0]["state"]


def test_demo_shows_a_context_that_came_over_nats(tmp_path: Path) -> None:
    done = run("demo", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rows = result["baselines"]
    ours = rows["this context"]
    assert result["context"]["token_count"] == ours["tokens"] <= 4000
    assert ours["answers"] == ours["of"] == 3
    assert rows["last 20 as pretty JSON with the catalog"]["tokens"] > 1.5 * ours["tokens"]
    assert rows["last 20 as pretty JSON with the catalog"]["answers"] == 0
