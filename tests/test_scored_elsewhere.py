"""Scores, analyses and reports with workers elsewhere are those of one process, to the last bit, whoever dies."""

import json
import os
from itertools import chain

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import gapline as gl
from dask_cluster import wait_for_workers
from gapline.campaign.campaign import Campaign
from gapline.cli.app import run
from gapline.executors.tasks import open_workers
from gapline.study import open_study
from gapline.study.analyse import analyse


def make_runs(seeds):
    rng = np.random.default_rng(11)
    for k in range(48):
        times = np.sort(rng.uniform(0, 33, 40)).round(3)
        values = (120 + 80 * np.exp(-times / (3 + k % 7)) + rng.normal(0, 2, 40)).round(2)
        run_of = {"arm": "abc"[k % 3], "instance": f"i{k // 3 % 4}", "panel": f"p{k // 3 % 4 // 2}", "seed": k // 12}
        if run_of["seed"] in seeds:
            valid = (rng.random(40) < 0.9).tolist()
            trace = [] if k == 7 else list(zip(times.tolist(), values.tolist(), valid, strict=True))
            yield run_of | {"horizon": 30.0, "trace": trace}


@pytest.fixture
def parted(tmp_path):
    """A campaign in two parts, made apart and merged, with its references."""
    for name, seeds in (("first", (0, 1)), ("second", (2, 3))):
        Campaign.from_runs(list(make_runs(seeds))).save(tmp_path / name)
    assert run(["merge", str(tmp_path / "first"), str(tmp_path / "second"), "-o", str(tmp_path / "whole")]) == 0
    assert (tmp_path / "whole" / "part-0001").is_dir()
    values = {f"i{k}": 118.0 + k for k in range(4)}
    gl.Snapshot.from_values(values, name="best", as_of="2020-01-01").save(tmp_path / "whole" / "references.json")
    return tmp_path / "whole"


class KillsOne:
    """Workers of which one is killed as soon as the first of a round's tasks is back."""

    def __init__(self, workers, victim):
        self._workers, self._victim = workers, victim

    def width(self):
        return self._workers.width()

    def run(self, function, tasks):
        coming = self._workers.run(function, tasks)
        first = next(coming)
        if self._victim is not None:
            self._victim.kill()
            self._victim.wait()
            self._victim = None
        return chain([first], coming)


@pytest.mark.slow
def test_a_real_dask_cluster_of_which_a_worker_is_killed(scheduler, start_worker, parted, capsys):
    pytest.importorskip("distributed")
    started = [start_worker(scheduler) for _ in range(3)]
    wait_for_workers(scheduler, 3)
    whole = open_study(str(parted))
    with open_workers(f"dask:{scheduler}", paths=[parted]) as workers:
        apart = open_study(str(parted), workers=KillsOne(workers, started[1]))
        assert apart.envelopes.held is not None
        assert len(apart.envelopes.held.ranges) > 3
        assert_frame_equal(apart.scores[0].frame, whole.scores[0].frame, check_exact=True)
        assert workers.width() == 2
        assert json.dumps(analyse(apart).document(), default=str) == json.dumps(analyse(whole).document(), default=str)
    for command in (["score", "--per-run"], ["analyse"], ["curve"]):
        assert_same_answers(command, parted, ["--on", f"dask:{scheduler}"], capsys)


def assert_same_answers(command, source, elsewhere, capsys):
    answers = []
    for place in ([], elsewhere):
        capsys.readouterr()
        assert run([command[0], str(source), *command[1:], "--json", *place]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["score", "--per-run"], ["analyse"], ["curve"], ["curve", "--bands", "--log-time"]]
)
def test_every_command_gives_the_same_answer_from_processes(command, parted, capsys):
    assert_same_answers(command, parted, ["--on", "local:2", "--memory", "1GB"], capsys)


@pytest.mark.slow
def test_every_step_of_a_curve_comes_from_processes_too(parted, capsys, monkeypatch):
    monkeypatch.setattr("gapline.report.curves.MOST_STEPS", 3)
    assert_same_answers(["curve", "--points", "all"], parted, ["--on", "local:2"], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["local", "dask"])
def test_a_report_made_with_workers_has_the_same_files(place, parted, tmp_path, capsys, request):
    if place == "dask":
        pytest.importorskip("distributed")
        scheduler = request.getfixturevalue("scheduler")
        request.getfixturevalue("start_worker")(scheduler)
        wait_for_workers(scheduler, 1)
    assert run(["report", str(parted), "-o", str(tmp_path / "here"), "--format", "svg"]) == 0
    elsewhere = ["--on", "local:2" if place == "local" else f"dask:{scheduler}", "-o", str(tmp_path / "there")]
    assert run(["report", str(parted), *elsewhere, "--format", "svg"]) == 0
    capsys.readouterr()
    files = sorted(path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*") if path.is_file())
    assert files == sorted(
        path.relative_to(tmp_path / "there") for path in (tmp_path / "there").rglob("*") if path.is_file()
    )
    assert len(files) > 20
    for name in files:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


@pytest.mark.slow
def test_workers_fetch_for_themselves_what_lies_on_an_object_store(bucket, parted, capsys):
    url = bucket.put_directory(parted, "whole")
    answers = []
    for source, place in ((str(parted), []), (url, ["--on", "local:2"])):
        capsys.readouterr()
        assert run(["score", source, "--per-run", "--json", *place]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("harm", ["gone", "cut", "changed"])
def test_a_part_that_is_harmed_while_it_is_scored_is_one_clear_error(harm, parted, tmp_path, capsys):
    campaign = gl.open(parted)
    column = parted / "part-0001" / "objective.npy"
    if harm == "gone":
        column.unlink()
    elif harm == "cut":
        os.truncate(column, 1000)
    else:
        data = bytearray(column.read_bytes())
        data[-1] ^= 1
        column.unlink()
        column.write_bytes(data)
    with pytest.raises(gl.GaplineError, match=r"part-0001.objective\.npy"):
        gl.build_envelopes(campaign)
    for command in (["score", str(parted)], ["report", str(parted), "-o", str(tmp_path / "out")]):
        assert run(command) == 1
        error = capsys.readouterr().err
        assert error.startswith("error:")
        assert "part-0001" in error
        assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


def test_a_trace_file_with_workers_is_refused_with_the_way_out(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,horizon\na,i,1,1,5,9\n")
    (tmp_path / "r.csv").write_text("instance,value\ni,4\n")
    arguments = ["score", str(tmp_path / "t.csv"), "--references", str(tmp_path / "r.csv"), "--on", "local:1"]
    assert run(arguments) == 2
    assert "gapline import" in capsys.readouterr().err
