"""The planted campaign: every table equals what was planted, and a slow recomputation."""

import json

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.study.analyse import analyse
from planted import EXPECTED as WANT
from study.edge_runs import CASES, run


def test_the_campaign_has_the_papers_shape(made):
    runs = made.campaign.runs
    assert runs.height == WANT["runs"]
    assert runs["instance"].n_unique() == WANT["instances"]
    assert runs["panel"].n_unique() == 10
    assert runs.group_by("arm").len()["len"].to_list() == [1760] * 5


@pytest.mark.slow
def test_contrasts_are_signed_and_only_declared_ones_are_adjusted(document, slow):
    rows = {(row["a"], row["b"]): row for row in document["contrasts"]}
    assert len(rows) == 6
    for (a, b), row in rows.items():
        want = slow.pooled(a, "squeezed", "given") - slow.pooled(b, "squeezed", "given")
        assert row["difference"] == pytest.approx(want, abs=1e-13)
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["declared"] is ((a, b) == ("alpha", "beta"))
        assert (row["p_holm"] is not None) is row["declared"]


@pytest.mark.slow
def test_ranking_and_wins(document):
    assert [row["arm"] for row in document["ranking"]] == ["alpha", "beta", "gamma", "delta"]
    assert document["ranking"][0]["wins"] == 212


def test_tables_hold_no_nan(analysis):
    part, drawn = analysis, analysis.study
    frames = [
        part.health.frame, part.completeness, part.metrics.pooled, part.metrics.ratios, part.references.shift,
        part.complementarity.pairs, part.robustness.verdicts, part.neighbours, part.power.frame,
        drawn.intervals.frame, drawn.contrasts.frame, drawn.ranking.frame,
    ]  # fmt: skip
    for frame in frames:
        for column in frame.select(pl.col(pl.Float64)).iter_columns():
            assert np.isfinite(column.drop_nulls().to_numpy()).all(), column.name


@pytest.mark.parametrize("case", CASES)
def test_every_table_answers_or_says_why(case):
    campaign = gl.Campaign.from_runs(CASES[case])
    reference = 1e-308 if case == "overflow" else 10.0
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", reference), name="mine")
    study = gl.open_study(campaign, snapshots=[snapshot], draws=50)
    analysis = analyse(study)
    document = json.loads(json.dumps(analysis.document(), allow_nan=False))
    wanted = {"health", "metrics", "references", "complementarity", "robustness", "contrasts"}
    assert wanted <= document.keys()
    for row in (*document["contrasts"], *document["intervals"]):
        assert (row["low"] is None) == (row["reason"] is not None)
    for row in document["power"]:
        assert row["instances"] is not None or row["reason"]
    arms = len(study.ranked_arms)
    assert len(document["robustness"]) == len(document["contrasts"]) == arms * (arms - 1) // 2
    assert len(document["ranking"]) == arms
    if case == "ties":
        assert document["robustness"][0]["text"].startswith("tied at the baseline")
        assert document["metrics"]["pairs"] == 0
    if case == "unbalanced":
        assert any("missing runs: b (i, seed 2)" in note for note in study.notes())
        assert "no two arms ran the same instances" in study.reading.line()
        assert sum(row["missing"] for row in document["completeness"]) == 3


def test_no_reference_means_the_campaigns_own_best():
    campaign = gl.Campaign.from_runs(CASES["one seed"])
    document = analyse(gl.open_study(campaign, policy="analysis", draws=20)).document()
    assert [row["reference"] for row in document["readings"]] == ["analysis"]
    assert {row["reference"] for row in document["metrics"]["pooled"]} == {"analysis"}
    assert document["references"] is None


def test_several_snapshots_are_called_by_their_names():
    campaign = gl.Campaign.from_runs(CASES["one seed"])
    old = gl.Snapshot.from_values(dict.fromkeys("ijk", 11.0), name="2025")
    new = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0) | {"i": 11.0}, name="2026")
    study = gl.open_study(campaign, snapshots=[old, new], draws=20)
    document = analyse(study).document()
    assert [row["reference"] for row in document["readings"]] == ["2025", "2026", "2025 + campaign"]
    assert document["reading"]["reference"]["name"] == "2025"
    assert (document["references"]["from"], document["references"]["instances"]) == ("2025", 3)


def test_tier_two_arms_are_shown_and_not_compared():
    campaign = gl.Campaign.from_runs([run(a, i, 1, [(k + 1, 12.0)]) for k, a in enumerate("abc") for i in "ij"])
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="mine")
    study = gl.open_study(campaign, snapshots=[snapshot], tier_two=["c"], draws=5)
    part = analyse(study)
    assert part.metrics.pairs == 1
    assert part.complementarity.pairs.height == 3
    assert dict(part.metrics.pooled.select("arm", "tier").iter_rows()) == {"a": 1, "b": 1, "c": 2}
    assert study.ranking.frame["arm"].to_list() == ["a", "b"]
    with pytest.raises(UsageError, match="matches no arm"):
        gl.open_study(campaign, snapshots=[snapshot], tier_two=["d"])


def test_declared_weight_and_weighting_hold_in_every_analysis():
    """Under a weight that sees only the end, the late arm is better at the baseline, and nothing reads otherwise."""
    rows = [run("early", i, 1, [(1, 12.0)]) for i in "ijk"] + [run("late", i, 1, [(8, 10.0)]) for i in "ijk"]
    rows += [run("early", "m", 1, [(1, 12.0)], panel="q"), run("late", "m", 1, [(8, 10.0)], panel="q")]
    campaign = gl.Campaign.from_runs(rows)
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ijkm", 10.0), name="mine")
    choices = {"weight": "steps:0=0,9=1", "weighting": "run", "draws": 5}
    study = gl.open_study(campaign, snapshots=[snapshot], **choices)
    part = analyse(study)
    means = dict(study.summary.frame.select("arm", "squeezed").iter_rows())
    assert means == {"early": pytest.approx(1 / 11), "late": 0.0}
    pooled = part.metrics.pooled.filter((pl.col("kernel") == "squeezed") & (pl.col("reference") == "given"))
    assert dict(pooled.select("arm", "score").iter_rows()) == means
    row = part.robustness.summary.row(0, named=True)
    assert row["better"] == "late"
    choices_made = set(part.robustness.verdicts.filter(pl.col("factor") == "weighting")["choice"])
    assert choices_made == {"panel-equal", "instance-equal"}
    assert "uniform" in set(part.robustness.verdicts.filter(pl.col("factor") == "weight")["choice"])
    # At a horizon of 9.5 s the declared weight has half a second left, in which the late arm leads.
    assert part.robustness.verdicts.filter(pl.col("choice") == "9.5 s")["verdict"].to_list() == ["holds"]
    assert "horizon 0.5 s: no weight of steps:0=0,9=1 is left before it" in part.robustness.left_out


def test_the_horizon_sweep_ends_at_the_means_of_the_declared_reference():
    """The runs beat their reference: against the folded one every curve would end elsewhere."""
    traces = {"a": [(1, 12.0), (4, 8.0)], "b": [(2, 11.0), (6, 9.0)]}
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10.0, "trace": trace} for arm, trace in traces.items()]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="frozen")
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot])
    assert study.folded.snapshot.values["i"].value == 8.0
    ends = {arm: float(curve.at(np.array([10.0]))[0]) for arm, curve in analyse(study).horizon.curves.items()}
    assert ends == pytest.approx(dict(study.summary.frame.select("arm", "squeezed").iter_rows()), abs=1e-15)
