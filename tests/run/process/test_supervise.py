"""The zoo of hostile solvers: each ends with the right status, its data kept, and no process left."""

import os
import resource
import sys

import pytest

from gapline.journal.read import JournalState
from gapline.model.tables import Reason, RunStatus


@pytest.mark.parametrize("name", ["ignores_term", "stops_itself", "hangs_at_exit", "closes_stdout"])
def test_a_solver_that_does_not_end_is_ended(supervise, name):
    attempt = supervise(name, horizon=1.0)
    assert attempt.journal.status is RunStatus.TIME_LIMIT
    assert attempt.ending.cause == "horizon"
    assert attempt.ending.elapsed >= 1.0
    assert attempt.objectives == [10.0]


def test_sigterm_comes_before_sigkill(supervise):
    """`stops_itself` has no handler: the SIGTERM ends it as soon as SIGCONT lets it see it."""
    assert supervise("stops_itself", horizon=0.3, kill_after=60.0).ending.signal == "SIGTERM"


def test_sigkill_follows_when_sigterm_is_ignored(supervise):
    assert supervise("ignores_term", horizon=1.0).ending.signal == "SIGKILL"


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


def test_objectives_that_are_no_numbers_are_rejected_with_the_reason(supervise):
    events = supervise("numbers").journal.events
    not_finite, missing, no_number = (
        Reason.OBJECTIVE_NOT_FINITE,
        Reason.OBJECTIVE_MISSING,
        Reason.OBJECTIVE_NOT_A_NUMBER,
    )
    assert [event.reason for event in events if event.is_candidate] == [
        *[not_finite] * 3,  # NaN, Infinity, -Infinity
        *[missing] * 3,  # nothing, "", null
        no_number,  # "12"
        "candidate not readable",  # 1,5 leaves a loose 5 behind
        no_number,  # 1_000
        not_finite,  # 1e400
        *[no_number] * 4,  # Arabic digits, true, [1], 0x10
        "",
    ]
    assert [event.bound for event in events if event.bound == event.bound] == [4.0, 5.0]


def test_standard_input_is_empty(supervise):
    attempt = supervise("reads_stdin")
    assert attempt.objectives == [10.0]
    assert attempt.journal.status is RunStatus.FINISHED


@pytest.mark.parametrize(
    ("how", "status", "code", "name"),
    [
        ("3", RunStatus.CRASHED, 3, None),
        ("SIGSEGV", RunStatus.CRASHED, None, "SIGSEGV"),
        ("SIGABRT", RunStatus.CRASHED, None, "SIGABRT"),
        ("SIGKILL", RunStatus.KILLED, None, "SIGKILL"),
        ("0", RunStatus.FINISHED, 0, None),
    ],
)
def test_what_was_found_before_a_crash_is_kept_with_the_cause(supervise, how, status, code, name):
    attempt = supervise("dies", how)
    assert attempt.journal.status is status
    assert (attempt.ending.exit_code, attempt.ending.signal) == (code, name)
    assert attempt.objectives == [10.0, 9.0]
    assert (attempt.directory / "stderr.log").read_text() == "Traceback: the last words\n"


def test_a_silent_solver_is_an_empty_run(supervise):
    attempt = supervise("silent")
    assert attempt.journal.status is RunStatus.FINISHED
    assert attempt.journal.events == []


def test_the_memory_of_all_processes_counts(supervise):
    attempt = supervise("eats_memory", memory=200)
    assert attempt.journal.status is RunStatus.MEMORY_LIMIT
    assert attempt.objectives == [10.0]
    assert attempt.ending.peak_memory > 200_000_000


def test_late_candidates_are_kept_with_their_stamp(supervise):
    attempt = supervise("overruns", horizon=0.2, grace=60.0)
    assert attempt.journal.status is RunStatus.FINISHED
    assert [event.time > 0.2 for event in attempt.journal.events] == [True]


def test_stamps_never_go_backwards_and_never_pass_the_end(supervise):
    attempt = supervise("scripted", "1", "2000", "0")
    times = [event.time for event in attempt.journal.events]
    assert len(times) == 2000
    assert times == sorted(times)
    assert times[0] > 0
    assert attempt.journal.version == "1.2"


def test_the_solver_runs_on_its_cores_alone(supervise):
    cpu = max(os.sched_getaffinity(0))
    code = "import os; print('{\"objective\": %d}' % (1000 + sum(os.sched_getaffinity(0))))"
    attempt = supervise("pinned", cpus=[cpu], argv=[sys.executable, "-c", code])
    assert attempt.objectives == [1000 + cpu]


def test_a_program_that_is_not_there_is_not_a_result(supervise):
    attempt = supervise("nothing", argv=["./no-such-program"])
    assert attempt.ending.cause == "start"
    assert "no-such-program" in attempt.ending.error
    assert attempt.journal.state is JournalState.BROKEN


def test_a_full_disk_ends_the_run_cleanly_with_whole_lines_kept(supervise):
    """The limit on the size of a file behaves as a full disk: first a short count, then an error."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    attempt = supervise("scripted", "1", "1000000", "0", before=limit)
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
    assert any("exceeded the cap" in problem for problem in attempt.journal.problems())


def test_cpu_time_load_and_machine_are_recorded(supervise):
    attempt = supervise("dies", "0")
    assert attempt.ending.cpu_time > 0
    assert attempt.ending.zero > 0
    assert attempt.ending.load is not None
    assert attempt.ending.started.endswith("+00:00")


def test_the_solver_has_the_priority_of_the_runner_not_the_supervisors(supervise):
    code = "import os; print('{\"objective\": %d}' % (1000 + os.getpriority(os.PRIO_PROCESS, 0)))"
    attempt = supervise("priority", argv=[sys.executable, "-c", code])
    assert attempt.objectives == [1000 + os.getpriority(os.PRIO_PROCESS, 0)]
