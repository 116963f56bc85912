"""Every result shows itself in a notebook, in short in a terminal, and is a table for every library."""

from functools import cache

import pandas as pd
import polars as pl
import pytest

import gapline as gl
from gapline.contract import result_table

RUNS = [
    {"arm": arm, "instance": instance, "seed": seed, "horizon": 10.0, "trace": [(1.0 + shift, 12.0), (3.0, 11.0)]}
    for shift, arm in enumerate(["a", "<b>"])
    for instance in ("i", "j")
    for seed in (1, 2)
]
VALUES = {"i": 10.0, "j": 10.0}


@cache
def results():
    campaign = gl.Campaign.from_runs(RUNS)
    envelopes, snapshot = gl.build_envelopes(campaign), gl.Snapshot.from_values(VALUES, name="<m>")
    scores, study = gl.score(envelopes, snapshot), gl.open_study(campaign, snapshots=snapshot)
    analysis = gl.analyse(study)
    found = [
        campaign, envelopes, snapshot, scores, study, analysis, gl.summarise(scores), gl.Bootstrap(scores, draws=100),
        gl.contrasts(scores), gl.ranking(scores), gl.mean_curve(envelopes, snapshot),
        gl.attainment_curve(envelopes, snapshot), gl.complementarity(envelopes, snapshot),
        gl.horizon_sweep(envelopes, snapshot), gl.power_table(scores, pairs=[("a", "<b>")]), study.intervals,
        analysis.metrics, analysis.references, analysis.robustness, analysis.cutoffs, analysis.health,
    ]  # fmt: skip
    return {type(result).__name__: result for result in found}


NAMES = (
    "Campaign", "Envelopes", "Snapshot", "Scores", "Study", "Analysis", "Summary", "Bootstrap", "Contrasts", "Ranking",
    "MeanCurves", "AttainmentCurves", "Complementarity", "HorizonSweep", "PowerTable", "ArmIntervals",
    "MetricSensitivity", "ReferenceSensitivity", "Robustness", "CutoffSweep", "Health",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_a_table_for_everybody(name):
    import pyarrow as pa

    result = results()[name]
    frame = result.to_polars()
    assert isinstance(frame, pl.DataFrame)
    assert frame.height
    assert pl.DataFrame(result).equals(frame)
    assert pa.table(result).num_rows == frame.height
    theirs = result.to_pandas()
    assert isinstance(theirs, pd.DataFrame)
    assert (list(theirs.columns), len(theirs)) == (frame.columns, frame.height)
    shown_there = result._repr_html_()
    assert "<table" in shown_there
    assert not any(markup in shown_there for markup in ("<b>", "<m>"))
    assert result.caption()
    assert "\n" not in result.caption()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_one_line_and_print_shows_a_table_below_it(name):
    result = results()[name]
    words = repr(result)
    assert words.startswith(f"{name}(")
    assert "\n" not in words
    assert len(words) < 350
    if hasattr(result, "frame"):
        assert str(result) == f"{result.caption()}\n{result.frame}".lstrip()


def test_pandas_gets_the_same_without_pyarrow(monkeypatch):
    scores = results()["Scores"]
    whole = scores.to_pandas()
    monkeypatch.setattr(result_table, "find_spec", lambda name: None if name == "pyarrow" else object())
    pd.testing.assert_frame_equal(scores.to_pandas(), whole, check_dtype=False)


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(result_table, "find_spec", lambda _: None)
    with pytest.raises(gl.GaplineError, match="pip install pandas"):
        results()["Scores"].to_pandas()
