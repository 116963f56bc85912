import numpy as np
import polars as pl
import pytest

from gapline.contract.tables import RunKey
from gapline.errors import UsageError
from gapline.report.figures.gap_area import area_figure
from gapline.report.figures.study import example_run
from report.report_studies import by_hand, synthetic


def test_the_area_of_one_run_is_its_score():
    study = synthetic()
    run = example_run(study)
    figure = area_figure(study.envelopes, study.references[0].snapshot, run)
    time, gap = figure.data["time"].to_numpy(), figure.data["gap"].to_numpy()
    area = float(np.sum(np.diff(time) * gap[:-1])) / time[-1]
    assert area == pytest.approx(figure.score, abs=1e-12)
    row = study.scores[0].frame.row(
        by_predicate=(pl.col("arm") == run.arm) & (pl.col("instance") == run.instance) & (pl.col("seed") == run.seed),
        named=True,
    )
    assert figure.score == row["squeezed"]
    assert row["beaten"]
    with pytest.raises(UsageError, match="matches none"):
        area_figure(study.envelopes, study.references[0].snapshot, RunKey("nobody", "x", 1))


def test_an_empty_run_is_drawn_at_one_throughout():
    study = by_hand()
    figure = area_figure(study.envelopes, study.references[0].snapshot, RunKey("b", "i", 2))
    assert figure.data.rows() == [(0.0, 1.0), (10.0, 1.0)]
    assert figure.score == 1.0


def test_a_negative_score_has_a_minus_sign_and_names_keep_their_hyphens():
    study = synthetic()
    run = example_run(study)
    figure = area_figure(study.envelopes, study.references[0].snapshot, run)
    assert figure.score < 0
    assert figure.title == f"{run.arm} on {run.instance}, seed {run.seed}: score −{-figure.score:.4f}"
    assert "-" in run.instance
