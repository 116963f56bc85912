"""Recording from code of one's own: what was added and returned is there, whatever became of the process."""

import gc
import itertools
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from torture import recordings

import gapline as gl
from gapline.errors import UsageError
from gapline.traces import recording as trace_module
from gapline.traces.recordings import is_recorded


def record(path, **given):
    return gl.record(path, **{"arm": "a", "instance": "i", "horizon": 60} | given)


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
    odd = (
        math.nan,
        -math.inf,
        "many",
        "4.0",
        "\ud800",
        True,
        np.True_,
        None,
        1j,
        10**400,
        10**5000,
        np.arange(3),
        b"4",
    )
    with record(path) as trace:
        trace.add(4.0)
        for value in odd:
            trace.add(value)
        trace.add(3.0, bound="none")
    campaign = gl.read(path)
    assert campaign.verdict.tolist() == [1, *[0] * len(odd), 1]
    assert campaign.diagnostics.rejected == {
        "objective missing": 1, "objective not a number": 11, "objective not finite": 1
    }  # fmt: skip


def test_numbers_of_all_kinds_keep_every_digit(tmp_path):
    path = tmp_path / "t.jsonl"
    kinds = (
        np.float64(0.1), np.float32(0.5), np.int64(2**53 - 1), np.array(2.5), np.array([3.5]), Fraction(1, 4),
        Decimal("0.125"), 2**53 - 3, 1e-300, -0.0,
    )  # fmt: skip
    with record(path) as trace:
        for value in kinds:
            trace.add(value)
    assert gl.read(path).objective.tolist() == [float(np.asarray(value).reshape(-1)[0]) for value in kinds]
    assert str(2**53 - 1) in path.read_text()


