"""Unbalanced panels, one-instance panels, only empty runs, ties, one seed, one arm: an answer or a reason, no NaN."""

import json

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.analysis.analyse import analyse
from gapline.analysis.health import completeness, health, ladder_columns
from gapline.errors import UsageError


def run(arm, instance, seed, trace, *, panel="p", **more):
    return {"arm": arm, "panel": panel, "instance": instance, "seed": seed, "horizon": 10.0, "trace": trace} | more


CASES = {
    "unbalanced": [
        run("a", "i", 1, [(1, 12.0)]), run("a", "i", 2, [(2, 12.0)]), run("a", "j", 1, [(1, 15.0)]),
        run("b", "i", 1, [(3, 11.0)]), run("b", "k", 1, [(3, 11.0)], panel="q"),
    ],
    "one instance per panel": [run(a, i, s, [(s, 20.0)], panel=i) for a in "ab" for i in "ij" for s in (1, 2)],
    "only empty runs in one arm": [run("a", i, 1, []) for i in "ij"] + [run("b", i, 1, [(1, 11.0)]) for i in "ij"],
    "only empty runs": [run(a, i, 1, []) for a in "ab" for i in "ij"],
    "ties": [run(a, i, s, [(1, 12.0)]) for a in "ab" for i in "ij" for s in (1, 2)],
    "one seed": [run(a, i, 1, [(k + 1, 12.0 + k)]) for k, a in enumerate("ab") for i in "ijk"],
    "one arm": [run("a", i, s, [(s, 12.0)]) for i in "ij" for s in (1, 2)],
    "one run": [run("a", "i", 1, [(1, 12.0)])],
    "no common instance": [run("a", "i", 1, [(1, 12.0)]), run("b", "j", 1, [(1, 12.0)])],
    "overflow": [run("a", "i", 1, [(1, 1e308)]), run("b", "i", 1, [(1, 12.0)]),
                 run("a", "j", 1, []), run("b", "j", 1, [])],
    "reference beaten at once": [run(a, i, 1, [(0, 5.0)]) for a in "ab" for i in "ij"],
}  # fmt: skip


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
    arms = len({r["arm"] for r in CASES[case]})
    assert len(document["robustness"]) == arms * (arms - 1) // 2
    if case == "ties":
        assert document["robustness"][0]["text"].startswith("tied at the baseline")
        assert document["metrics"]["pairs"] == 0
    if case == "unbalanced":
        assert any("unbalanced" in note for note in study.notes())
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


def test_health_follows_a_ladder():
    rows = [run("a", "i", s, [(1, 5.0, s % 2 == 0)], slices=24 * (s % 2 + 1)) for s in range(4)]
    campaign = gl.Campaign.from_runs(rows)
    envelopes = gl.build_envelopes(campaign)
    assert ladder_columns(envelopes.runs) == ["slices"]
    frame = health(campaign, envelopes, by=["arm", "slices"]).frame
    assert frame.select("slices", "runs", "rejected", "terminal_invalid", "empty").rows() == [
        (24, 2, 0, 0, 0), (48, 2, 2, 2, 2),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="columns of the runs table"):
        health(campaign, envelopes, by="colour")


def test_health_counts_rejections_by_reason_also_after_a_filter():
    from gapline.capture.assemble import RunTrace, campaign_from_traces

    traces = [
        RunTrace("a", "i", 1, [1.0, 2.0], [5.0, 4.0], verdict=[0, 0], horizon=9.0, reason=["capacity", "time window"]),
        RunTrace("a", "j", 1, [1.0, 2.0], [5.0, 4.0], verdict=[0, 1], horizon=9.0, reason=["capacity", ""]),
        RunTrace("b", "i", 1, [1.0], [5.0], verdict=[1], horizon=9.0),
    ]
    whole = campaign_from_traces(traces)
    found = health(whole, gl.build_envelopes(whole))
    assert found.reasons.rows() == [("a", "capacity", 2), ("a", "time window", 1)]
    part = whole.filter(instance="j")
    assert health(part, gl.build_envelopes(part)).reasons.rows() == [("a", "capacity", 1)]
    with pytest.raises(UsageError, match="other runs"):
        health(whole, gl.build_envelopes(part))


def test_completeness_names_the_missing_cells():
    campaign = gl.Campaign.from_runs(CASES["unbalanced"])
    study = gl.open_study(campaign, policy="analysis")
    frame = completeness(study.cells, study.envelopes.runs)
    rows = {(row["arm"], row["panel"]): row for row in frame.to_dicts()}
    assert (rows["a", "p"]["expected"], rows["a", "p"]["present"]) == (3, 3)
    assert (rows["b", "p"]["present"], rows["b", "p"]["missing"]) == (1, 2)
    assert (rows["a", "q"]["present"], rows["a", "q"]["missing"]) == (0, 1)


def test_a_saturated_run_is_one_without_an_accepted_candidate():
    """At exactly theta·z* a candidate is not accepted; a better one at the horizon is, though it has no width."""
    rows = [run("a", "i", 1, [(1, 11.0)]), run("a", "i", 2, [(10, 10.9)]), run("a", "i", 3, [])]
    campaign = gl.Campaign.from_runs(rows)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    document = analyse(gl.open_study(campaign, snapshots=[snapshot], draws=5)).document()
    counts = {(row["kernel"], row["reference"]): row["runs"] for row in document["metrics"]["saturated"]}
    assert counts["dimacs:1.1", "frozen"] == 2
    assert counts["dimacs:2", "frozen"] == 1


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


def test_robustness_names_the_horizon_at_which_a_contrast_flips():
    rows = [run("early", i, 1, [(1, 30.0)]) for i in "ij"] + [run("late", i, 1, [(4, 10.0)]) for i in "ij"]
    campaign = gl.Campaign.from_runs(rows)
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="mine")
    part = analyse(gl.open_study(campaign, snapshots=[snapshot], draws=5))
    row = part.robustness.summary.row(0, named=True)
    assert row["better"] == "late"
    assert "flips at horizon < 7 s" in row["text"]
    flipped = part.robustness.verdicts.filter((pl.col("factor") == "horizon") & (pl.col("verdict") == "flips"))
    # Horizons 1.5 to 6.5 in steps of 0.5: before 1 s both have nothing, at 7 s they are equal.
    assert flipped.height == 11
    assert np.isclose(part.horizon.swaps_of("early", "late")[0].horizon, 7.0)


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
    pooled = part.metrics.pooled.filter((pl.col("kernel") == "squeezed") & (pl.col("reference") == "frozen"))
    assert dict(pooled.select("arm", "score").iter_rows()) == means
    row = part.robustness.summary.row(0, named=True)
    assert row["better"] == "late"
    choices_made = set(part.robustness.verdicts.filter(pl.col("factor") == "weighting")["choice"])
    assert choices_made == {"panel-equal", "instance-equal"}
    assert "uniform" in set(part.robustness.verdicts.filter(pl.col("factor") == "weight")["choice"])
    # At a horizon of 9.5 s the declared weight has half a second left, in which the late arm leads.
    assert part.robustness.verdicts.filter(pl.col("choice") == "9.5 s")["verdict"].to_list() == ["holds"]
    assert "horizon 0.5 s: no weight of steps:0=0,9=1 is left before it" in part.robustness.left_out
