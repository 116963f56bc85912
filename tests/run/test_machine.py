"""What is recorded of the host."""

import pytest

from gapline.run.machine import busy_seconds, describe_machine, is_noisy, load_average
from gapline.run.pin import cores


def test_the_machine_is_named_with_its_versions():
    facts = describe_machine()
    assert set(facts) == {"processor", "cores", "memory", "system", "python", "gapline"}
    assert all(facts.values())


def test_busy_time_of_cores_only_grows():
    first = busy_seconds(cores())
    assert busy_seconds(cores()) >= first > 0
    assert busy_seconds([]) == 0
    assert load_average() >= 0


@pytest.mark.parametrize(
    ("share", "elapsed", "noisy"),
    [(0.5, 10.0, True), (0.05, 10.0, False), (0.5, 0.2, False), (None, 10.0, False)],
)
def test_a_noisy_host_is_one_whose_others_show(share, elapsed, noisy):
    assert is_noisy(share, elapsed) is noisy
