import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.campaign.scale import scored_objectives
from gapline.report.page.data import page_data
from gapline.report.page.runs import MOST_CANDIDATES, _places_kept, add_other_candidates
from report.report_studies import report_of


def test_candidates_beyond_the_limit_are_counted(monkeypatch, study):
    """A page that cannot hold every candidate keeps the telling ones and says how many it left out."""
    from gapline.report.page import runs
    from gapline.report.page.encode import Block, Grid

    assert MOST_CANDIDATES > 1000
    monkeypatch.setattr(runs, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(runs, "LEAST_PER_RUN", 1)
    block, order = Block(), np.arange(len(study.envelopes))
    grids = [Grid(9, exact=False)] * len(order)
    omitted = add_other_candidates(block, study, order, Grid(9, exact=False), grids).omitted
    kept = {column["name"]: column["length"] for column in block.columns}
    runs = study.envelopes.runs
    assert kept["time"] + omitted.sum() == int((runs["captured"] - runs["steps"]).sum())
    assert omitted.sum() > 0


@pytest.mark.parametrize("transform", ["none", "shift:10", "hierarchical:100", "hierarchical:10n"])
def test_candidates_are_on_the_scale_that_is_scored(transform):
    runs = pl.DataFrame(
        {"arm": ["a", "b"], "instance": ["i", "i"], "seed": [1, 1], "horizon": [9.0, 9.0], "size": [7.0, 7.0]}
    ).with_columns(first=pl.Series([0, 3]), count=pl.Series([3, 2]))
    secondary = np.array([50.0, 40.0, 30.0, 60.0, 20.0])
    campaign = gl.Campaign.from_arrays(
        runs=runs,
        time=np.array([1.0, 2.0, 3.0, 1.0, 2.0]),
        objective=secondary,
        verdict=np.array([1, 0, 1, 1, 1], np.uint8),
        primary=np.array([3.0, 3.0, 2.0, 3.0, 2.0]),
        secondary=secondary,
    )
    snapshot = gl.Snapshot.from_entries(
        {"i": {"value": 220.0, "primary": 2.0, "secondary": 20.0}}, name="known", store={"name": "s"}
    )
    study = report_of(campaign, snapshot, transform=transform)
    scored = scored_objectives(study.campaign, study.envelopes.scale)
    assert scored[campaign.verdict == 1].tolist() == study.envelopes.objective.tolist()
    references = page_data(study).head["snapshots"][0]["references"]
    assert references == study.scores[0].frame["reference"].unique().to_list()


@given(st.lists(st.lists(st.booleans(), max_size=6), max_size=5))
def test_telling_candidates_come_first_and_each_kind_in_its_order(runs):
    run = np.repeat(np.arange(len(runs)), [len(part) for part in runs]).astype(np.int64)
    weak = np.array([flag for part in runs for flag in part], bool)
    found = _places_kept(run, weak, np.array([len(part) for part in runs], np.int64))
    wanted = []
    for part in runs:
        order = sorted(range(len(part)), key=lambda k: part[k])
        wanted += [order.index(k) for k in range(len(part))]
    assert found.tolist() == wanted


def test_groups_of_runs_leave_no_trace(study, monkeypatch):
    from gapline.report.page.encode import Block, Grid

    order = np.arange(len(study.envelopes))
    written = []
    for size in (1_000_000, 1, 37):
        monkeypatch.setattr("gapline.native.slices.AT_ONCE", size)
        block = Block()
        runs = add_other_candidates(block, study, order, Grid(9, exact=False), [Grid(3, exact=False)] * len(order))
        written.append((block.encode(), [counts.tolist() for counts in runs]))
    assert written[0] == written[1] == written[2]


@pytest.mark.slow
def test_what_became_of_the_candidates_of_a_run_adds_up_on_the_screen(open_page, exact_file, exact_study):
    """At its own horizon and at a shorter one: every captured candidate counts once, late and rejected ones too."""
    page = open_page(exact_file)
    late_and_rejected = 0
    for horizon in (30.0, 12.5):
        if horizon < 30:
            page.choose(horizon=horizon)
        envelopes = gl.build_envelopes(exact_study.campaign, horizon=horizon).runs
        for place in range(page.page.locator("#run-table button.link").count()):
            page.change(page.page.locator("#run-table button.link").nth(place).click)
            names, values = (page.page.locator(f"#run-facts {tag}").all_text_contents() for tag in ("dt", "dd"))
            facts = dict(zip(names, values, strict=True))
            parts = ("captured", "accepted", "not improving", "rejected", "late, not rejected")
            counts = {name: int(facts[name].split(" ")[0].rstrip(",")) for name in parts}
            captured = counts.pop("captured")
            assert captured == sum(counts.values())
            verdicts = [row["verdict"] for row in page.table("candidate-table")]
            assert captured == len(verdicts)
            assert {name: verdicts.count(name.split(",")[0]) for name in counts} == counts
            arm, instance, seed = page.text("#run-name").strip().split(" · ")
            row = envelopes.filter(arm=arm, instance=instance, seed=int(seed.removeprefix("seed "))).row(0, named=True)
            both = int(facts["rejected"].partition("(")[2].split(" ")[0] or 0)
            assert (row["rejected"], row["late"]) == (counts["rejected"], counts["late, not rejected"] + both)
            late_and_rejected += both
    assert late_and_rejected > 0
