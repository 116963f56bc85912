"""The zoo of hostile solvers: each ends with the right status, its data kept, and no process left."""

import os
import sys

import pytest

from gapline.contract.tables import Reason, RunStatus
from gapline.journal.read import JournalState
from gapline.process import cgroup


@pytest.mark.slow
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


@pytest.mark.slow
def test_sigkill_follows_when_sigterm_is_ignored(supervise):
    assert supervise("ignores_term", horizon=1.0).ending.signal == "SIGKILL"


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


@pytest.fixture
def no_groups(monkeypatch):
    """As on a machine whose kernel keeps no limits for us."""
    monkeypatch.setenv(cgroup.VARIABLE, "off")


@pytest.mark.skipif(os.cpu_count() == 1, reason="this machine has one core")
@pytest.mark.usefixtures("no_groups")
def test_a_solver_that_leaves_its_cores_is_put_back_and_told(supervise):
    attempt = supervise("leaves_cores", cpus=[min(os.sched_getaffinity(0))])
    assert attempt.ending.unpinned >= 2
    assert attempt.ending.limits == "sampled"


@pytest.mark.usefixtures("no_groups")
def test_threads_that_leave_are_put_back_too(supervise):
    code = (
        "import os, threading, time\n"
        "def leave():\n    os.sched_setaffinity(0, range(os.cpu_count())); time.sleep(0.5)\n"
        "thread = threading.Thread(target=leave); thread.start(); thread.join()\n"
    )
    attempt = supervise("threads", cpus=[min(os.sched_getaffinity(0))], argv=[sys.executable, "-c", code])
    assert attempt.ending.unpinned == (1 if os.cpu_count() > 1 else 0)


@pytest.mark.slow
@pytest.mark.usefixtures("no_groups")
def test_memory_on_dev_shm_is_seen(supervise):
    attempt = supervise("fills_shm", memory=100)
    # Whose it is nobody can say without a group of the kernel, so it is told and not charged.
    assert attempt.journal.status is RunStatus.FINISHED
    assert attempt.ending.shared_memory > 150_000_000
    assert attempt.ending.peak_memory < 100_000_000


ENDS_ALL = """import os, signal
me, supervisor = os.getpid(), os.getppid()
print('{"objective": 1.0}', flush=True)
if os.fork() == 0:
    for target in (%s):
        os.kill(target, signal.SIGTERM)
    os._exit(0)
signal.pause()
"""


@pytest.mark.parametrize("order", ["supervisor, me", "me, supervisor"])
def test_a_signal_to_the_whole_job_is_no_end_of_the_solvers_own(supervise, order):
    """A batch system that ends a job signals solver and supervisor, in whatever order: the run was cut short."""
    attempt = supervise("ended", argv=[sys.executable, "-c", ENDS_ALL % order])
    assert attempt.ending.cause == "interrupted"
    assert attempt.journal.state is JournalState.BROKEN


def test_a_solver_that_dies_of_a_signal_for_it_alone_has_ended_by_itself(supervise):
    attempt = supervise("ended", argv=[sys.executable, "-c", ENDS_ALL % "me,"])
    assert (attempt.ending.cause, attempt.ending.signal) == ("exit", "SIGTERM")
