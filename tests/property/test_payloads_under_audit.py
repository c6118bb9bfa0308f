"""Rendering hostile texts opens no file, starts no process, imports nothing: seen by an audit hook in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.payloads import CANARY, CANARY_VARIABLE

ROOT = Path(__file__).resolve().parents[2]


def test_a_few_hundred_renderings_touch_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "canary.txt").write_text(CANARY, "utf-8")
    env = os.environ | {CANARY_VARIABLE: CANARY, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.under_audit"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["renderings"] > 500
    assert report["events"] == []
    assert report["canary"] is False
    assert [file.name for file in tmp_path.iterdir()] == ["canary.txt"], "nothing was written"
