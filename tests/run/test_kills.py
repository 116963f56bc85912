"""The short form of the trial of kills; `make torture` makes the long one."""

import pytest
from torture.kills import trial

pytestmark = pytest.mark.slow


def test_killed_at_random_moments_nothing_is_lost_doubled_or_left(tmp_path):
    found = trial(6, 20260801, tmp_path)
    assert found["killed"] >= 6
    assert found["campaigns"] >= 1
    assert found["cells"] == 6 * found["campaigns"]
