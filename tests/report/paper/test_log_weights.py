import polars as pl
import pytest

from gapline.report.paper.examples import PAIR, WORKED
from gapline.report.paper.log_weights import weight_figure


def test_the_early_cutoff_turns_the_sign_of_run_3():
    scores = weight_figure("early-log", WORKED).scores
    run = dict(scores.filter(pl.col("series") == "Run 3").select("weight", "value").iter_rows())
    assert run["uniform"] < 0 < run["early-log:0.01"]
    assert run["early-log:0.01"] > run["early-log:0.1"] > run["early-log:1"]


def test_end_weights_pull_to_the_final_gap_and_part_equal_scores():
    worked, pair = (weight_figure("end-log", traces) for traces in (WORKED, PAIR))
    run = worked.sweep.filter(pl.col("series") == "Run 3").sort("cutoff")["value"]
    assert run[0] == pytest.approx(-1 / 3, abs=0.06)
    assert run.is_sorted()
    early, late = PAIR
    at = dict(pair.sweep.filter(pl.col("cutoff") == 0.01).select("series", "value").iter_rows())
    assert at[late] < at[early]
    uniform = dict(pair.uniform.iter_rows())
    assert uniform[early] == pytest.approx(uniform[late], abs=1e-15)
