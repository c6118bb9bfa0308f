"""What all tests share: one thread for each matrix product, the examples of property tests, and the order of the folders.

Property tests have two profiles. `ci`, the default, gives every run the same examples, two in ten of those that a test names.
`HYPOTHESIS_PROFILE=full` looks at all of them and draws new ones each time: by hand, and before a release. A test names its
number with `tests.examples.examples`. Slow folders are marked: `pytest -m "not slow"` takes a minute.
"""

import gc
import os
import sys
from pathlib import Path

import pytest

import tests.warm  # noqa: F401 - what is made once a process
from tests.examples import load_profile
from tests.processes import pytest_addoption, pytest_runtestloop  # noqa: F401 - hooks

ROOT = Path(__file__).parent
SLOW_FOLDERS = frozenset({"bench", "chaos", "e2e", "frameworks", "golden", "integration", "property"})

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
# Else each of the processes, and each that a test starts, compiles every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
load_profile()
gc.disable()


def pytest_collection_finish() -> None:
    """Nothing that was imported or collected is garbage: no later collection looks at it."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders, and bring them to the front: no process ends alone on a slow file.

    `--processes` hands the files out in this order.
    """
    folders = {item.path: item.path.relative_to(ROOT).parts[0] for item in items}
    for item in items:
        if folders[item.path] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: folders[item.path] not in SLOW_FOLDERS)
