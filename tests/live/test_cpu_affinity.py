"""Keeping out of the solvers' way."""

import os
import subprocess
import sys

from gapline.live.cpu_affinity import REMEMBER, Distance, allowed_cores, avoid_cores


def test_it_moves_to_cores_that_no_run_has_and_stays_where_there_are_none():
    allowed = allowed_cores()
    try:
        if len(allowed) > 1:
            first = min(allowed)
            assert avoid_cores([first], allowed) == allowed - {first}
            assert first not in os.sched_getaffinity(0)
        assert avoid_cores(allowed, allowed) == allowed
    finally:
        avoid_cores([], allowed)
    assert allowed_cores() == allowed


def test_it_stays_off_cores_that_were_pinned_lately_while_there_are_others(monkeypatch):
    """Between two runs a core is free for a moment: whoever came back to it would be there when the next begins."""
    moved, now = [], [0.0]
    monkeypatch.setattr("gapline.live.cpu_affinity.allowed_cores", lambda: frozenset({0, 1, 2}))
    monkeypatch.setattr("gapline.live.cpu_affinity.avoid_cores", lambda pinned, _allowed: moved.append(set(pinned)))
    distance = Distance(clock=lambda: now[0])
    assert distance.keep([]) == frozenset()
    assert distance.keep([0]) == {0}
    assert distance.keep([0]) == {0}
    assert distance.keep([]) == {0}
    now[0] = 10.0
    assert distance.keep([1]) == {0, 1}
    # Where runs had all of them, it stays off those that have one now.
    assert distance.keep([1, 2]) == {1, 2}
    now[0] = 10.0 + REMEMBER + 1
    assert distance.keep([]) == frozenset()
    # Nothing is moved where nothing changed.
    assert moved == [{0}, {0, 1}, {1, 2}, set()]


def test_it_lets_others_go_first_once():
    code = (
        "import os; from gapline.live.cpu_affinity import go_quietly; go_quietly(); go_quietly(); "
        "print(os.nice(0), os.environ['POLARS_MAX_THREADS'])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert (max(10, os.nice(0)), "1") == (int(out[0]), out[1])
