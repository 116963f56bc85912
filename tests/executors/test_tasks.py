"""Tasks on real processes, a real Dask cluster and real jobs: each comes back once, whoever dies."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import wait
from pathlib import Path

import pytest

from dask_cluster import wait_for_workers
from gapline.contract.version import VERSION
from gapline.errors import ContractError, EnvironmentLacksError
from gapline.executors.tasks import JOBS_FOLDER, TaskExecutor, open_workers
from gapline.files.memory import limited_memory
from worker_tasks import (
    die,
    die_the_first_time,
    fail,
    fail_beside_others,
    hold,
    share,
    square,
    unpicklable,
    wait_for_turn,
)

HERE = Path(__file__).parents[1]
SQUARES = {number: number * number for number in range(8)}


def results(workers, function, tasks):
    """What comes back, by number; each once."""
    found = list(workers.run(function, tasks))
    assert len({number for number, _ in found}) == len(found)
    return dict(found)


def in_turn(workers, folder):
    """What comes back when the last task ends first and the first one next."""
    coming = workers.run(wait_for_turn, [(folder, number) for number in range(3)])
    found = []
    for number in (2, 0, 1):
        (folder / f"turn-{number}").touch()
        found.append(next(coming))
    assert list(coming) == []
    return found


def alive(folder):
    pids = [int(path.name.partition("-")[2]) for path in folder.glob("alive-*")]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.fixture
def cluster(scheduler, start_worker):
    """Three workers: two as tasks need them, one as cells do."""
    pytest.importorskip("distributed")
    workers = [start_worker(scheduler, *options) for options in ((), (), ("--resources", "solver=1"))]
    wait_for_workers(scheduler, 3)
    return f"dask:{scheduler}", workers


def test_every_task_comes_back_once_from_processes(tmp_path):
    told = []
    with open_workers("local:2", paths=[tmp_path], progress=lambda *now: told.append(now)) as workers:
        assert workers.width() == 2
        assert results(workers, square, [(number,) for number in range(8)]) == SQUARES
        assert results(workers, square, []) == {}
    assert told == [(done, 8) for done in range(9)]


def test_processes_share_the_cores_and_the_memory(tmp_path):
    mine = len(os.sched_getaffinity(0))
    with limited_memory("600MB"), open_workers("local:3", paths=[tmp_path]) as workers:
        found = results(workers, share, [()] * 3)
    assert all(threads == max(1, mine // 3) or threads == mine // 3 + 1 for threads, _ in found.values())
    assert {memory for _, memory in found.values()} == {200_000_000}


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_and_its_task_done(tmp_path):
    said = []
    with open_workers("local:2", paths=[], say=said.append) as workers:
        assert results(workers, die_the_first_time, [(tmp_path, number) for number in range(8)]) == SQUARES
    assert len(said) == 8
    assert [line for line in said if not line.startswith("a worker was lost, another one takes over: process ")] == []
    assert [line for line in said if not line.endswith(" ended with exit code 3")] == []


@pytest.mark.slow
def test_a_task_that_kills_every_process_is_an_error_and_takes_no_other_with_it():
    with open_workers("local:2", paths=[]) as workers:
        found = []
        with pytest.raises(EnvironmentLacksError, match=r"4 workers were lost with one task, the last one: .* SIGKILL"):
            found.extend(workers.run(die, [(number,) for number in range(8)]))
        # What was at work beside it came back, from the first try.
        assert dict(found) == {number: value for number, value in SQUARES.items() if number != 1}
        assert results(workers, square, [(3,)]) == {0: 9}


def test_results_come_in_the_order_in_which_they_are_made(tmp_path):
    with open_workers("local:3", paths=[]) as workers:
        assert in_turn(workers, tmp_path) == [(2, 4), (0, 0), (1, 1)]


@pytest.mark.slow
def test_errors_come_back_whole_and_end_the_tasks_beside_them(tmp_path, eventually):
    with open_workers("local:2", paths=[]) as workers:
        with pytest.raises(ContractError) as caught:
            list(workers.run(fail, [(0,), (1,)]))
        assert len(caught.value.mistakes) == 10
        assert caught.value.hint == "mend them"
        with pytest.raises(ZeroDivisionError, match="a mistake of ours") as caught:
            list(workers.run(fail, [(2,)]))
        # Where it happened is told too.
        assert "in fail" in caught.value.__notes__[0]
        with pytest.raises((AttributeError, TypeError, RuntimeError), match=r"pickle|local object"):
            list(workers.run(unpicklable, [()]))
        # The gate is never opened: only an end from outside ends the first.
        with pytest.raises(ContractError):
            list(workers.run(fail_beside_others, [(tmp_path, 0), (tmp_path, 1)]))
        eventually(lambda: alive(tmp_path) == [])
        assert results(workers, square, [(3,)]) == {0: 9}


def test_who_reads_on_no_more_ends_the_tasks(tmp_path, eventually):
    with open_workers("local:2", paths=[]) as workers:
        coming = workers.run(fail_beside_others, [(tmp_path, 0), (tmp_path, 2)])
        reader = threading.Thread(target=lambda: next(coming, None))
        reader.start()
        eventually(lambda: len(alive(tmp_path)) == 2)
        (tmp_path / "go").touch()
        reader.join()
        coming.close()
    eventually(lambda: alive(tmp_path) == [])


SCRIPT = """
import sys
from pathlib import Path
from gapline.executors.tasks import open_workers
from worker_tasks import hold
if __name__ == "__main__":
    with open_workers("local:2", paths=[]) as workers:
        list(workers.run(hold, [(Path(sys.argv[1]), number) for number in range(4)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_command_ends_its_processes(tmp_path, eventually, end):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    eventually(lambda: len(alive(tmp_path)) == 2)
    # As a terminal does it: Ctrl-C reaches the processes too, which leave it to the command.
    (os.killpg if end == signal.SIGINT else os.kill)(command.pid, end)
    _, err = command.communicate()
    assert command.returncode != 0
    assert err.count("Traceback") <= 1
    eventually(lambda: alive(tmp_path) == [])


@pytest.mark.slow
def test_three_dask_workers_of_which_one_is_killed_do_every_task(cluster, tmp_path, eventually):
    place, started = cluster

    def kill_one():
        eventually(lambda: len(alive(tmp_path)) == 3)
        started[0].kill()
        started[0].wait()
        (tmp_path / "go").touch()

    with open_workers(place, paths=[tmp_path]) as workers:
        assert workers.width() == 3
        killer = threading.Thread(target=kill_one)
        killer.start()
        assert results(workers, hold, [(tmp_path, number) for number in range(8)]) == SQUARES
        killer.join()
        assert workers.width() == 2


@pytest.mark.slow
def test_on_dask_order_is_free_and_errors_are_whole(cluster, tmp_path):
    place, _ = cluster
    with limited_memory("300MB"), open_workers(place, paths=[]) as workers:
        assert in_turn(workers, tmp_path) == [(2, 4), (0, 0), (1, 1)]
        # Dask cuts long exceptions; ours say all they have to say.
        with pytest.raises(ContractError) as caught:
            list(workers.run(fail, [(0,), (1,)]))
        assert len(caught.value.mistakes) == 10
        assert caught.value.message.count("x" * 2000) == 10
        assert caught.value.hint == "mend them"
        with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
            list(workers.run(fail, [(2,)]))
        assert {memory for _, memory in results(workers, share, [()] * 3).values()} == {300_000_000}


@pytest.mark.slow
def test_a_dask_worker_of_another_version_or_without_the_data_is_named_first(scheduler, start_worker, tmp_path):
    pytest.importorskip("distributed")
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import gapline.contract.version as version\nversion.VERSION = '0.0.1'\n")
    start_worker(scheduler)
    start_worker(scheduler, "--name", "old", path=other)
    wait_for_workers(scheduler, 2)
    with (
        pytest.raises(EnvironmentLacksError) as caught,
        open_workers(f"dask:{scheduler}", paths=[tmp_path]),
    ):
        pass
    (line,) = caught.value.message.splitlines()
    assert line.startswith("tcp://127.0.0.1:")
    assert line.endswith(f": expected gapline {VERSION}, got 0.0.1")
    assert "nothing was done" in caught.value.hint
    # What this process has open under a number of its own no other process sees.
    (tmp_path / "data").write_text("1234")
    with (tmp_path / "data").open() as stream:
        number = fcntl.fcntl(stream.fileno(), fcntl.F_DUPFD, 200)
        mine = Path(f"/proc/self/fd/{number}")
        with (
            pytest.raises(EnvironmentLacksError, match=f"{mine}: expected a file of 4 bytes, .*, got no such file"),
            open_workers(f"dask:{scheduler}", paths=[mine]),
        ):
            pass
        os.close(number)


def test_a_cluster_without_workers_is_an_error(scheduler):
    pytest.importorskip("distributed")
    with (
        pytest.raises(EnvironmentLacksError, match="expected workers, got none"),
        open_workers(f"dask:{scheduler}", paths=[]),
    ):
        pass


@pytest.mark.slow
def test_jobs_do_every_task_and_leave_nothing(tmp_path, monkeypatch, eventually):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    data = tmp_path / "data"
    data.mkdir()
    said = []
    with open_workers("submitit:local:jobs=2", paths=[data], say=said.append) as workers:
        assert workers.width() == 2
        assert (tmp_path / JOBS_FOLDER).is_dir()
        assert results(workers, die_the_first_time, [(tmp_path, number) for number in range(2)]) == {0: 0, 1: 1}
        with pytest.raises(ContractError) as caught:
            list(workers.run(fail_beside_others, [(tmp_path, 0), (tmp_path, 1)]))
        assert caught.value.hint == "mend them"
        eventually(lambda: alive(tmp_path) == [])
    assert sum("a worker was lost" in line for line in said) == 2
    assert not (tmp_path / JOBS_FOLDER).exists()


@pytest.mark.slow
def test_a_job_without_the_data_says_so_first(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    data = tmp_path / "data"
    data.write_text("1234")
    with open_workers("submitit:local:jobs=1", paths=[data]) as workers:
        data.unlink()
        with pytest.raises(EnvironmentLacksError, match=f"{data}: expected a file of 4 bytes, .*, got no such file"):
            list(workers.run(hold, [(tmp_path, 1)]))
    assert not list(tmp_path.glob("alive-*"))


@pytest.mark.slow
def test_workers_are_an_executor_for_those_who_want_one(tmp_path):
    said = []
    with open_workers("local:2", paths=[tmp_path], say=said.append) as workers:
        executor = TaskExecutor(workers)
        futures = [executor.submit(die_the_first_time, tmp_path, number) for number in range(4)]
        wait(futures)
        assert [future.result() for future in futures] == [0, 1, 4, 9]
        assert isinstance(executor.submit(fail, 1).exception(), ContractError)
        assert isinstance(executor.submit(fail, 2).exception(), ZeroDivisionError)
        assert isinstance(executor.submit(die, 1).exception(), EnvironmentLacksError)
        # More than there are processes wait, and can be called back.
        held = [executor.submit(hold, tmp_path, number) for number in range(4)]
        assert held[3].cancel()
        (tmp_path / "go").touch()
        assert [future.result() for future in held[:3]] == [0, 1, 4]
    assert sum("another one takes over" in line for line in said) == 4 + 3


@pytest.mark.slow
@pytest.mark.usefixtures("slurm")
def test_jobs_of_slurm_do_every_task_and_an_error_calls_the_others_back(tmp_path, monkeypatch, eventually):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    data = tmp_path / "data"
    data.mkdir()
    with open_workers("slurm:partition=short,jobs=2,time=5", paths=[data]) as workers:
        assert results(workers, die_the_first_time, [(tmp_path, number) for number in range(3)]) == {0: 0, 1: 1, 2: 4}
        with pytest.raises(ContractError) as caught:
            # The gate is never opened: only `scancel` ends the first.
            list(workers.run(fail_beside_others, [(tmp_path, 0), (tmp_path, 1)]))
        assert caught.value.hint == "mend them"
    eventually(lambda: alive(tmp_path) == [])
    assert not (tmp_path / JOBS_FOLDER).exists()
