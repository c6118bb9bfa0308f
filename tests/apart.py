"""Tests that load what is large run in a process of their own, a file at a time: the 700 MB of torch end with the file.

The file's first test forks a process, which runs all tests of the file with their fixtures; each one's reports come back as it
ends. Marked with `pytestmark = pytest.mark.apart`.
"""

import os
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from _pytest.runner import runtestprotocol

_reports: dict[str, list[pytest.TestReport]] = {}
"""Id of a test → its reports, of the files that ran."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test in the process of its file, and report it here."""
    if item.get_closest_marker("apart") is None:
        return None
    if item.nodeid not in _reports:
        _reports.update(_run_apart([other for other in item.session.items if other.path == item.path]))
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports[item.nodeid]:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _run_apart(items: list[pytest.Item]) -> dict[str, list[pytest.TestReport]]:
    """Reports by id. Fails when the process ends before its tests do."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _run_here(items, os.fdopen(writing, "wb"))
    os.close(writing)
    reports: dict[str, list[pytest.TestReport]] = defaultdict(list)
    with os.fdopen(reading, "rb") as pipe:
        while line := pipe.readline():
            data = pickle.loads(bytes.fromhex(line.decode()))  # noqa: S301 - our own child's
            reports[data["nodeid"]].append(pytest.TestReport._from_json(data))
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 0, f"the process of {Path(items[0].path).name} ended with {status}"
    return reports


def _run_here(items: list[pytest.Item], pipe: BinaryIO) -> None:
    """In the child: run the tests, write a line for each report, and end. What the parent has set up stays as it is."""
    code = 1
    try:
        for item, following in zip(items, [*items[1:], items[0]], strict=True):
            for report in runtestprotocol(item, log=False, nextitem=following):
                data: dict[str, Any] = report._to_json()
                pipe.write(pickle.dumps(data).hex().encode() + b"\n")
        pipe.close()
        code = 0
    finally:
        os._exit(code)
