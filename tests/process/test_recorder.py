"""What a solver prints is kept within caps, and a disk that is full ends the run cleanly."""

import resource

import pytest

from gapline.contract.tables import RunStatus
from gapline.journal.read import JournalState


@pytest.mark.slow
def test_a_flood_is_read_capped_and_counted(supervise):
    attempt = supervise("floods", horizon=1.0)
    assert attempt.journal.status is RunStatus.TIME_LIMIT
    assert attempt.objectives[0] == 10.0
    assert attempt.ending.dropped["stdout bytes"] > 0
    assert attempt.ending.dropped["stderr bytes"] > 0
    assert attempt.ending.log_lines > 100_000
    for log in ("stdout.log", "stderr.log"):
        assert (attempt.directory / log).stat().st_size < 1_200_000
    assert attempt.peak < 300_000_000


def test_a_line_of_100_megabytes_costs_bounded_memory_and_nothing_after_it(supervise):
    attempt = supervise("long_line")
    assert attempt.journal.status is RunStatus.FINISHED
    assert attempt.objectives == [10.0]
    assert attempt.ending.dropped["overlong lines"] == 2
    assert attempt.ending.dropped["overlong bytes"] > 120_000_000
    assert attempt.peak < 300_000_000


def test_binary_output_does_not_hide_candidates(supervise):
    attempt = supervise("binary")
    assert attempt.objectives == [9.0, 7.0]
    rejected = [event.reason for event in attempt.journal.events if event.reason]
    assert rejected == ["candidate not readable", "candidate not readable"]
    assert attempt.ending.log_lines > 0
    assert b"red" in (attempt.directory / "stdout.log").read_bytes()


def test_a_full_disk_ends_the_run_cleanly_with_whole_lines_kept(supervise):
    """The limit on the size of a file behaves as a full disk: first a short count, then an error."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    # Paced, so that lines arrive one by one: those that share a write with the one that failed are cut back with it.
    attempt = supervise("scripted", "1", "1000000", "0.0005", before=limit)
    assert attempt.ending.cause == "infrastructure"
    assert "more bytes were needed" in attempt.ending.error
    assert attempt.journal.torn == 0
    assert attempt.journal.corruption is None
    assert attempt.journal.state is JournalState.BROKEN
    assert attempt.journal.status is RunStatus.LOST
    assert attempt.objectives == [1000.0 / (number + 2) for number in range(len(attempt.objectives))]
    assert len(attempt.objectives) > 50


def test_events_over_the_cap_of_the_journal_are_counted(supervise):
    from gapline.journal.records import Caps

    attempt = supervise("scripted", "1", "1000", "0", caps=Caps(journal=20_000))
    assert attempt.ending.dropped["events over the cap"] == 1000 - len(attempt.objectives) > 0
    assert attempt.journal.over_cap == attempt.ending.dropped["events over the cap"]
    assert attempt.journal.problems() == []
