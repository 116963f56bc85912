"""A mixed MIP study from start to report: three solvers that stop by themselves when they have proved the optimum."""

import json

import numpy as np
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.generate.study import Panel, write_study


def test_a_mixed_mip_study_from_start_to_report(tmp_path, capsys):
    write_study(tmp_path, "mip", horizon=120.0, seeds=[1], panels=[Panel(16, 1)])
    assert run(["doctor", str(tmp_path)]) == 0
    assert run(["run", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["score", str(tmp_path), "--policy", "analysis", "--per-run", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["validation"] == "checker"
    assert {arm["arm"] for arm in result["arms"]} == {"highs", "scip", "cpsat"}
    for arm in result["arms"]:
        assert (arm["runs"], arm["empty"], arm["rejected"], arm["late"]) == (2, 0, 0, 0)
        # Each ended by itself, with the optimum: the gap to the best of the campaign is nothing.
        assert arm["final_gap"] == 0
    assert {one["panel"] for one in result["runs"]} == {"mip-setcover-n16", "mip-knapsack-n16"}
    assert {one["status"] for one in result["runs"]} == {"finished"}

    campaign = gl.open(tmp_path / "campaign")
    first, count = campaign.runs["first"], campaign.runs["count"]
    for start, length in zip(first, count, strict=True):
        bounds = np.asarray(campaign.bound[start : start + length])
        objectives = np.asarray(campaign.objective[start : start + length])
        # A bound alone has no objective.
        objectives = objectives[~np.isnan(objectives)]
        # Recomputed from the rounded solution: whole numbers in, whole numbers out.
        assert (objectives == np.rint(objectives)).all()
        known = bounds[~np.isnan(bounds)]
        assert (known <= objectives.min() * (1 + 1e-9)).all()
        # Each solver proved what it found: the three agree on the optimum, and so do their bounds.
        assert known[-1] == pytest.approx(objectives.min())

    assert run(["report", str(tmp_path), "--policy", "analysis"]) == 0
    page = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    assert all(arm in page for arm in ("highs", "scip", "cpsat"))
