"""No process outlives its run, however it hides."""

import os

import pytest

from gapline.model.tables import RunStatus


@pytest.mark.parametrize("keep", ["keep", "leave"])
def test_a_daemon_does_not_outlive_its_run(supervise, tmp_path, keep):
    """Its session, its environment and its parent are gone; that it may hold the pipe open delays nothing."""
    attempt = supervise("daemonises", keep)
    assert attempt.journal.status is RunStatus.FINISHED
    assert attempt.objectives == [10.0]
    assert attempt.ending.stragglers == 1
    daemon = int((tmp_path / "daemon.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_a_family_that_forks_on_is_cleared(supervise):
    attempt = supervise("forks", horizon=1.0)
    assert attempt.journal.status is RunStatus.TIME_LIMIT
    assert attempt.ending.leftover == 0
    assert attempt.ending.stragglers > 10


def test_the_memory_of_all_processes_counts(supervise):
    attempt = supervise("eats_memory", memory=200)
    assert attempt.journal.status is RunStatus.MEMORY_LIMIT
    assert attempt.objectives == [10.0]
    assert attempt.ending.peak_memory > 200_000_000
