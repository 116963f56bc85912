"""Recording from code of one's own: what was added and returned is there, whatever became of the process."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gapline as gl
from gapline.errors import UsageError

# Prints how many were added, each time after `add` came back.
SEARCH = """
import gapline as gl, sys
with gl.record(sys.argv[1], arm="mine", instance="a", seed=int(sys.argv[2]), horizon=60) as trace:
    for step in range(100_000):
        trace.add(1e6 - step, solution=[step])
        print(step + 1, flush=True)
"""


def runs_of(path, *columns):
    return gl.read(path).runs.select(*columns).rows()


def test_candidates_bounds_and_solutions_are_kept_as_they_are(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="mine", instance="a", seed=3, horizon=60, panel="p", threads=4, note="x") as trace:
        trace.add_bound(5)
        trace.add(12.5, bound=7.25, solution={"routes": np.array([[1, 2], [3, 4]])})
        trace.add(np.float32(11.0))
        trace.add(10)
        assert 0 < trace.elapsed < 60
    campaign = gl.read(path)
    assert campaign.runs.select("arm", "instance", "seed", "panel", "horizon", "status", "count", "threads").rows() == [
        ("mine", "a", 3, "p", 60.0, "finished", 4, 4)
    ]
    assert campaign.runs["note"].to_list() == ["x"]
    assert campaign.objective.tolist()[1:] == [12.5, 11.0, 10.0]
    assert campaign.bound.tolist()[:2] == [5.0, 7.25]
    assert (np.diff(campaign.time) > 0).all()
    assert campaign.runs["validation"].to_list() == ["solver"]


def test_nothing_found_is_an_empty_run_and_an_error_a_crashed_one(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="empty", instance="a", horizon=60):
        pass

    def fail(trace):
        trace.add(3.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), gl.record(path, arm="failing", instance="a", horizon=60) as trace:
        fail(trace)
    with pytest.raises(KeyboardInterrupt), gl.record(path, arm="stopped", instance="a", horizon=60):
        raise KeyboardInterrupt
    campaign = gl.read(path)
    assert campaign.runs.select("arm", "status", "count").rows() == [
        ("empty", "finished", 0),
        ("failing", "crashed", 1),
    ]
    assert [str(key) for key in campaign.interrupted] == ["stopped/a/1"]


def test_values_that_are_no_numbers_are_rejected_when_they_are_read(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60) as trace:
        for value in (float("nan"), float("inf"), "many", 4.0, None):
            trace.add(value)
    campaign = gl.read(path)
    assert campaign.verdict.tolist() == [0, 0, 0, 1, 0]


def test_a_file_takes_runs_of_threads_and_processes_at_once(tmp_path):
    path = tmp_path / "t.jsonl"

    def search(seed):
        with gl.record(path, arm="threads", instance="a", seed=seed, horizon=60) as trace:
            for step in range(200):
                trace.add(1000.0 * seed - step)

    threads = [threading.Thread(target=search, args=(seed,)) for seed in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    campaign = gl.read(path)
    assert campaign.runs["count"].to_list() == [200] * 3
    assert campaign.diagnostics.problem_count == 0
    for row in campaign.runs.iter_rows(named=True):
        values = campaign.objective[row["first"] : row["first"] + row["count"]]
        assert values.tolist() == [1000.0 * row["seed"] - step for step in range(200)]


def test_two_threads_may_add_to_one_run(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60) as trace:
        threads = [threading.Thread(target=lambda: [trace.add(1.0) for _ in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert runs_of(path, "count", "status") == [(2000, "finished")]


def kill_at_random_moments(path, times, seed):
    """Kill a searching process again and again; every candidate that `add` returned from has to be in the file."""
    rng = random.Random(seed)
    told = {}
    for number in range(1, times + 1):
        command = [sys.executable, "-c", SEARCH, str(path), str(number)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        first = process.stdout.readline()
        time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        said = (first + process.stdout.read()).split(b"\n")[:-1]
        process.stdout.close()
        process.wait()
        told[number] = int(said[-1])
    lines = [line for line in path.read_bytes().split(b"\n") if b'"objective"' in line]
    campaign = gl.read(path)
    assert len(campaign.interrupted) == times
    assert len(lines) >= sum(told.values())
    return told, lines


def test_what_was_added_is_there_after_kill_9(tmp_path):
    path = tmp_path / "t.jsonl"
    told, _ = kill_at_random_moments(path, 6, seed=1)
    assert all(count > 0 for count in told.values())
    # A run after them is whole, also where a kill cut the last line.
    path.write_bytes(path.read_bytes() + b'{"run":"00')
    with gl.record(path, arm="mine", instance="a", seed=99, horizon=60) as trace:
        trace.add(1.0)
    campaign = gl.read(path)
    assert campaign.runs.select("seed", "count").rows() == [(99, 1)]
    assert campaign.diagnostics.problem_count == 1


def test_a_changed_line_is_seen_and_its_run_does_not_count(tmp_path):
    path = tmp_path / "t.jsonl"
    for seed in (1, 2):
        with gl.record(path, arm="a", instance="i", seed=seed, horizon=60) as trace:
            trace.add(100.0 * seed)
    path.write_bytes(path.read_bytes().replace(b"200.0", b"100.0"))
    campaign = gl.read(path)
    assert campaign.runs["seed"].to_list() == [1]
    assert [key.seed for key in campaign.interrupted] == [2]
    assert any("t.jsonl:5: expected checksum" in note for note in campaign.diagnostics.notes)


def test_of_two_whole_runs_of_one_name_the_first_counts_and_it_is_said(tmp_path):
    path = tmp_path / "t.jsonl"
    for value in (5.0, 4.0):
        with gl.record(path, arm="a", instance="i", horizon=60) as trace:
            trace.add(value)
    campaign = gl.read(path)
    assert campaign.objective.tolist() == [5.0]
    assert campaign.diagnostics.superseded == {"whole, but not the first": 1}


def test_a_run_is_recorded_in_its_own_process_and_while_it_runs(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60) as trace:
        trace.add(1.0)
        child = os.fork()
        if child == 0:
            try:
                trace.add(0.5)
            except UsageError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    with pytest.raises(UsageError, match="has ended"):
        trace.add(0.1)
    trace.close()
    assert runs_of(path, "count", "status") == [(1, "finished")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": 0}, "horizon: expected seconds above 0, got 0"),
        ({"horizon": float("inf")}, "horizon"),
        ({"seed": 1.5}, "seed: expected a whole number, got 1.5"),
        ({"arm": ""}, "arm: expected a name, got ''"),
        ({"sense": "down"}, "sense: expected min or max, got 'down'"),
        ({"options": [1]}, "options: expected a text, a number or a truth value, got list"),
    ],
)
def test_slips_are_told_before_anything_is_written(tmp_path, given, message):
    with pytest.raises(UsageError, match=message):
        gl.record(tmp_path / "t.jsonl", **{"arm": "a", "instance": "i", "horizon": 60} | given)
    assert not (tmp_path / "t.jsonl").exists()


def test_a_solution_of_an_odd_kind_is_refused_and_the_run_goes_on(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60) as trace:
        with pytest.raises(UsageError, match="solution: expected lists, dictionaries, texts and numbers, got object"):
            trace.add(2.0, solution=object())
        trace.add(1.0)
    assert runs_of(path, "count") == [(1,)]


def test_what_is_maximised_says_so(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60, sense="max") as trace:
        trace.add(2.0)
    assert runs_of(path, "sense") == [("max",)]
