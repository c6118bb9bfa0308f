"""Commands bring in no more than they need, so that they answer at once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_lint_needs_no_broker_no_store_and_no_model() -> None:
    heavy = "{'faststream', 'apsw', 'onnxruntime', 'tokenizers', 'nats', 'starlette', 'structlog'}"
    module = "builder.extras.workshop.profile_catalog"
    code = f"import sys; from {module} import lint_folders; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_reports_are_printed_without_the_parts_of_the_service() -> None:
    heavy = "{'nats', 'numpy', 'faststream', 'onnxruntime'}"
    code = f"import sys, builder.extras.explain.reports; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_tree_of_commands_is_there_without_a_library_of_the_service() -> None:
    heavy = "{'apsw', 'jinja2', 'mcp', 'nats', 'numpy', 'psycopg', 'pydantic', 'yaml'}"
    code = f"import sys, builder.cli.registry; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_service_without_tokens_loads_no_door_and_nothing_of_agents_or_authors() -> None:
    heavy = "{'builder.client', 'fastapi', 'jsonpath', 'limits', 'openai', 'rich', 'structlog', 'torch'}"
    code = f"import sys, builder.app.service, builder.cli.registry; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
