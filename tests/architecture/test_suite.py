"""`make test`, with other commands in the place of pytest and of `make check`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import DEADLINE
from tests.running import ROOT, wait_for
from tests.suite import INTERRUPTED, LOOP

PASSES = "print('1 passed', flush=True)"
FAILS = f"{PASSES}; raise SystemExit(1)"
WAITS = """
import signal, sys
from pathlib import Path
folder = Path(sys.argv[1])
try:
    (folder / "waits").touch()
    signal.pause()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise SystemExit(2)
"""


def suite(folder: Path, tests: str, check: str) -> subprocess.Popen[str]:
    """The suite beside one busy loop. tests: a program of Python in the place of pytest. check: lines of a shell."""
    make = folder / "make"
    make.write_text(f"#!/bin/sh\n{check}\n", "utf-8")
    make.chmod(0o755)
    program = f"import sys\nfrom tests import suite\nsuite.TESTS = {('-c', tests, str(folder))}\nsys.exit(suite.main(1))"
    pipe = subprocess.PIPE
    env = os.environ | {"MAKE": str(make)}
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=env, stdout=pipe, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize(
    ("tests", "check", "code", "said"),
    [
        (PASSES, "echo fine", 0, "1 passed\n"),
        (PASSES, "echo 'a type is wrong'; exit 2", 2, "1 passed\nmake check failed:\na type is wrong\n"),
        (FAILS, "echo fine", 1, "1 passed\n"),
        (FAILS, "echo 'a type is wrong'; exit 2", 1, "1 passed\nmake check failed:\na type is wrong\n"),
    ],
    ids=["both pass", "the checks fail", "the tests fail", "both fail"],
)
def test_a_failure_of_tests_or_checks_is_one_of_the_suite_and_the_checks_speak_last(
    tmp_path: Path, tests: str, check: str, code: int, said: str
) -> None:
    running = suite(tmp_path, tests, check)
    assert running.communicate(timeout=DEADLINE)[0] == said
    assert running.returncode == code


def command(pid: str) -> str:
    """The command line of a process; empty when it has ended."""
    file = Path("/proc", pid, "cmdline")
    return file.read_text("utf-8") if file.exists() else ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, INTERRUPTED), (signal.SIGKILL, -signal.SIGKILL)])
def test_no_busy_loop_outlives_the_suite(tmp_path: Path, number: signal.Signals, code: int) -> None:
    running = suite(tmp_path, WAITS, "exec sleep 3600")
    wait_for((tmp_path / "waits").exists, "the tests to run")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text("utf-8").split()
    (loop,) = (child for child in children if LOOP in command(child))
    running.send_signal(number)
    assert running.wait(DEADLINE) == code
    wait_for(lambda: not command(loop), "the loop to be gone")
    if number == signal.SIGKILL:
        for child in set(children) - {loop}:
            os.kill(int(child), signal.SIGKILL)
    wait_for(lambda: not any(map(command, children)), "its processes to be gone")
    assert running.communicate(timeout=DEADLINE)[0] == "interrupted\n" * (number == signal.SIGTERM)
