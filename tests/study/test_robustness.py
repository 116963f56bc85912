"""Robustness of a contrast: verdicts, counts and the words for a flip."""

import numpy as np
import polars as pl

import gapline as gl
from gapline.study.analyse import analyse
from study.edge_runs import run


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
