"""Supervisors from the nursery: they outlive it, a new one is made when it was killed, nothing leaks between them."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from gapline.files.locks import lock_now, open_lock
from gapline.journal.read import read_journal
from gapline.journal.records import Ending, Order
from gapline.process.nursery import Nursery
from patience import PATIENCE

PRINTS = 'import os; print(\'{"objective": 3.0}\', flush=True); os.read(os.open(os.environ["GATE"], os.O_RDONLY), 1)'


@pytest.fixture
def nursery():
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def make_attempt(tmp_path):
    """An attempt whose solver says one thing and waits until somebody writes to the gate."""

    def make(name: str) -> Path:
        attempt = tmp_path / name
        attempt.mkdir()
        os.mkfifo(attempt / "gate")
        order = Order(
            arm="a",
            instance="i",
            seed=1,
            panel="p",
            horizon=60.0,
            attempt=1,
            argv=[sys.executable, "-S", "-E", "-c", PRINTS],
            environment={"GATE": str(attempt / "gate")},
        )
        (attempt / "run.json").write_bytes(msgspec.json.encode(order))
        return attempt

    return make


def open_gate(attempt: Path) -> None:
    (attempt / "gate").write_bytes(b"!")


def test_supervisors_outlive_a_nursery_that_is_killed(nursery, make_attempt, eventually):
    first, second = (make_attempt(name) for name in ("first", "second"))
    begun = nursery.start_supervisor(first, ())
    eventually(lambda: len(read_journal(first).events) == 1)
    os.kill(nursery._process.pid, signal.SIGKILL)
    nursery._process.wait()
    later = nursery.start_supervisor(second, ())
    for attempt, supervising in ((second, later), (first, begun)):
        open_gate(attempt)
        ending = msgspec.json.decode(supervising.wait(), type=Ending)
        assert (ending.cause, ending.exit_code, ending.leftover) == ("exit", 0, 0)
        assert [event.objective for event in read_journal(attempt).events] == [3.0]
        supervising.close()


def test_each_supervisor_hears_its_own_pipe_alone(nursery, make_attempt):
    attempts = [make_attempt(str(number)) for number in range(3)]
    first, second, third = (nursery.start_supervisor(attempt, ()) for attempt in attempts)
    # Closed: the runner is gone. A byte: asked to end. Neither reaches the others.
    first.stdin.close()
    assert msgspec.json.decode(first.wait(), type=Ending).cause == "runner lost"
    second.stdin.write(b"!")
    second.stdin.flush()
    assert msgspec.json.decode(second.wait(), type=Ending).cause == "interrupted"
    open_gate(attempts[2])
    assert msgspec.json.decode(third.wait(), type=Ending).cause == "exit"
    for supervising in (first, second, third):
        supervising.close()


def test_the_environment_of_the_moment_reaches_the_solver(nursery, tmp_path, monkeypatch):
    for word in ("once", "again"):
        monkeypatch.setenv("WORD", word)
        attempt = tmp_path / word
        attempt.mkdir()
        argv = [sys.executable, "-S", "-E", "-c", "import os; print(os.environ['WORD'])"]
        order = Order(arm="a", instance="i", seed=1, panel="p", horizon=60.0, attempt=1, argv=argv)
        (attempt / "run.json").write_bytes(msgspec.json.encode(order))
        supervising = nursery.start_supervisor(attempt, ())
        assert msgspec.json.decode(supervising.wait(), type=Ending).exit_code == 0
        supervising.close()
        assert (attempt / "stdout.log").read_text() == f"{word}\n"


def test_a_stopped_nursery_is_let_go_on(nursery, make_attempt):
    nursery.start_supervisor(make_attempt("warm"), ()).close()
    os.kill(nursery._process.pid, signal.SIGSTOP)
    attempt = make_attempt("later")
    supervising = nursery.start_supervisor(attempt, ())
    threading.Thread(target=open_gate, args=(attempt,)).start()
    assert msgspec.json.decode(supervising.wait(), type=Ending).cause == "exit"
    supervising.close()


def test_files_of_one_supervisor_are_free_when_it_has_ended_whoever_else_runs(nursery, make_attempt, tmp_path):
    """Claims and cores are locks on open files: a fork for another run must not keep them."""
    first, second = (make_attempt(name) for name in ("first", "second"))
    held = open_lock(tmp_path / "lock")
    assert lock_now(held)
    begun = nursery.start_supervisor(first, (held,))
    os.close(held)
    later = nursery.start_supervisor(second, ())
    assert not lock_is_free(tmp_path / "lock")
    open_gate(first)
    begun.wait()
    begun.close()
    deadline = time.monotonic() + PATIENCE
    while not lock_is_free(tmp_path / "lock"):
        assert time.monotonic() < deadline
    later.close()


def lock_is_free(path):
    file = open_lock(path)
    try:
        return lock_now(file)
    finally:
        os.close(file)
