"""`gapline demo` on one tiny instance: the same code as the real one, fewer runs."""

import json

import pytest

from gapline.checkers import load_checker
from gapline.cli.app import run
from gapline.cli.demo import SNAPSHOT
from gapline.generate.study import Panel, write_study
from gapline.references.snapshot import Snapshot


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("demo")
    write_study(place, "tdvrptw", name="demo", horizon=1.5, seeds=[1], panels=[Panel(10, 1)], snapshot=SNAPSHOT)
    return place


@pytest.mark.slow
def test_the_demo_freezes_runs_checks_and_scores(folder, capsys):
    assert run(["demo", str(folder)]) == 0
    out = capsys.readouterr().out
    for part in ("references frozen before the campaign", "Health", "invalid at the end", "(frozen, sha256:", "next:"):
        assert part in out
    assert "unchecked" not in out
    snapshot = Snapshot.load(folder / SNAPSHOT)
    assert list(snapshot.values) == ["demo-n10-1"]
    assert snapshot.values["demo-n10-1"].value > 0
    assert (snapshot.objective, snapshot.checker) == ("duration", f"tdvrptw {load_checker('tdvrptw').version}")

    # A second call has nothing left to run, and keeps the references.
    assert run(["demo", str(folder)]) == 0
    assert "calibrating" not in capsys.readouterr().out
    assert Snapshot.load(folder / SNAPSHOT).digest == snapshot.digest

    # What it says to try next works, on the same runs.
    assert run(["score", str(folder), "--snapshot", str(folder / SNAPSHOT), "--json"]) == 0
    arms = json.loads(capsys.readouterr().out)["arms"]
    assert {arm["arm"]: arm["runs"] for arm in arms} == dict.fromkeys(
        ["kayros-aco", "kayros-ils", "ortools-mean", "pyvrp-mean"], 1
    )


def test_the_worked_example_needs_no_solver(capsys):
    assert run(["demo", "--worked-example"]) == 0
    assert "run 3 ends below its reference" in capsys.readouterr().out
