"""`--processes N`: the tests in N processes, each forked from the one that has collected them.

A process runs a file at a time. A file that is marked with `pytestmark = pytest.mark.apart` loads what is large, the 700 MB of
torch for example: it has a process of its own, which ends with it. Without `--processes` all tests run in one process.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import groupby
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

_FORK = multiprocessing.get_context("fork")
END_SECONDS = 60.0
"""After which an interrupted process is killed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.addoption("--processes", type=int, default=0, help="Processes that run files of tests; 0 = this one.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in processes, where somebody asked for some and the files could be collected."""
    number = session.config.option.processes
    if not number or session.config.option.collectonly or session.testsfailed:
        return None
    assert threading.active_count() == 1, f"a fork has none of the other threads, and waits for them: {threading.enumerate()}"
    files = []
    for _, group in groupby(range(len(session.items)), lambda index: session.items[index].path):
        indexes = [*group]
        files.append(range(indexes[0], indexes[-1] + 1))
    # The server that forks the commands of tests, one for all.
    forkserver.ensure_running()
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    Pool(session, files, number).run()
    return True


class Worker:
    """A process, and the file that it runs."""

    def __init__(self, session: pytest.Session, number: int, others: Sequence["Worker"]) -> None:
        """number: of the process. others: those that run; the fork has their connections, which it closes."""
        self._session = session
        self.connection, its_end = _FORK.Pipe()
        inherited = (self.connection, *(other.connection for other in others))
        self.process = _FORK.Process(target=_work, args=(session, number, its_end, inherited))
        self.process.start()
        its_end.close()
        self.tests = range(0)
        """Those of its file that have not ended, by their places among the items of the session."""
        self.is_apart = False

    def run(self, tests: range) -> None:
        """Run a file there."""
        self.tests = tests
        self.is_apart = is_apart(self._session, tests)
        self.connection.send(tests)

    def report(self) -> bool:
        """Tell pytest what comes next from it. Returns whether its file has ended. Raises `EOFError` when the process has."""
        data = self.connection.recv()
        if data is None:
            return True
        hook = self._session.config.hook
        report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
        hook.pytest_runtest_logreport(report=report)
        if report.when == "teardown":
            item = self._session.items[self.tests[0]]
            self.tests = self.tests[1:]
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return False

    def interrupt(self) -> None:
        """Let it end its fixtures, and itself."""
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGINT)

    def fail(self) -> range:
        """Fail the test in which the process ended. Returns those of its file that it has not begun."""
        self.process.join()
        if not self.tests:
            return self.tests
        hook, item = self._session.config.hook, self._session.items[self.tests[0]]
        said = f"the process ended in this test, with {self.process.exitcode}"
        report = pytest.TestReport(item.nodeid, item.location, dict.fromkeys(item.keywords, 1), "failed", said, "call")
        hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return self.tests[1:]


def is_apart(session: pytest.Session, tests: range) -> bool:
    """Whether the tests of a file want a process of their own."""
    return session.items[tests[0]].get_closest_marker("apart") is not None


class Pool:
    """The processes, and the files that nobody has run yet."""

    def __init__(self, session: pytest.Session, files: Iterable[range], most: int) -> None:
        """files: the places of each file's tests among the items of the session. most: processes that run at once."""
        self._session = session
        self._files = deque(files)
        self._most = most
        self._started = 0
        self._idle: list[Worker] = []
        self._running: list[Worker] = []

    def run(self) -> None:
        """Run all files. Raises as pytest's own loop does."""
        try:
            while self._files or self._running:
                while self._files and len(self._running) < self._most:
                    self._begin(self._files.popleft())
                ready = wait([worker.connection for worker in self._running])
                for worker in [worker for worker in self._running if worker.connection in ready]:
                    self._receive(worker)
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for worker in self._running:
                worker.interrupt()
            for worker in [*self._idle, *self._running]:
                worker.connection.close()
                worker.process.join(END_SECONDS)
                worker.process.kill()

    def _begin(self, tests: range) -> None:
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        if self._idle and not is_apart(self._session, tests):
            worker = self._idle.pop()
        else:
            self._started += 1
            worker = Worker(self._session, self._started, [*self._idle, *self._running])
        worker.run(tests)
        self._running.append(worker)

    def _receive(self, worker: Worker) -> None:
        try:
            if not worker.report():
                return
            if worker.is_apart:
                worker.connection.close()
            else:
                self._idle.append(worker)
        except EOFError:
            if rest := worker.fail():
                self._files.appendleft(rest)
        self._running.remove(worker)


def _work(session: pytest.Session, number: int, connection: Connection, inherited: Sequence[Connection]) -> None:
    """In the process: run one file after the other until nobody sends one."""
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # It runs, and would be looked for among the children of this process.
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    config = session.config
    plugins = config.pluginmanager
    # The files that collect what tests write are shared with the other processes. They stay open: a module may write to one.
    capture = plugins.getplugin("capturemanager")
    shared, capture._global_capturing = capture._global_capturing, None  # noqa: F841 - collected as garbage it closes them
    capture.start_global_capturing()
    plugins.unregister(plugins.getplugin("terminalreporter"))
    plugins.register(_Reports(config, connection))
    folders = config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.getbasetemp() / f"process-{number}"
    folders._basetemp.mkdir()
    try:
        while True:
            tests = connection.recv()
            for index in tests:
                following = session.items[index + 1] if index + 1 in tests else None
                config.hook.pytest_runtest_protocol(item=session.items[index], nextitem=following)
            connection.send(None)
    except (EOFError, OSError, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal has sent it, and the pool sends it again
        session._setupstate.teardown_exact(None)


class _Reports:
    """Sends each report to the process that collected the tests."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data: dict[str, Any] = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(data)
