"""Supervisors from the nursery: they outlive it, a new one is made when it was killed, nothing leaks between them."""

import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from gapline.journal.read import read_journal
from gapline.journal.records import Ending, Order
from gapline.run.process.nursery import Nursery

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
        ending = msgspec.json.decode(supervising.stdout.read(), type=Ending)
        assert (ending.cause, ending.exit_code, ending.leftover) == ("exit", 0, 0)
        assert [event.objective for event in read_journal(attempt).events] == [3.0]
        supervising.close()


def test_each_supervisor_hears_its_own_pipe_alone(nursery, make_attempt):
    attempts = [make_attempt(str(number)) for number in range(3)]
    first, second, third = (nursery.start_supervisor(attempt, ()) for attempt in attempts)
    # Closed: the runner is gone. A byte: asked to end. Neither reaches the others.
    first.stdin.close()
    assert msgspec.json.decode(first.stdout.read(), type=Ending).cause == "runner lost"
    second.stdin.write(b"!")
    second.stdin.flush()
    assert msgspec.json.decode(second.stdout.read(), type=Ending).cause == "interrupted"
    open_gate(attempts[2])
    assert msgspec.json.decode(third.stdout.read(), type=Ending).cause == "exit"
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
        assert msgspec.json.decode(supervising.stdout.read(), type=Ending).exit_code == 0
        supervising.close()
        assert (attempt / "stdout.log").read_text() == f"{word}\n"
