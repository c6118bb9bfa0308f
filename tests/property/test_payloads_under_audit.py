"""Rendering hostile texts opens no file, starts no process, imports nothing: seen by an audit hook in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.payloads import CANARY, CANARY_VARIABLE, PAGES, SAMPLE

ROOT = Path(__file__).resolve().parents[2]


def test_no_rendering_touches_anything_outside(tmp_path: Path) -> None:
    (tmp_path / "canary.txt").write_text(CANARY, "utf-8")
    env = os.environ | {CANARY_VARIABLE: CANARY, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.under_audit"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["texts"], report["pages"]) == (len(SAMPLE), len(PAGES))
    assert report["events"] == []
    assert report["canary"] is False
    assert [file.name for file in tmp_path.iterdir()] == ["canary.txt"], "nothing was written"
