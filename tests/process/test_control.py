"""A runner that stops starts no more runs; one that kills tells every supervisor, those that come late too."""

import os

import pytest

from gapline.process.control import Control
from gapline.process.nursery import SupervisorProcess


@pytest.fixture
def make_supervisor():
    """A supervisor as the runner sees it: two pipes. `told` says what came through the first."""
    open_files = []

    def make():
        control, stdin = os.pipe()
        stdout, answer = os.pipe()
        os.set_blocking(control, False)
        supervisor = SupervisorProcess(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))
        open_files.append((control, answer, supervisor))

        def told():
            try:
                return os.read(control, 10)
            except BlockingIOError:
                return None

        return supervisor, told

    yield make
    for control, answer, supervisor in open_files:
        supervisor.close()
        os.close(control)
        os.close(answer)


def test_stopping_leaves_those_that_run_alone(make_supervisor):
    control = Control()
    supervisor, told = make_supervisor()
    control.add(supervisor)
    control.stop("SIGINT")
    assert (control.stopping, control.killing, told()) == (True, False, None)


def test_killing_reaches_those_that_run_and_those_that_start_meanwhile(make_supervisor):
    control = Control()
    first, first_told = make_supervisor()
    ended, ended_told = make_supervisor()
    control.add(first)
    control.add(ended)
    control.remove(ended)
    control.kill("SIGTERM")
    assert (first_told(), ended_told()) == (b"!", None)
    late, late_told = make_supervisor()
    control.add(late)
    assert late_told() == b"!"


def test_a_supervisor_that_is_gone_does_not_keep_the_others_from_hearing(make_supervisor):
    control = Control()
    gone, _ = make_supervisor()
    gone.close()
    alive, told = make_supervisor()
    control.add(gone)
    control.add(alive)
    control.kill("SIGTERM")
    assert told() == b"!"
