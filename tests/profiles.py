"""How many examples a property test tries: few in `make test`, as many as it asks for in `make test-all`.

`HYPOTHESIS_PROFILE=thorough python -m pytest` looks for new counterexamples; the others are the same on every machine.
"""

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "small")
settings.register_profile("small", derandomize=True, deadline=None, max_examples=10, database=None)
settings.register_profile("full", derandomize=True, deadline=None, max_examples=20, database=None)
settings.register_profile("thorough", derandomize=False, deadline=None, max_examples=1000, database=None)
settings.load_profile(PROFILE)


def examples(number: int) -> int:
    """Return how many examples a test that asks for this number tries under the profile of this run."""
    return max(10, number // 5) if PROFILE == "small" else number