def test_candidates_after_the_horizon_are_kept_and_late(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    with record(path, horizon=1.5) as trace:
        zero = trace._zero
        for seconds in (1, 2):
            monkeypatch.setattr(trace_module.time, "monotonic_ns", lambda now=zero + seconds * 10**9: now)
            trace.add(10.0 - seconds)
        monkeypatch.undo()
    campaign = gl.read(path)
    assert campaign.time.tolist() == [1.0, 2.0]
    assert (campaign.diagnostics.late, campaign.runs["status"].to_list()) == (1, ["finished"])
    assert gl.build_envelopes(campaign).objective.tolist() == [9.0]


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
    with record(path) as trace:
        threads = [threading.Thread(target=lambda: [trace.add(1.0) for _ in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert runs_of(path, "count", "status") == [(2000, "finished")]


@pytest.mark.slow
def test_what_was_added_is_there_after_kill_9(tmp_path):
    """The short form of the trial; `make torture` makes the long one."""
    found = recordings.trial(8, 20260801, tmp_path)
    assert found["killed"] == 8
    assert found["added and there"] > 0


def test_a_run_after_a_torn_line_is_whole(tmp_path):
    path = tmp_path / "t.jsonl"
    for torn in (b'{"run":"00', b'{"run":"0123456789abcdef","se', b'{"run":"0123456789abcdef","seq":1,"t":0.1'):
        path.write_bytes(torn)
        assert is_recorded(path)
        with record(path) as trace:
            trace.add(1.0)
        campaign = gl.read(path)
        assert campaign.runs["count"].to_list() == [1]
        assert campaign.diagnostics.problem_count == 1


def test_what_another_process_wrote_behind_a_torn_line_is_there(tmp_path):
    """A killed process leaves a part of a line, and a living one goes on in the same file."""
    path = tmp_path / "t.jsonl"
    for cut in (5, 60, 200):
        path.unlink(missing_ok=True)
        with record(path, seed=2) as living:
            living.add(2.0)
            with record(path, seed=1) as killed:
                killed.add(1.0, solution=list(range(99)))
            whole = path.read_bytes()
            lines = whole.splitlines(keepends=True)
            path.write_bytes(b"".join(lines[:3]) + lines[3][:cut])
            living.add(1.5)
        campaign = gl.read(path)
        assert campaign.runs.select("seed", "count").rows() == [(2, 2)]
        # Its process, which is this one, is alive.
        assert [key.seed for key in campaign.running] == [1]
        assert campaign.diagnostics.problem_count == 1
        assert not any("changed" in note for note in campaign.diagnostics.notes)


def test_a_solution_may_look_like_a_line(tmp_path):
    path = tmp_path / "t.jsonl"
    with record(path) as trace:
        trace.add(1.0, solution={"run": "0123456789abcdef", "seq": 3, "t": 4})
    campaign = gl.read(path)
    assert campaign.runs["count"].to_list() == [1]
    assert campaign.diagnostics.problem_count == 0


def test_a_changed_line_is_seen_and_its_run_does_not_count(tmp_path):
    path = tmp_path / "t.jsonl"
    for seed in (1, 2):
        with record(path, seed=seed) as trace:
            trace.add(100.0 * seed)
    path.write_bytes(path.read_bytes().replace(b"200.0", b"100.0"))
    campaign = gl.read(path)
    assert campaign.runs["seed"].to_list() == [1]
    assert [key.seed for key in campaign.interrupted] == [2]
    assert any("t.jsonl:5: expected checksum" in note for note in campaign.diagnostics.notes)


def test_of_two_whole_runs_of_one_name_the_first_counts_and_it_is_said(tmp_path):
    path = tmp_path / "t.jsonl"
    for value in (5.0, 4.0):
        with record(path) as trace:
            trace.add(value)
    campaign = gl.read(path)
    assert campaign.objective.tolist() == [5.0]
    assert campaign.diagnostics.superseded == {"whole, but not the first": 1}
    assert any("to count new ones, use a new file" in note for note in campaign.diagnostics.notes)


def test_a_run_that_has_ended_takes_nothing_more(tmp_path):
    path = tmp_path / "t.jsonl"
    with record(path) as trace:
        trace.add(1.0)
    for again in (lambda: trace.add(0.5), lambda: trace.add_bound(0.5), trace.__enter__):
        with pytest.raises(UsageError, match=r"t.jsonl: expected a run that is being recorded, got one that has ended"):
            again()
    trace.close()
    assert runs_of(path, "count", "status") == [(1, "finished")]


def test_runs_lie_inside_each_other(tmp_path):
    path = tmp_path / "t.jsonl"
    with record(path, arm="outer") as outer:
        outer.add(9.0)
        with record(path, arm="inner") as inner:
            inner.add(5.0)
            outer.add(8.0)
        outer.add(7.0)
    campaign = gl.read(path)
    assert campaign.runs.select("arm", "count").rows() == [("inner", 1), ("outer", 3)]
    assert campaign.objective.tolist() == [5.0, 9.0, 8.0, 7.0]


def test_a_forked_process_does_not_go_on_with_the_run_of_its_parent(tmp_path):
    """Also while a thread of the parent holds the lock, which nobody will release in the child."""
    path = tmp_path / "t.jsonl"
    with record(path) as trace:
        trace.add(1.0)
        with trace._lock:
            held = threading.Thread(target=trace.add, args=(0.75,))
            held.start()
            child = os.fork()
            if child == 0:
                try:
                    trace.add(0.5)
                except UsageError:
                    # It leaves the block as its parent does, and records on its own.
                    trace.close()
                    with record(path, arm="child") as own:
                        own.add(3.0)
                    os._exit(7)
                os._exit(0)
        held.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert runs_of(path, "arm", "count", "status") == [("a", 2, "finished"), ("child", 1, "finished")]


def test_processes_record_into_one_file_and_into_many(tmp_path):
    shared = tmp_path / "shared.jsonl"
    code = (
        "import gapline as gl, sys\n"
        "seed = int(sys.argv[1])\n"
        "for file in sys.argv[2:]:\n"
        "    with gl.record(file, arm='a', instance='i', seed=seed, horizon=60) as trace:\n"
        "        for step in range(300):\n"
        "            trace.add(1000.0 * seed - step, solution=[seed] * step * 10)\n"
    )
    own = [tmp_path / f"{seed}.jsonl" for seed in (1, 2, 3)]
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(seed), str(shared), str(own[seed - 1])]) for seed in (1, 2, 3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    for source in (shared, own):
        campaign = gl.read(source)
        assert campaign.runs["count"].to_list() == [300] * 3
        assert campaign.diagnostics.problem_count == 0
        assert campaign.objective.tolist() == [1000.0 * seed - step for seed in (1, 2, 3) for step in range(300)]


def test_a_trace_does_not_travel_to_another_process(tmp_path):
    with record(tmp_path / "t.jsonl") as trace, pytest.raises(UsageError, match="a copy of it for another process"):
        pickle.dumps(trace)


def test_a_thread_that_adds_while_the_run_ends_adds_nothing_behind_its_end(tmp_path):
    path = tmp_path / "t.jsonl"
    for seed in range(20):
        added, refused = threading.Event(), threading.Event()

        def search(trace, added=added, refused=refused):
            try:
                while True:
                    trace.add(1.0)
                    added.set()
            except UsageError:
                refused.set()

        with record(path, seed=seed) as trace:
            thread = threading.Thread(target=search, args=(trace,))
            thread.start()
            added.wait()
        thread.join()
        assert refused.is_set()
    campaign = gl.read(path)
    assert campaign.runs["status"].to_list() == ["finished"] * 20
    assert campaign.diagnostics.problem_count == 0


def test_ctrl_c_at_any_step_of_add_leaves_a_run_that_goes_on(tmp_path):
    """An interrupt before every single step of the interpreter, caught by a script that ends in peace."""
    path = tmp_path / "t.jsonl"
    steps, returned, seed = itertools.count(1), {}, 0
    interrupted = True
    while interrupted:
        seed, interrupted, left = next(steps), False, [seed]

        def step(frame, event, _, left=left):
            if frame.f_code.co_filename != trace_module.__file__:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
            return step

        left[0] = seed
        before = sys.gettrace()
        with record(path, seed=seed) as trace:
            trace.add(3.0)
            sys.settrace(step)
            try:
                trace.add(2.0, solution=[1])
            except KeyboardInterrupt:
                interrupted = True
            finally:
                sys.settrace(before)
            trace.add(1.0)
        returned[seed] = not interrupted
    campaign = gl.read(path)
    assert seed > 100
    assert campaign.diagnostics.problem_count == 0
    assert campaign.interrupted == ()
    for run in campaign.runs.iter_rows(named=True):
        found = campaign.objective[run["first"] : run["first"] + run["count"]].tolist()
        assert found == [3.0, 2.0, 1.0] if returned[run["seed"]] else found in ([3.0, 2.0, 1.0], [3.0, 1.0])


@pytest.mark.parametrize("closes", [False, True])
def test_the_handler_of_a_signal_may_add_and_close(tmp_path, closes):
    path = tmp_path / "t.jsonl"
    begun, returned = [], []

    def add(value):
        begun.append(value)
        trace.add(value)
        returned.append(value)

    def ring(*_):
        add(5.0)
        if returned.count(5.0) >= 20:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if closes:
                trace.close()

    before = signal.signal(signal.SIGALRM, ring)
    with record(path) as trace:
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-4)
            while returned.count(5.0) < 20:
                add(6.0)
        except UsageError:
            assert closes
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    campaign = gl.read(path)
    assert campaign.runs["status"].to_list() == ["finished"]
    assert campaign.diagnostics.problem_count == 0
    # What the closing handler broke into may be there or not.
    assert len(returned) <= campaign.runs["count"][0] <= len(begun)
    assert closes or begun.count(5.0) == returned.count(5.0)


@pytest.mark.parametrize(
    ("code", "status"), [(None, "finished"), (0, "finished"), (3, "crashed"), ("no more memory", "crashed")]
)
def test_a_script_that_exits_inside_ends_as_it_says(tmp_path, code, status):
    path = tmp_path / "t.jsonl"
    with pytest.raises(SystemExit), record(path):
        sys.exit(code)
    assert runs_of(path, "status", "count") == [(status, 0)]


@pytest.mark.parametrize("text", ["\ud800", "x" * 10**6, None])
def test_an_error_of_any_text_is_a_crashed_run(tmp_path, text):
    class Odd(Exception):
        def __str__(self):
            return text

    path = tmp_path / "t.jsonl"
    with pytest.raises(Odd), record(path):
        raise Odd
    assert runs_of(path, "status") == [("crashed",)]
    assert path.stat().st_size < 5000


# A limit on the size of a file is a full disk that a test can have: first a short count, then an error.
FULL = """
import gapline as gl, resource, sys
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
failed = 0
with gl.record(sys.argv[1], arm="a", instance="i", horizon=60) as trace:
    trace.add(9.0, solution=[0] * 100)
    limit(2000)
    for step in range(8):
        try:
            trace.add(8.0 - step, solution=[step] * 100)
        except OSError as error:
            failed += 1
            print(error)
    if sys.argv[2] == "freed":
        limit(resource.RLIM_INFINITY)
        trace.add(0.5)
"""


def test_a_full_disk_is_an_error_and_the_run_is_whole_where_there_is_room_again(tmp_path):
    path = tmp_path / "t.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL, path, "freed"], capture_output=True, text=True, check=True)
    assert "File too large; what was added is not in the file: " in done.stdout
    assert str(path) in done.stdout
    campaign = gl.read(path)
    assert campaign.runs["status"].to_list() == ["finished"]
    # Of those that failed the first was begun, and is finished before the next.
    assert campaign.objective.tolist() == [9.0, *(8.0 - step for step in range(campaign.runs["count"][0] - 2)), 0.5]
    assert campaign.diagnostics.problem_count == 1


def test_a_disk_that_stays_full_leaves_a_run_that_was_killed(tmp_path):
    path = tmp_path / "t.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL, path, "full"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("OSError: [Errno 27] File too large")
    campaign = gl.read(path)
    assert campaign.runs.select("status", "unclosed").rows() == [("killed", "gone")]
    assert campaign.objective.tolist() == [9.0, *(8.0 - step for step in range(len(campaign.objective) - 1))]
    assert campaign.interrupted == ()


@pytest.mark.parametrize(
    "text", ["arm,instance,seed,time,objective\na,i,1,1,2\n", '{"arm":"a"}\n', '{"run":"mine","seq":1}\n', "\n"]
)
def test_a_file_with_something_else_in_it_stays_as_it_is(tmp_path, text):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match="expected a new file or one with recorded runs, got one that begins with"):
        record(path)
    assert path.read_text() == text


def test_a_folder_a_pipe_and_a_device_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match=r"directory|expected a file, got a (pipe|character device)"):
            record(path)


@pytest.mark.slow
def test_a_run_that_nobody_ends_leaves_no_open_file(tmp_path):
    path = tmp_path / "new" / "t.jsonl"
    trace = record(path)
    trace.add(1.0)
    file = trace._file
    del trace
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)
    assert [str(key) for key in gl.read(path).running] == ["a/i/1"]


@pytest.mark.parametrize(
    "solution", [object(), {(1, 2): 3}, "\ud800", 1j, "cycle"], ids=str.split("object keys text complex cycle")
)
def test_a_solution_of_an_odd_kind_is_refused_and_the_run_goes_on(tmp_path, solution):
    path = tmp_path / "t.jsonl"
    if solution == "cycle":
        solution = []
        solution.append(solution)
    with record(path) as trace:
        with pytest.raises(UsageError, match="solution: expected lists, dictionaries, texts and numbers, got "):
            trace.add(2.0, solution=solution)
        trace.add(1.0)
    assert runs_of(path, "count") == [(1,)]
