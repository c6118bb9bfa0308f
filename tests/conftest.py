"""What all tests share: one thread for each matrix product, and property tests that give every run the same examples.

Look for new counterexamples with `HYPOTHESIS_PROFILE=explore`. Slow folders are marked: `pytest -m "not slow"` takes a minute.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SLOW_FOLDERS = frozenset({"bench", "chaos", "e2e", "golden", "integration", "property"})

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders."""
    root = Path(__file__).parent
    for item in items:
        if item.path.relative_to(root).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
