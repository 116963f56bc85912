"""Contrasts: Holm as statsmodels has it, declared against exploratory, wins and ties."""

import warnings
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import UsageError
from gapline.statistics.bootstrap import Bootstrap
from gapline.statistics.contrasts import contrasts, holm
from profiles import examples
from summary_cases import boot_of


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=examples(60), deadline=None)
def test_holm_equals_statsmodels(values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        multitest = pytest.importorskip("statsmodels.stats.multitest")
    # Theirs collects garbage in every call, which takes a second beside eight thousand tests.
    with patch("gc.collect"):
        want = multitest.multipletests(values, method="holm")[1]
    assert np.allclose(holm(values), want, atol=1e-15)


def test_only_declared_contrasts_are_adjusted():
    rng = np.random.default_rng(1)
    boot = boot_of(
        {arm: (rng.random(12) + shift).tolist() for arm, shift in (("a", 0), ("b", 0.1), ("c", 2), ("d", 4))}
    )
    frame = contrasts(boot, declared=[("b", "a"), ("a", "c")]).frame
    assert frame.filter("declared").select("a", "b").rows() == [("b", "a"), ("a", "c")]
    assert frame.height == 6
    declared = frame.filter("declared")
    assert declared["p_holm"].to_list() == pytest.approx(holm(declared["p"].to_numpy()).tolist())
    assert frame.filter(~pl.col("declared"))["p_holm"].null_count() == 4
    assert contrasts(boot, method="percentile").frame["p"].min() >= 1 / 501


def test_difference_is_a_minus_b_in_score_units():
    frame = contrasts(boot_of({"a": [1, 2, 3], "b": [3, 2, 7]}), declared=[("a", "b")]).frame
    row = frame.row(0, named=True)
    assert row["difference"] == pytest.approx(-2 / 20)
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 0)
    assert row["mean_a"] - row["mean_b"] == pytest.approx(row["difference"])


def test_wrong_declarations_are_refused():
    boot = boot_of({"a": [1, 2], "b": [3, 2]})
    with pytest.raises(UsageError, match="twice"):
        contrasts(boot, declared=[("a", "a")])
    with pytest.raises(UsageError, match="each declared pair once"):
        contrasts(boot, declared=[("a", "b"), ("b", "a")])
    with pytest.raises(UsageError, match="matches no run"):
        contrasts(boot, declared=[("a", "x")])


def test_arms_without_a_common_instance_have_a_reason():
    boot = boot_of({"a": [1.0, 2.0], "b": [1.0]})
    assert len(contrasts(boot)) == 0
    pair = [("a", "b")]
    assert contrasts(boot, exploratory=pair).frame.row(0, named=True)["reason"].startswith("one instance alone")
    runs = [{"arm": a, "instance": i, "seed": 1, "horizon": 10, "trace": []} for a, i in (("a", "i"), ("b", "j"))]
    snapshot = gl.Snapshot.from_values({"i": 1.0, "j": 1.0}, name="mine")
    boot = Bootstrap(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot), draws=5)
    row = contrasts(boot, exploratory=pair).frame.row(0, named=True)
    assert (row["difference"], row["low"], row["p"]) == (None, None, None)
    assert row["reason"] == "no instance that all of these arms ran"
