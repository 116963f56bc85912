"""Keeping out of the solvers' way."""

import os
import subprocess
import sys

from gapline.serve.quiet import allowed_cores, avoid_cores


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


def test_it_lets_others_go_first_once():
    code = (
        "import os; from gapline.serve.quiet import go_quietly; go_quietly(); go_quietly(); "
        "print(os.nice(0), os.environ['POLARS_MAX_THREADS'])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert (max(10, os.nice(0)), "1") == (int(out[0]), out[1])
