"""Runs on a real Dask cluster and a real SLURM, watched from here: the state follows the study directory alone."""

import json

import pytest

import gapline as gl
from dask_cluster import wait_for_workers
from gapline.cli.app import run as gapline
from gapline.live.state import LiveStudy
from live_studies import with_references
from patience import PATIENCE

pytestmark = pytest.mark.slow

# Says one thing, and then waits for the file `go` of the study.
ARMS = {"waiting": ["waits"], "steady": ["scripted", "3", "5", "0"]}


def follow(study, runner, eventually, capsys):
    """Watch a campaign from before it begins until it is whole, and return what was seen of it."""
    live, seen = LiveStudy(study.path), []
    seen.append(live.look())

    def is_so(condition):
        seen.append(live.look())
        return condition(seen[-1])

    try:
        process = runner()
        eventually(lambda: is_so(lambda state: any(run["incumbent"] == 10.0 for run in state["running"].values())))
        (study.path / "go").touch()
        eventually(lambda: is_so(lambda state: state["phase"] == "finished"))
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        last = live.look()
    finally:
        live.close()
    assert gapline(["score", str(study.path), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    for name in ("arms", "coverage", "reference"):
        assert last[name] == expected[name], name
    assert last["progress"]["done"] == last["progress"]["planned"] == len(gl.open(study.path / "campaign"))
    return seen


def assert_followed(seen):
    assert seen[0]["phase"] == "not begun"
    under_way = [state for state in seen if state["running"]]
    assert {state["phase"] for state in under_way} == {"running"}
    waiting = [run for state in under_way for run in state["running"].values() if run["arm"] == "waiting"]
    assert {run["attempt"] for run in waiting} == {1}
    # A cell is first seen before its program says anything, perhaps never again; what was said once stays.
    for instance in {run["instance"] for run in waiting}:
        incumbents = [run["incumbent"] for run in waiting if run["instance"] == instance]
        assert incumbents == [None] * incumbents.count(None) + [10.0] * incumbents.count(10.0)
    assert any(run["incumbent"] == 10.0 for run in waiting)
    done = [state["progress"]["done"] for state in seen]
    assert done == sorted(done)


def test_a_dask_cluster_is_followed(make_study, scheduler, start_worker, eventually, capsys):
    pytest.importorskip("distributed")
    study = with_references(make_study(ARMS, seeds=(1,)))
    start_worker(scheduler, "--resources", "solver=1")
    wait_for_workers(scheduler, 1)
    assert_followed(follow(study, lambda: study.start("--on", f"dask:{scheduler}"), eventually, capsys))


def test_a_slurm_is_followed(make_study, slurm, eventually, capsys):
    pytest.importorskip("submitit")
    study = with_references(make_study(ARMS, seeds=(1,)))
    assert slurm.jobs() == []
    assert_followed(follow(study, lambda: study.start("--on", "slurm:partition=short,jobs=2"), eventually, capsys))
