"""Metric sensitivity: saturated runs and signs as the decimals say, not as the last bit does."""

import polars as pl
import pytest

import gapline as gl
from gapline.study.analyse import analyse
from gapline.study.readings import build_readings
from gapline.study.sensitivity import metric_sensitivity, reference_sensitivity
from planted import EXPECTED as WANT
from study.edge_runs import run


def readings_of(runs, references, **choices):
    """Read runs given as (arm, instance, objective from time 0 on)."""
    campaign = gl.Campaign.from_runs(
        {"arm": arm, "instance": instance, "seed": 1, "horizon": 10, "trace": [(0, z)]} for arm, instance, z in runs
    )
    snapshots = {name: gl.Snapshot.from_values(values, name=name) for name, values in references.items()}
    return build_readings(gl.build_envelopes(campaign), snapshots, **choices)


@pytest.mark.parametrize("kernel", ["dimacs:1.1", "dimacs:1.01"])
def test_the_same_percentage_is_saturated_in_every_unit(kernel):
    """At θ itself nothing is accepted: 11 against 10, 110 against 100, 1.1 against 1."""
    theta = float(kernel.partition(":")[2])
    scales = {"i": 1.0, "j": 10.0, "k": 100.0, "l": 1000.0}
    runs = [("a", name, float(f"{theta * scale:.6g}")) for name, scale in scales.items()]
    readings = readings_of(runs, {"r": scales}, kernels=["squeezed", kernel])
    assert metric_sensitivity(readings).saturated.rows() == [(kernel, "r", 4, 4)]
    assert readings.scores[0][:, 1].tolist() == [theta - 1] * 4


def test_a_score_within_the_tolerance_is_zero_on_both_sides():
    runs = [("a", "i", 10 * (1 - 1e-12)), ("b", "i", 10 * (1 + 1e-12)), ("c", "i", 9.0), ("d", "i", 10.0)]
    readings = readings_of(runs, {"r": {"i": 10.0}}, kernels=["squeezed"])
    assert metric_sensitivity(readings).signs.rows() == [("squeezed", "r", 1, 3, 0, 4)]
    assert readings.beaten[0].tolist() == [False, False, True, False]
    assert reference_sensitivity(readings).negative["to"].to_list() == [0, 0, 1, 0]


def test_the_tolerance_is_the_studys():
    runs = [("a", "i", 9.99), ("b", "i", 10.95)]
    references = {"r": {"i": 10.0}, "later": {"i": 9.995}}
    for tolerance, below, saturated, changed in ((1e-9, 1, 0, 1), (0.01, 0, 1, 0)):
        readings = readings_of(runs, references, kernels=["squeezed", "dimacs:1.1"], tolerance=tolerance)
        found = metric_sensitivity(readings)
        assert found.signs.filter(kernel="squeezed", reference="r")["negative"].to_list() == [below]
        assert found.saturated.filter(reference="r")["runs"].to_list() == [saturated]
        assert reference_sensitivity(readings).changed == changed


def test_counts_by_arm_add_up_and_ratios_exist_of_positive_means_alone():
    """Against 10: 11 and 30 score 1/21 and 1/2 squeezed, 1/11 and 2/3 in max form; 8 scores -1/9 and -1/5."""
    runs = [("a", "i", 11.0), ("b", "i", 30.0), ("c", "i", 8.0)]
    found = metric_sensitivity(readings_of(runs, {"r": {"i": 10.0}}, kernels=["squeezed", "maxform", "dimacs:1.2"]))
    counts = found.runs.select("arm", "kernel", "runs", "saturated", "negative", "positive").rows()
    assert counts[:3] == [("a", "squeezed", 1, None, 0, 1), ("b", "squeezed", 1, None, 0, 1),
                          ("c", "squeezed", 1, None, 1, 0)]  # fmt: skip
    assert [row[3] for row in counts if row[1] == "dimacs:1.2"] == [0, 1, 0]
    assert found.saturated.rows() == [("dimacs:1.2", "r", 1, 3)]
    ratios = dict(found.ratios.filter(kernel="squeezed").select(pl.format("{} {}", "a", "b"), "ratio").iter_rows())
    assert ratios == {"a b": pytest.approx(10.5), "a c": None, "b c": None}
    own = {row["arm"]: row["ratio"] for row in found.kernel_ratios.filter(kernel="maxform").to_dicts()}
    assert own == {"a": pytest.approx(21 / 11), "b": pytest.approx(4 / 3), "c": None}


def test_pooled_scores_equal_the_slow_ones(document, slow):
    rows = document["metrics"]["pooled"]
    assert len(rows) == 5 * 5 * 2
    for row in rows:
        want = slow.pooled(row["arm"], row["kernel"], row["reference"])
        assert row["score"] == pytest.approx(want, abs=1e-13)


def test_saturated_and_negative_runs_are_those_planted(document, slow):
    saturated = {(row["kernel"], row["reference"]): row["runs"] for row in document["metrics"]["saturated"]}
    assert saturated == WANT["saturated"]
    negative = {(row["kernel"], row["reference"]): row["runs"] for row in document["metrics"]["negative"]}
    assert {key: negative[key] for key in WANT["negative"]} == WANT["negative"]
    for (kernel, reference), count in negative.items():
        values = slow.references[reference]
        assert count == sum(run.score(kernel, values[run.instance]) < 0 for run in slow.runs)


def test_berthold_out_of_its_envelope_is_shown_and_not_ranked(analysis):
    pooled = analysis.metrics.pooled
    frozen = pooled.filter((pl.col("kernel") == "berthold") & (pl.col("reference") == "given"))
    assert frozen["score"].null_count() == 0
    assert frozen["rank"].null_count() == 5
    assert dict(frozen.select("arm", "out_of_envelope").iter_rows())["alpha"]
    inside = pooled.filter((pl.col("kernel") == "berthold") & (pl.col("reference") == "analysis"))
    assert dict(inside.select("arm", "rank").iter_rows()) == {
        "alpha": 1, "beta": 2, "gamma": 3, "delta": 4, "sliced": None,
    }  # fmt: skip
    assert analysis.robustness.left_out == ("berthold against given: out of its envelope",)


def test_a_saturated_run_scores_as_an_empty_one():
    """At exactly theta·z* a candidate is not accepted; a better one at the horizon is, and changes no score."""
    rows = [
        run("a", "i", 1, [(1, 11.0)]),
        run("a", "i", 2, [(10, 10.9)]),
        run("a", "i", 3, []),
        run("a", "i", 4, [(9.99, 10.9)]),
    ]
    campaign = gl.Campaign.from_runs(rows)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    document = analyse(gl.open_study(campaign, snapshots=[snapshot], draws=5)).document()
    counts = {(row["kernel"], row["reference"]): row["runs"] for row in document["metrics"]["saturated"]}
    assert counts["dimacs:1.1", "given"] == 3
    assert counts["dimacs:2", "given"] == 2
