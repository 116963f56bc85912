"""Complementarity: what was planted is selected, and the slow way selects the same."""

from itertools import combinations

import polars as pl
import pytest

import planted
from planted import EXPECTED as WANT


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
