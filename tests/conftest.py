"""What all tests share: one thread for each matrix product, the examples of property tests, and the order of the files.

Property tests have two profiles. `ci`, the default, gives every run the same examples, half of those that a test names.
`HYPOTHESIS_PROFILE=full` looks at all of them and draws new ones each time: by hand, and before a release. A test names its
number with `tests.examples.examples`. Slow folders are marked: `pytest -m "not slow"` takes a minute.
"""

import os
from pathlib import Path

import pytest

from tests.examples import load_profile

SLOW_FOLDERS = frozenset({"bench", "chaos", "e2e", "golden", "integration", "property"})

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
load_profile()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders."""
    root = Path(__file__).parent
    for item in items:
        if item.path.relative_to(root).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
