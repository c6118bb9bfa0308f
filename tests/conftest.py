"""What all tests share: one thread for each matrix product, the examples of property tests, and the order of the files.

Property tests have two profiles. `ci`, the default, gives every run the same examples, three in ten of those that a test names.
`HYPOTHESIS_PROFILE=full` looks at all of them and draws new ones each time: by hand, and before a release. A test names its
number with `tests.examples.examples`. Slow folders are marked: `pytest -m "not slow"` takes a minute.
"""

import gc
import os
from pathlib import Path

import pytest

from tests.examples import load_profile

ROOT = Path(__file__).parent
LONGEST = (
    "property/test_hostile_bodies.py",
    "unit/adapters/embedding/test_engines.py",
    "chaos/test_kills.py",
    "integration/test_permissions.py",
    "chaos/test_turns_of_no_session.py",
    "golden/test_golden.py",
    "bench/test_invariants.py",
    "bench/test_measures.py",
    "e2e/test_docs.py",
    "integration/test_explanations.py",
    "integration/test_nobody_answers.py",
    "integration/test_deliveries.py",
    "e2e/test_cli.py",
    "unit/app/operations/test_profile_catalog_mistakes.py",
    "unit/assemble/sources/test_conversation.py",
    "e2e/test_wheel.py",
    "bench/test_sample.py",
    "unit/adapters/templates/test_payloads.py",
    "property/test_budget.py",
    "integration/test_watchdog.py",
)
"""Files of ten seconds or more, the longest first: `--dist loadfile --no-loadscope-reorder` hands them out in this order."""
SLOW_FOLDERS = frozenset({"bench", "chaos", "e2e", "golden", "integration", "property"})

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
load_profile()
gc.disable()


def pytest_collection_finish() -> None:
    """Nothing that was imported or collected is garbage: no later collection looks at it."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders, and bring the longest files to the front: no process ends alone on one of them."""
    names = {item.path: item.path.relative_to(ROOT).as_posix() for item in items}
    for item in items:
        if names[item.path].split("/")[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: LONGEST.index(names[item.path]) if names[item.path] in LONGEST else len(LONGEST))
