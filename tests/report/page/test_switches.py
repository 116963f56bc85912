"""Each switch of the page changes its numbers to what Python computes under that choice."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.report.page import encode
from gapline.report.page.build import write_page
from gapline.scoring.curve import evaluate_steps
from gapline.statistics.bootstrap import Bootstrap
from report.page_reader import PageReader, number
from report.page_study import ARMS, GOALS, KERNELS, PANELS

DECLARED = {"kernel": "squeezed", "snapshot": 0, "horizon": None, "goal": GOALS[0], "weighting": "panel"}
CHOICES = [
    *({"kernel": kernel} for kernel in KERNELS),
    {"snapshot": 1},
    {"horizon": 12.5},
    {"horizon": 0.4},
    {"goal": GOALS[1]},
    {"goal": GOALS[2]},
    {"weighting": "instance"},
    {"weighting": "run"},
    {"scale": "log"},
    {"kernel": "dimacs:1.1", "snapshot": 1, "horizon": 7.25, "goal": GOALS[2], "weighting": "run", "scale": "log"},
    {"kernel": "maxform", "horizon": 20, "goal": GOALS[1], "weighting": "instance"},
    {"kernel": "berthold", "snapshot": 1},
]


@pytest.fixture(scope="module")
def shared(browser, page_file):
    reader = PageReader(browser, page_file)
    yield reader
    reader.context.close()


@pytest.fixture
def page(shared):
    """The same opened page for every test, back at the declared choice; each test answers for its complaints."""
    shared.change(shared.page.get_by_role("button", name="Reset").click)
    yield shared
    complaints, shared.complaints = shared.complaints, []
    assert complaints == []


class Expected:
    """What Python computes under a choice."""

    def __init__(self, study, choice):
        self.choice = choice = {**DECLARED, **choice}
        self.envelopes = gl.build_envelopes(study.campaign, horizon=choice["horizon"])
        self.snapshot = study.references[choice["snapshot"]].snapshot
        # The analysis reference is folded from what the runs had by the horizon: then it has no digest in the page.
        self.refolded = choice["snapshot"] == 1 and choice["horizon"] is not None
        if self.refolded:
            self.snapshot = gl.analysis_snapshot(study.references[0].snapshot, self.envelopes)
        self.scores = gl.score(
            self.envelopes, self.snapshot, kernels=[choice["kernel"]], goals=[choice["goal"]], weight=study.weight
        )

    def rows(self, *by):
        frame = gl.summarise(self.scores, by=by or ("arm",), weighting=self.choice["weighting"]).frame
        return {tuple(row[name] for name in (by or ("arm",))): row for row in frame.iter_rows(named=True)}

    def rank(self, mean, rows):
        kernel = self.choice["kernel"]
        if mean is None or (kernel == "berthold" and self.scores.frame["beaten"].any()):
            return "–"
        return str(1 + sum(row[kernel] is not None and row[kernel] < mean - 1e-12 for row in rows))


def shows(text, value, digits):
    """Say whether the text is the value at its display precision."""
    seen = number(text)
    if value is None or seen is None:
        return value is None and seen is None
    return abs(seen - value) <= 0.5 * 10.0**-digits * (1 + 1e-6)


def check_tables(page, study, choice):
    expected = Expected(study, choice)
    kernel, goal = expected.choice["kernel"], expected.choice["goal"]
    rows = expected.rows()
    ranking = page.table("ranking")
    assert [row["arm"] for row in ranking] == sorted(
        ARMS, key=lambda arm: (rows[arm,][kernel] is None, rows[arm,][kernel])
    )
    for line in ranking:
        row = rows[line["arm"],]
        assert shows(line[f"mean {kernel}"], row[kernel], 5)
        assert shows(line["final gap"], row["final_gap"], 4)
        assert shows(line[f"≤ {100 * goal:g} %"], row[f"attainment:{goal:g}"], 3)
        assert {name: int(line[name]) for name in ("runs", "empty", "rejected", "late")} == {
            name: row[name] for name in ("runs", "empty", "rejected", "late")
        }
        assert line["rank"] == expected.rank(row[kernel], rows.values())
    panels = expected.rows("arm", "panel")
    for line in page.table("panel-table"):
        for arm in ARMS:
            assert shows(line[arm], panels[arm, line["panel"]][kernel], 5)
    instances = expected.rows("arm", "instance")
    best = dict(expected.envelopes.runs.group_by("instance").agg(pl.col("best").min()).iter_rows())
    for line in page.table("instance-table"):
        assert number(line["reference"]) == pytest.approx(expected.snapshot.values[line["instance"]].value, rel=1e-8)
        found = best[line["instance"]]
        assert number(line["best here"]) == (None if found is None else pytest.approx(found, rel=1e-8))
        for arm in ARMS:
            assert shows(line[arm], instances.get((arm, line["instance"]), {}).get(kernel), 5)
    if kernel != "raw":
        boot = Bootstrap(expected.scores, weighting=expected.choice["weighting"], draws=1)
        for line in page.table("contrast-table"):
            assert shows(line["a − b"], boot.difference(line["arm a"], line["arm b"]).value, 5)


def check_curves(page, study, choice):
    expected = Expected(study, choice)
    options = {
        "weighting": expected.choice["weighting"],
        "relative": study.relative and expected.choice["horizon"] is None,
    }
    curves = {
        "attainment": gl.attainment_curve(
            expected.envelopes, expected.snapshot, goals=[expected.choice["goal"]], **options
        ),
    }
    if expected.choice["kernel"] != "raw":
        curves["mean-convergence"] = gl.mean_curve(
            expected.envelopes, expected.snapshot, kernel=expected.choice["kernel"], **options
        )
    for name, curve in curves.items():
        saved = page.saved(name)
        for arm in ARMS:
            wanted = curve.frame.filter(arm=arm)
            ours = np.array([(float(row["time"]), float(row["value"])) for row in saved if row["arm"] == arm])
            assert ours[:, 0] == pytest.approx(wanted["time"].to_numpy(), abs=2e-9)
            assert ours[:, 1] == pytest.approx(wanted["value"].to_numpy(), abs=1e-9)
        assert {(row["kernel"], row["digest"]) for row in saved} == {
            (expected.choice["kernel"], "" if expected.refolded else expected.snapshot.digest)
        }


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: ",".join(map(str, choice.values())))
def test_numbers_follow_the_switch(page, study, choice):
    page.choose(**choice)
    python = {name: value for name, value in choice.items() if name != "scale"}
    check_tables(page, study, python)
    check_curves(page, study, python)


@pytest.mark.slow
def test_switching_back_restores_everything(page, study):
    page.choose(kernel="dimacs:2", snapshot=1, horizon=3, weighting="run")
    page.change(lambda: page.page.get_by_role("button", name="Reset").click())
    check_tables(page, study, {})
    assert "#" not in page.page.url


def test_the_slider_sets_the_horizon(page, study):
    slider = page.page.locator("#horizon")
    page.change(
        lambda: slider.evaluate("node => { node.value = 500; node.dispatchEvent(new Event('input', {bubbles: true})) }")
    )
    assert page.page.locator("#horizon-seconds").input_value() == "15"
    check_tables(page, study, {"horizon": 15.0})


@pytest.mark.parametrize("weight", ["early-log:0.5", "end-log:0.5", "steps:0=1,10=0.25", lambda t: 1 / (1 + t)])
def test_time_weights_are_those_of_python(open_page, tmp_path, make_other_study, weight):
    study = make_other_study(weight=weight)
    page = open_page(write_page(study, tmp_path / "page.html"))
    check_tables(page, study, {})
    page.choose(horizon=11)
    check_tables(page, study, {"horizon": 11.0})


def test_raw_exists_where_every_run_is_feasible_at_time_zero(open_page, tmp_path, make_other_study):
    study = make_other_study(start_at_zero=True)
    page = open_page(write_page(study, tmp_path / "page.html"))
    page.choose(kernel="raw")
    check_tables(page, study, {"kernel": "raw"})
    rows = {row["arm"]: row["mean raw"] for row in page.table("ranking")}
    assert rows["beta"] == "–", "one of its runs is empty"
    assert rows["alpha"] != "–"


@pytest.mark.slow
def test_different_horizons_are_drawn_on_relative_time(open_page, tmp_path, make_other_study):
    study = make_other_study(horizons=dict.fromkeys(PANELS["large"], 60.0))
    page = open_page(write_page(study, tmp_path / "page.html"))
    check_tables(page, study, {})
    check_curves(page, study, {})
    page.choose(horizon=25)
    check_tables(page, study, {"horizon": 25.0})
    check_curves(page, study, {"horizon": 25.0})


@pytest.mark.slow
def test_many_breakpoints_are_drawn_at_their_exact_values(open_page, tmp_path, make_other_study):
    study = make_other_study(steps=1500)
    page = open_page(write_page(study, tmp_path / "page.html"))
    curve = gl.mean_curve(study.envelopes, study.references[0].snapshot).frame
    for scale in ("linear", "log"):
        page.choose(scale=scale)
        saved = page.saved("mean-convergence")
        for arm in ARMS:
            wanted = curve.filter(arm=arm)
            ours = np.array([(float(row["time"]), float(row["value"])) for row in saved if row["arm"] == arm])
            assert len(ours) == 801 < wanted.height
            exact = evaluate_steps(wanted["time"].to_numpy(), wanted["value"].to_numpy(), ours[:, 0])
            assert ours[:, 1] == pytest.approx(exact, abs=1e-9)
            assert (ours[0, 0], ours[-1, 0]) == (0.0, 30.0)


def test_a_large_campaign_is_right_to_its_stated_resolution(open_page, tmp_path, monkeypatch, study):
    """Milliseconds and seven digits, as if there were a million steps, move no mean by more than their share."""
    monkeypatch.setattr(encode, "FINE_STEPS", 0)
    page = open_page(write_page(study, tmp_path / "page.html"))
    assert "rounded to multiples of 0.001 s" in page.text("#method")
    for kernel in ("squeezed", "maxform", "dimacs:2"):
        page.choose(kernel=kernel)
        rows = Expected(study, {"kernel": kernel}).rows()
        for row in page.saved("arms"):
            wanted = rows[row["arm"],]
            assert float(row["mean"]) == pytest.approx(wanted[kernel], abs=0.0005 / 30 + 1e-7)
            assert float(row["final_gap"]) == pytest.approx(wanted["final_gap"], abs=1e-7)
            assert float(row["attainment"]) == pytest.approx(wanted["attainment:0.02"], abs=1e-12)


def test_berthold_is_ranked_where_nothing_beats_the_reference(open_page, tmp_path, make_other_study):
    study = make_other_study(above=0.001)
    page = open_page(write_page(study, tmp_path / "page.html"))
    page.choose(kernel="berthold")
    assert [row["rank"] for row in page.table("ranking")] == ["1", "2", "3"]
    check_tables(page, study, {"kernel": "berthold"})


def test_berthold_is_not_ranked_where_a_reference_is_beaten(page):
    page.choose(kernel="berthold")
    assert "berthold counts beating the reference as a loss" in page.text("#ranking-caption")
    assert page.text("#headline") == "No ranking under berthold"
    pairs = page.table("contrast-table")
    assert pairs
    assert {row["95 % interval"] for row in pairs} == {"–"}
    assert all(row["kind"].startswith("berthold counts beating the reference as a loss") for row in pairs)
