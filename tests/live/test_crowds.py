"""The short form of the trial of clients that never read; `make torture` makes the long one."""

import pytest
from torture.live import trial

from live_server import OFTEN
from patience import PATIENCE

pytestmark = pytest.mark.slow


def test_who_never_reads_is_dropped_and_catches_up_and_nobody_else_waits(tmp_path):
    """Each change is as large as long traces make it: a handful of them is more than waits for anybody."""
    found = trial(
        1, 1, tmp_path, readers=10, deaf=6, within=PATIENCE, running=60, steps=600, speaking=60, every=0.3, before=OFTEN
    )
    assert found["events lost"] == 0
    assert found["connections of deaf clients dropped"] >= 6
    assert found["readers cut off"] == 0
    assert found["memory in % of that with one client"] <= 150
