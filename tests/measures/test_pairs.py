"""The table of pairs: each number is that of its own function; Holm over the declared contrasts alone."""

import polars as pl
import pytest
from scipy import stats

from gapline.measures.compared_arms import compare_cells
from gapline.measures.pairs import neighbour_pairs
from gapline.measures.ranks import mean_ranks
from measures.compared_runs import random_scores, scores_of


@pytest.mark.slow
def test_holm_over_the_declared_contrasts_alone():
    from statsmodels.stats.multitest import multipletests

    compared, values = random_scores(6, arms=4, instances=12)
    declared = [("a2", "a0"), ("a1", "a3")]
    found = neighbour_pairs(compared, declared=declared)
    assert found.frame.height == 6
    assert found.frame.filter("declared").select("a", "b").rows() == declared
    means = values.mean(axis=2)
    p = [stats.wilcoxon(means[int(a[1])], means[int(b[1])]).pvalue for a, b in declared]
    assert found.frame["p"].to_list()[:2] == pytest.approx(p, rel=1e-9)
    assert found.frame["p_holm"].to_list()[:2] == pytest.approx(multipletests(p, method="holm")[1].tolist(), rel=1e-9)
    assert found.frame.filter(~pl.col("declared"))["p_holm"].null_count() == 4
    assert "Holm over 2 declared contrasts, 4 exploratory" in found.caption()


@pytest.mark.slow
def test_nemenyi_and_areas_stand_beside_their_own_pair():
    compared, _ = random_scores(6, arms=3, instances=12)
    ranks = mean_ranks(compared)
    areas = pl.DataFrame(
        [("a0", "a1", 0.1, 0.2, 0.3), ("a0", "a2", 0.4, 0.5, 0.6), ("a1", "a2", 0.7, 0.8, 0.9)],
        schema=["a", "b", "signed", "absolute", "ahead"], orient="row",
    )  # fmt: skip
    found = neighbour_pairs(compared, ranks=ranks, areas=areas)
    assert found.frame.filter(a="a0", b="a2").select("signed_area", "absolute_area", "ahead").row(0) == (0.4, 0.5, 0.6)
    known = {(row["a"], row["b"]): row["p"] for row in ranks.document()["nemenyi"]}
    for row in found.frame.iter_rows(named=True):
        p = known.get((row["a"], row["b"]), known.get((row["b"], row["a"])))
        assert row["nemenyi_p"] == p


def test_too_few_instances_ties_and_nothing_in_common_are_said():
    table = {
        "a": {"i": [0.6], "j": [0.6], "k": [0.6]}, "b": {"i": [0.7], "j": [0.8], "k": [0.9]},
        "c": {"i": [0.6], "j": [0.6], "k": [0.6]}, "d": {"l": [0.6]},
    }  # fmt: skip
    frame = neighbour_pairs(compare_cells(scores_of(table)), declared=[("a", "d")]).frame
    assert ("b", "d") not in frame.select("a", "b").rows()
    words = {(a, b): (p, reason) for a, b, p, reason in frame.select("a", "b", "p", "reason").iter_rows()}
    assert words["a", "b"] == (0.25, "3 instances that differ cannot give p below 0.25")
    assert words["a", "c"] == (None, "tied on every instance")
    assert words["a", "d"] == (None, "no instance that both arms ran")
    assert frame.filter(a="a", b="d")["improvement"].to_list() == [None]
