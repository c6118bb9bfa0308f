"""The names of `builder.app` are imported at their first use: what readers of types see is what programs get."""

import ast
import subprocess
import sys
from pathlib import Path

import builder.app

ROOT = Path(__file__).resolve().parents[2]


def imports_for_types() -> dict[str, str]:
    """Name → module, of the block that only type checkers read."""
    tree = ast.parse(Path(builder.app.__file__).read_text("utf-8"))
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and any(isinstance(each, ast.ImportFrom) for each in node.body)
    ]
    found = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in found for alias in node.names}


def test_every_name_has_the_module_that_its_type_comes_from() -> None:
    assert imports_for_types() == builder.app._MODULES
    assert set(builder.app.__all__) == builder.app._MODULES.keys()


def test_every_name_is_there() -> None:
    assert all(getattr(builder.app, name) is not None for name in builder.app.__all__)


def test_lint_needs_no_broker_no_store_and_no_model() -> None:
    heavy = "{'faststream', 'apsw', 'onnxruntime', 'tokenizers', 'nats', 'starlette', 'structlog'}"
    code = f"import sys; from builder.app import lint_folders; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
