"""A page of summaries says what the page with all steps says under any choice, and what it does not have."""

import json
import zlib
from base64 import b64decode

import numpy as np
import pytest

import gapline as gl
from gapline.report.page import encode, stored
from gapline.report.page.build import build_page, write_page
from gapline.report.page.stored import stored_data
from gapline.statistics.cells import build_cells
from report.page_reader import PageReader
from report.page_study import ARMS, GOALS, KERNELS, make_study
from report.report_studies import report_of

TABLES = ("ranking", "contrast-table", "panel-table", "instance-table")
CHOICES = [
    {},
    {"kernel": "maxform", "weighting": "run"},
    {"kernel": "raw"},
    {"snapshot": 1, "goal": GOALS[2]},
    {"kernel": "berthold", "weighting": "instance", "goal": GOALS[1]},
    {"kernel": "dimacs:1.1", "snapshot": 1, "weighting": "run", "scale": "log"},
]


def summaries(path, study, **choices):
    """Write the page as if every page were too large for its steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode, "MOST_BYTES", 1_000_000)
        patch.setattr(encode, "MOST_STEPS", 0)
        return write_page(study, path, **choices)


@pytest.fixture(scope="module")
def small_file(study, tmp_path_factory):
    return summaries(tmp_path_factory.mktemp("stored") / "report.html", study)


@pytest.fixture(scope="module")
def both(browser, page_file, small_file):
    readers = [PageReader(browser, path) for path in (page_file, small_file)]
    yield readers
    for reader in readers:
        reader.context.close()
        assert reader.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_table_says_what_the_page_with_all_steps_says(both, choice):
    for reader in both:
        reader.change(reader.page.get_by_role("button", name="Reset").click)
        reader.choose(**choice)
    whole, small = both
    for name in TABLES:
        assert small.table(name) == whole.table(name), name
    for place in ("#headline", "#subline", "#cards", "#ranking-caption"):
        assert small.text(place) == whole.text(place)


def test_hidden_arms_leave_ranks_and_pairs(both):
    for reader in both:
        reader.change(reader.page.get_by_role("button", name="Reset").click)
        reader.change(reader.page.locator('.arm[data-arm="alpha"]').click)
    whole, small = both
    for name in TABLES:
        assert small.table(name) == whole.table(name), name


def test_saved_curves_are_on_the_exact_ones(both, study):
    small = both[1]
    small.change(small.page.get_by_role("button", name="Reset").click)
    found = small.saved("mean-convergence")
    curve = gl.mean_curve(study.envelopes, study.snapshot, kernel="squeezed")
    for (arm,), time, value in curve.groups():
        rows = [row for row in found if row["arm"] == arm]
        at = np.array([float(row["time"]) for row in rows])
        exact = value[np.searchsorted(time, at, side="right") - 1]
        assert [float(row["value"]) for row in rows] == pytest.approx(exact, abs=1e-9)


def test_what_needs_steps_is_off_and_said(open_page, small_file, study):
    page = open_page(small_file, hash="#horizon=7&kernel=maxform&panel=small&instance=s2&arm=beta&seed=1")
    assert page.page.locator("#horizon").is_disabled()
    assert page.page.locator("#horizon-seconds").is_disabled()
    # A link to a shorter horizon or to one run opens what there is.
    assert page.page.locator("#horizon-seconds").input_value() == "30"
    assert "horizon 30 s" in page.text("#ranking-caption")
    assert page.page.locator("#kernel").input_value() == "maxform"
    assert page.text("#instance-name") == "s2, arm by arm"
    for gone in ("#run", "#run-table", "#instance-chart", "#candidate-table"):
        assert page.page.locator(gone).count() == 0
    said = page.text("#left-out")
    assert f"of {len(study.envelopes):,} runs" in said
    assert "gapline score SOURCE --per-run --json" in said
    assert "tables/runs.csv" in said
    assert page.page.locator("#named-runs").get_attribute("class") == "outdated"
    assert page.page.locator("#table-rejected-runs tbody tr").count() > 0


def test_one_instance_is_shown_arm_by_arm(open_page, small_file, study):
    page = open_page(small_file)
    page.change(page.page.locator("#instance-table button", has_text="s2").click)
    rows = {row["arm"]: row for row in page.table("unit-table")}
    frame = study.scores[0].frame.filter(instance="s2", arm="beta")
    assert (rows["beta"]["runs"], rows["beta"]["empty"]) == ("2", "1")
    assert rows["beta"]["mean squeezed"] == f"{frame['squeezed'].mean():.5f}"
    assert float(rows["beta"]["best"]) == pytest.approx(frame["best"].min(), rel=1e-8)


def test_a_narrow_screen_shows_it_whole(open_page, small_file):
    page = open_page(small_file, width=400)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 400


@pytest.mark.slow
def test_horizons_that_differ_give_curves_of_relative_time(browser, tmp_path):
    study = make_study(horizons={"s1": 20.0, "l1": 12.0}, kernels=("squeezed", "maxform"), tier_two=("gamma",))
    paths = [write_page(study, tmp_path / "whole.html"), summaries(tmp_path / "small.html", study, log_time=True)]
    whole, small = (PageReader(browser, path) for path in paths)
    for name in TABLES:
        assert small.table(name) == whole.table(name), name
    assert "time t/Γ" in small.text("#mean-chart")
    assert small.complaints == []


@pytest.mark.slow
def test_the_page_chooses_by_its_size(study, monkeypatch):
    whole = build_page(study)
    assert 'id="block-steps"' in whole
    monkeypatch.setattr(encode, "MOST_BYTES", len(whole.encode()))
    assert build_page(study) == whole
    monkeypatch.setattr(encode, "MOST_BYTES", len(whole.encode()) - 1)
    small = build_page(study)
    assert 'id="block-stored"' in small
    assert 'id="block-steps"' not in small
    monkeypatch.setattr(encode, "MOST_BYTES", 100)
    assert build_page(study).count('id="block-stored"') == 1
    monkeypatch.undo()
    monkeypatch.setattr(encode, "MOST_STEPS", int(study.envelopes.runs["count"].sum()) - 1)
    assert 'id="block-stored"' in build_page(study)


def opened(data):
    return json.loads(zlib.decompress(b64decode(data.blocks["stored"])))


def test_means_are_those_of_the_command_line_to_the_last_bit(study):
    found = opened(stored_data(study))["arms"]
    for weighting in ("panel", "instance", "run"):
        for k, scores in enumerate(study.scores):
            frame = gl.summarise(scores, weighting=weighting).frame.sort("arm")
            for place, kernel in enumerate(KERNELS):
                assert found["score"][weighting][k][place] == frame[kernel].to_list()
            assert found["finalGap"][weighting][k] == frame["final_gap"].to_list()
    pairs = opened(stored_data(study))["pairs"]
    assert pairs["value"]["panel"][0][0] == study.contrasts.frame["difference"].to_list()
    assert [[ARMS[a], ARMS[b]] for a, b in pairs["of"]] == [
        list(p) for p in study.contrasts.frame.select("a", "b").rows()
    ]


def test_panels_of_one_instance_each_weigh_it_once():
    """Two runs of a on i score 0 and 1/3, one on j 1/2: instance-equal 1/3, run-equal 5/18."""
    rows = [("a", "i", 1, 10.0), ("a", "i", 2, 20.0), ("a", "j", 1, 30.0), ("b", "i", 1, 20.0), ("b", "j", 1, 20.0)]
    runs = [{"arm": a, "instance": i, "panel": "p", "seed": s, "horizon": 9, "trace": [(0, z)]} for a, i, s, z in rows]
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="known")
    found = opened(stored_data(report_of(gl.Campaign.from_runs(runs), snapshot)))
    means = found["panels"]["score"]
    assert means["panel"][0][0][0] == means["instance"][0][0][0] == [pytest.approx(1 / 3)]
    assert means["run"][0][0][0] == [pytest.approx(5 / 18)]
    # On i a has 1/6 against 1/3 of b, on j 1/2 against 1/3.
    assert found["pairs"]["wins"][0][0] == [[1, 0, 1]]
    assert found["pairs"]["value"]["instance"][0][0] == [pytest.approx(0.0, abs=1e-15)]
    assert found["pairs"]["value"]["run"][0][0] == [pytest.approx(5 / 18 - 1 / 3)]


def test_of_many_instances_those_are_carried_on_which_arms_differ_most(study, monkeypatch):
    monkeypatch.setattr(stored, "MOST_INSTANCES", 2)
    monkeypatch.setattr(stored, "MOST_PANELS", 1)
    monkeypatch.setattr(stored, "MOST_PAIRS", 1)
    data = stored_data(study)
    cells = build_cells(study.scores[0].frame)
    means = cells.instance_means(study.scores[0].frame["squeezed"].to_numpy())
    spread = np.nanmax(means, axis=0) - np.nanmin(means, axis=0)
    widest = {cells.units[k][1] for k in np.argsort(-spread)[:2]}
    assert set(data.head["units"]["name"]) == widest
    assert len(data.head["snapshots"][0]["references"]) == 2
    assert opened(data)["panels"]["chosen"] == [cells.panels.index("small")]
    assert len(data.head["contrasts"]) == 1
    monkeypatch.setattr(encode, "MOST_STEPS", 0)
    text = build_page(study)
    assert "Of 5 instances this page has the 2 on which the compared arms differ most" in text
    assert "Of 2 panels this page has the 1 with the most instances" in text
    assert "Of 3 pairs of arms this page has 1" in text


def test_runs_without_any_candidate_make_a_page_too(open_page, tmp_path):
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": []} for arm in ("a", "b")]
    study = report_of(gl.Campaign.from_runs(runs), gl.Snapshot.from_values({"i": 10.0}, name="known"))
    page = open_page(summaries(tmp_path / "page.html", study))
    assert [row["empty"] for row in page.table("ranking")] == ["1", "1"]
    assert page.page.locator("#table-failed-runs tbody tr").count() == 2
