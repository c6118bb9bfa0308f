"""The whole suite: pytest, the checks of `make check` beside it, and busy loops where somebody wants a machine that is not quiet.

`python -m tests.suite BUSY`. What the checks say is printed last and only when one failed; the exit code is that of pytest, or
of the checks where pytest passed. An interrupted suite ends as pytest does, with its closing line.
"""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack

TESTS = ("-m", "pytest", "--processes", "6")
"""Six processes on two cores, too: many tests wait for a process or a broker. `tests/conftest.py` orders the files."""
INTERRUPTED = 2
"""pytest's exit code, also when files cannot be collected."""
LOOP = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
"""Ends with the suite, even with one that was killed."""


def main(busy: int) -> int:
    """The exit code. busy: loops that run as long as the suite does."""
    with ExitStack() as ends, tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        for _ in range(busy):
            loop = subprocess.Popen([sys.executable, "-c", LOOP, str(os.getpid())])
            ends.callback(loop.wait)
            ends.callback(loop.kill)
        checks = subprocess.Popen([os.environ.get("MAKE", "make"), "--no-print-directory", "check"], stdout=said, stderr=said)
        ends.callback(checks.wait)
        ends.callback(checks.terminate)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs it in the background of a shell has it ignored, and so had pytest
        tests = subprocess.Popen([sys.executable, *TESTS])
        signal.signal(signal.SIGTERM, lambda *_: tests.send_signal(signal.SIGINT))
        signal.signal(signal.SIGINT, lambda *_: None)  # a terminal sends it to pytest, too
        if (failed := tests.wait()) == INTERRUPTED:
            return failed
        checked = checks.wait()
        if checked:
            said.seek(0)
            sys.stderr.write(f"make check failed:\n{said.read()}")
        return failed or checked


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
