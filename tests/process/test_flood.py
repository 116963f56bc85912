"""The short form of the flood; `make torture` makes the long one."""

import pytest
from torture.flood import trial

pytestmark = pytest.mark.slow


def test_a_flood_is_taken_in_bounded_memory_and_accounted_for(tmp_path):
    found = trial(150, 20260801, tmp_path)
    assert found["megabytes"] >= 150
    assert found["overlong lines"] > 0
    assert found["candidates"] > 0
