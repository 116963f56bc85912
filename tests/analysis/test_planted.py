"""The planted campaign: every table equals what was planted, and a slow recomputation."""

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import gapline as gl
import planted
from gapline.analysis.analyse import analyse
from gapline.scoring.kernels import PAPER_KERNELS
from slow_tables import Tables

WANT = planted.EXPECTED


@pytest.fixture(scope="module")
def made():
    return planted.plant(tier=True)


@pytest.fixture(scope="module")
def analysis(made):
    study = gl.open_study(made.campaign, snapshots=[made.snapshot], contrasts=[("alpha", "beta")], draws=500)
    return analyse(study)


@pytest.fixture(scope="module")
def document(analysis):
    return json.loads(json.dumps(analysis.document(), allow_nan=False))


@pytest.fixture(scope="module")
def slow():
    return Tables()


def test_the_campaign_has_the_papers_shape(made):
    runs = made.campaign.runs
    assert runs.height == WANT["runs"]
    assert runs["instance"].n_unique() == WANT["instances"]
    assert runs["panel"].n_unique() == 10
    assert runs.group_by("arm").len()["len"].to_list() == [1760] * 5


def test_health_counts_what_was_planted(document):
    rows = {row["arm"]: row for row in document["health"]}
    for count in ("rejected", "terminal_invalid", "empty", "late", "crashed"):
        assert {arm: row[count] for arm, row in rows.items()} == WANT[count]
    assert all(row["runs"] == 1760 and row["captured"] == 12 * 1760 and row["unchecked"] == 0 for row in rows.values())
    assert rows["gamma"]["rejected_by_reason"] == {"declared invalid": 109}


def test_no_cell_is_missing(document):
    assert len(document["completeness"]) == 50
    assert all(row["missing"] == 0 for row in document["completeness"])
    assert sum(row["present"] for row in document["completeness"]) == WANT["runs"]


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


def test_reversals_are_those_planted_and_those_of_the_slow_way(document, slow):
    metrics = document["metrics"]
    assert metrics["pairs"] == WANT["pairs"]
    found = {
        (r["panel"], r["a"], r["b"], f"{r['from']['kernel']} {r['from']['reference']}",
         f"{r['to']['kernel']} {r['to']['reference']}", r["out_of_envelope"])
        for r in metrics["reversals"]
    }  # fmt: skip
    assert found == WANT["reversals"]
    assert len(metrics["reversals"]) == len(found)
    readings = [((k, r), (PAPER_KERNELS[0], r)) for k in PAPER_KERNELS[1:] for r in ("frozen", "analysis")]
    readings += [((k, "analysis"), (k, "frozen")) for k in PAPER_KERNELS]
    count = sum(len(slow.reversals(before, after)) for after, before in readings)
    assert count == len(found)


def test_berthold_out_of_its_envelope_is_shown_and_not_ranked(analysis):
    pooled = analysis.metrics.pooled
    frozen = pooled.filter((pl.col("kernel") == "berthold") & (pl.col("reference") == "frozen"))
    assert frozen["score"].null_count() == 0
    assert frozen["rank"].null_count() == 5
    assert dict(frozen.select("arm", "out_of_envelope").iter_rows())["alpha"]
    inside = pooled.filter((pl.col("kernel") == "berthold") & (pl.col("reference") == "analysis"))
    assert dict(inside.select("arm", "rank").iter_rows()) == {
        "alpha": 1, "beta": 2, "gamma": 3, "delta": 4, "sliced": None,
    }  # fmt: skip
    assert analysis.robustness.left_out == ("berthold against frozen: out of its envelope",)


def test_reference_shift_equals_the_slow_one(document, slow):
    references = document["references"]
    assert references["changed"] == WANT["changed"]
    assert references["instances"] == WANT["instances"]
    for row in references["shift"]:
        assert row["from"] == pytest.approx(slow.pooled(row["arm"], row["kernel"], "frozen"), abs=1e-13)
        assert row["to"] == pytest.approx(slow.pooled(row["arm"], row["kernel"], "analysis"), abs=1e-13)
    assert all(row["to"] == 0 for row in references["negative"])


def test_complementarity_selects_what_was_planted(document):
    found = document["complementarity"]
    assert found["pairs"] == 100
    rows = {(r["panel"], r["a"], r["b"]): (r["d_score"], r["d_final"], r["d_attainment"]) for r in found["contrasts"]}
    assert rows.keys() == WANT["contrasts"].keys()
    for key, want in WANT["contrasts"].items():
        for value, expected in zip(rows[key], want, strict=True):
            assert expected is None or value == pytest.approx(expected, abs=1e-12)
    grid = {(g["max_score"], g["min_final"], g["min_attainment"]): g["count"] for g in found["grid"]}
    want = {
        (score, final, attainment): count
        for score, rows in WANT["grid"].items()
        for final, counts in rows.items()
        for attainment, count in zip((0.05, 0.1, 0.2), counts, strict=True)
    }
    assert grid == want


def test_complementarity_equals_the_slow_way(analysis, slow):
    values = slow.references["analysis"]
    pairs = analysis.complementarity.pairs
    for panel in ("Ash large", "Elm large", "Fir large"):
        for a, b in combinations(planted.ARMS, 2):
            row = pairs.filter((pl.col("panel") == panel) & (pl.col("a") == a) & (pl.col("b") == b)).row(0, named=True)
            final = [
                slow.mean_of_panel(
                    arm, panel, lambda run: None if run.best is None else run.best / values[run.instance] - 1
                )
                for arm in (a, b)
            ]
            attained = [
                slow.mean_of_panel(
                    arm,
                    panel,
                    lambda run: float(
                        run.best is not None and run.best - values[run.instance] <= 0.01 * values[run.instance]
                    ),
                )
                for arm in (a, b)
            ]
            means = slow.panel_means("squeezed", "analysis")
            assert row["d_score"] == pytest.approx(abs(means[a, panel] - means[b, panel]), abs=1e-13)
            assert row["d_final"] == pytest.approx(abs(final[0] - final[1]), abs=1e-12)
            assert row["d_attainment"] == pytest.approx(abs(attained[0] - attained[1]), abs=1e-13)


def test_horizon_sweep_equals_scoring_at_that_horizon(analysis, slow):
    sweep = analysis.horizon
    for arm in planted.ARMS:
        for horizon in (3.0, 40.0, 333.0, 1024.0):
            want = slow.pooled(arm, "squeezed", "frozen", horizon)
            assert float(sweep.curves[arm].at(horizon)) == pytest.approx(want, abs=1e-12)


def test_robustness_counts_agree_with_its_verdicts(analysis, document):
    part = analysis
    assert [row["choices"] for row in document["robustness"]] == [41]
    verdicts = part.robustness.verdicts
    assert verdicts.height == 41
    assert verdicts["choice"].n_unique() == 41
    row = document["robustness"][0]
    assert row["holds"] == int((verdicts["verdict"] == "holds").sum())
    assert row["flips"] == len(row["flipped_by"])
    assert row["holds"] + row["ties"] + row["flips"] == 41


def test_contrasts_are_signed_and_only_declared_ones_are_adjusted(document, slow):
    rows = {(row["a"], row["b"]): row for row in document["contrasts"]}
    assert len(rows) == 6
    for (a, b), row in rows.items():
        want = slow.pooled(a, "squeezed", "frozen") - slow.pooled(b, "squeezed", "frozen")
        assert row["difference"] == pytest.approx(want, abs=1e-13)
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["declared"] is ((a, b) == ("alpha", "beta"))
        assert (row["p_holm"] is not None) is row["declared"]


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
