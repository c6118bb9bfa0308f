"""`--processes`, with files of tests that fail, end their process, and wait."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.commands import DEADLINE, python_path
from tests.running import ROOT, wait_for

FILES = {
    "test_first": """
        import os, signal
        def test_passes(): print(os.getpid(), file=open("first", "w"))
        def test_ends_its_process(): os.kill(os.getpid(), signal.SIGKILL)
        def test_fails(): print("said before"); assert os.getpid() == 0
        """,
    "test_large": """
        import os, pytest
        pytestmark = pytest.mark.apart
        def test_passes(): print(os.getpid(), file=open("large", "w"))
        def test_is_in_the_same_process(): assert open("large").read() == f"{os.getpid()}\\n"
        """,
    "test_second": """
        import os
        def test_is_in_no_process_of_another_file():
            assert f"{os.getpid()}\\n" not in (open("first").read(), open("large").read())
        def test_has_a_folder(tmp_path): assert not [*tmp_path.iterdir()]
        """,
}
WAITS = """
    import signal, pytest
    @pytest.fixture(scope="module")
    def server():
        yield open("begun", "w").close()
        open("ended", "w").close()
    def test_waits(server): signal.pause()
    """


def running(folder: Path, files: dict[str, str], processes: int) -> subprocess.Popen[str]:
    """Pytest over these files: name → source."""
    for name, source in files.items():
        (folder / f"{name}.py").write_text(dedent(source), "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = apart\n", "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.processes",
        "--processes",
        str(processes),
        "-q",
        "-rf",
        "--tb",
        "short",
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": python_path(ROOT)}, stdout=pipe, text=True, start_new_session=True
    )


def test_a_process_that_ends_fails_its_test_alone_and_what_is_apart_has_one_of_its_own(tmp_path: Path) -> None:
    process = running(tmp_path, FILES, 1)
    said = process.communicate(timeout=DEADLINE)[0]
    assert process.returncode == pytest.ExitCode.TESTS_FAILED
    assert said.splitlines()[-1].startswith("2 failed, 5 passed in ")
    assert "the process ended in this test, with -9" in said
    assert "said before" in said


def test_an_interrupted_run_ends_its_fixtures_and_its_processes(tmp_path: Path) -> None:
    process = running(tmp_path, {"test_waits": WAITS}, 2)
    wait_for((tmp_path / "begun").exists, "the test to run")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    process.communicate(timeout=DEADLINE)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert (tmp_path / "ended").exists()
