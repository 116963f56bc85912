"""Curves at moments are the exact curves there, under every choice."""

import numpy as np
import pytest

import gapline as gl
from gapline.report.page import stored
from gapline.report.page.stored import curves_at_moments, page_moments
from gapline.scoring.curve import evaluate_steps
from gapline.statistics.cells import build_cells
from report.page_study import ARMS, make_study

STUDIES = {
    "plain": {},
    "at zero": {"start_at_zero": True},
    "horizons": {"horizons": {"s1": 20.0, "l1": 12.0}},
}


@pytest.fixture(params=STUDIES, scope="module")
def made(request):
    study = make_study(**STUDIES[request.param])
    return study, curves_at_moments(study, build_cells(study.envelopes.runs).arm, len(ARMS))


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["panel", "instance", "run"])
def test_mean_curves_are_exact_at_every_moment(made, weighting):
    study, found = made
    for r, entry in enumerate(study.references):
        for k, kernel in enumerate(study.kernels):
            for arm, name in enumerate(ARMS):
                values = found.mean[weighting][r][k][arm]
                part = study.envelopes.select(study.envelopes.runs["arm"].eq(name).arg_true().to_list())
                if not values:
                    # Where it exists is another test.
                    assert kernel == "raw"
                    continue
                curve = gl.mean_curve(part, entry.snapshot, kernel=kernel, weighting=weighting, relative=study.relative)
                exact = evaluate_steps(
                    curve.frame["time"].to_numpy(), curve.frame["value"].to_numpy(), np.array(found.time)
                )
                assert values == pytest.approx(exact, abs=6e-10)


@pytest.mark.parametrize("weighting", ["panel", "instance", "run"])
def test_attainment_is_exact_at_every_moment(made, weighting):
    study, found = made
    for r, entry in enumerate(study.references):
        curves = gl.attainment_curve(
            study.envelopes, entry.snapshot, goals=study.goals, weighting=weighting, relative=study.relative
        ).frame
        for g, goal in enumerate(study.goals):
            for arm, name in enumerate(ARMS):
                part = curves.filter(arm=name, goal=goal)
                exact = evaluate_steps(part["time"].to_numpy(), part["value"].to_numpy(), np.array(found.time))
                assert found.attainment[weighting][r][g][arm] == pytest.approx(exact, abs=6e-10)


def test_raw_exists_where_every_run_begins_at_zero():
    for zero in (False, True):
        study = make_study(start_at_zero=zero)
        raw = study.kernels.index("raw")
        found = curves_at_moments(study, build_cells(study.envelopes.runs).arm, len(ARMS))
        # One run of beta is empty.
        assert [bool(curve) for curve in found.mean["panel"][0][raw]] == [zero, False, zero]


def test_moments_are_few_where_curves_are_many(monkeypatch, study):
    monkeypatch.setattr(stored, "MOST_VALUES", 100)
    found = curves_at_moments(study, build_cells(study.envelopes.runs).arm, len(ARMS))
    assert len(found.time) <= stored.LEAST_MOMENTS + 1
    assert (found.time[0], found.time[-1]) == (0.0, 30.0)
    assert page_moments(study, 600)[[0, -1]].tolist() == [0.0, 30.0]


def test_parts_of_the_runs_add_up(monkeypatch, study):
    arm = build_cells(study.envelopes.runs).arm
    whole = curves_at_moments(study, arm, len(ARMS))
    monkeypatch.setattr("gapline.native.slices.AT_ONCE", 1)
    assert curves_at_moments(study, arm, len(ARMS)) == whole
