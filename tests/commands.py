"""Commands of the command line, and scripts of tests, in processes of their own.

They are forked from a process that has imported the service, which saves each of them the seconds that the imports take.
`tests/e2e` starts the script itself too: with standard input, out of a wheel, and as the pages write it.
"""

import multiprocessing
import os
import runpy
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DEADLINE = 300.0
"""Seconds after which a condition counts as never met: far more than a slow machine needs."""
NOBODY_LISTENS = (
    "nobody listens for 'default', so no answer comes; start its agent (`context-builder consumers` says who listens)\n"
)
"""What `send --wait default` says when no agent runs."""
COMMAND = str(Path(sys.executable).with_name("context-builder"))
"""The installed script."""
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.preloaded", __name__])


def python_path(folder: Path | str) -> str:
    """PYTHONPATH of a process that looks into this folder first, then where this process looks."""
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


class Command:
    """A running command, with the methods of `subprocess.Popen` that the tests need."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: dict[str, str],
        output: Path,
        errors: Path,
        cwd: Path | None = None,
        reads: Path | None = None,
    ) -> None:
        """arguments: of the command line, or a file of Python first, and its own. env: all of its environment.

        output, errors: files that what it writes is added to. cwd: default ours. reads: a file as standard input.
        """
        target = (tuple(arguments), env, output, errors, cwd or Path.cwd(), reads)
        # A daemon is killed when the run of the tests ends before the test does.
        self._process = _FORKS.Process(target=_main, args=target, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; the exit code. timeout: seconds. Raises `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("context-builder", timeout or 0)
        return code

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        self.send_signal(signal.SIGKILL)


def run(*arguments: str, env: dict[str, str], cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command of the command line, run to its end. cwd: default ours."""
    with tempfile.TemporaryDirectory() as folder:
        output, errors, reads = (Path(folder) / name for name in ("output", "errors", "reads"))
        reads.write_text(stdin, "utf-8")
        command = Command(arguments, env, output, errors, cwd, reads)
        try:
            code = command.wait(DEADLINE)
        finally:
            command.kill()
        return subprocess.CompletedProcess(arguments, code, output.read_text("utf-8"), errors.read_text("utf-8"))


def run_script(script: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """What a shell does with lines of `export NAME=VALUE` and `context-builder … [> FILE]`, up to the first that fails."""
    done = subprocess.CompletedProcess(script, 0, "", "")
    for words in filter(None, (shlex.split(line, comments=True) for line in script.splitlines())):
        match words:
            case ["export", setting]:
                env = env | dict([setting.split("=", 1)])
                continue
            case ["context-builder", *arguments, ">", name]:
                ended = run(*arguments, env=env, cwd=cwd)
                (cwd / name).write_text(ended.stdout, "utf-8")
                ended.stdout = ""
            case ["context-builder", *arguments]:
                ended = run(*arguments, env=env, cwd=cwd)
            case _:
                raise AssertionError(f"only a real shell runs {words}")
        done = subprocess.CompletedProcess(script, ended.returncode, done.stdout + ended.stdout, done.stderr + ended.stderr)
        if done.returncode:
            break
    return done


def _main(arguments: tuple[str, ...], env: dict[str, str], output: Path, errors: Path, cwd: Path, reads: Path | None) -> None:
    """What the script `context-builder`, or a file of Python, does in a process that was forked."""
    from builder.cli import main  # noqa: PLC0415 - the tests' own process needs none of it

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, file in ((1, output), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
    if reads:
        os.dup2(os.open(reads, os.O_RDONLY), 0)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as the process lives
    if arguments and arguments[0].endswith(".py"):
        sys.argv = [*arguments]
        runpy.run_path(arguments[0], run_name="__main__")
    else:
        sys.argv = ["context-builder", *arguments]
        main()
