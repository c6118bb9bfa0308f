"""What all tests share: one thread for each matrix product, and property tests that give every run the same examples.

Look for new counterexamples with `HYPOTHESIS_PROFILE=explore`.
"""

import os

from hypothesis import settings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
