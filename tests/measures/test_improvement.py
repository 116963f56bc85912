"""Probability of improvement and interquartile mean equal rliable's; intervals equal a slow twin's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gapline.errors import UsageError
from gapline.measures.compared_arms import Compared, compare_cells
from gapline.measures.improvement import (
    arm_averages,
    improvement_chances,
    interquartile_mean,
    interquartile_means,
    probability_of_improvement,
)
from gapline.statistics.cells import TIE, CellIndex
from gapline.statistics.estimate import panel_equal
from gapline.statistics.intervals import draw_counts
from measures.compared_runs import random_scores, scores_of

# Scores that tie, some of them by the last digit that counts, and one that overflows.
NEAR = [0.0, 0.25, 0.25 + 1e-12, 0.25 + 2e-12, 0.25 - 1e-12, 0.5, -0.125, math.inf]


@pytest.mark.slow
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_equal_to_rliable(seed, ties):
    from rliable import metrics

    compared, values = random_scores(seed, arms=3, instances=5, seeds=4, ties=ties)
    runs = np.round(values.transpose(0, 2, 1), 9)
    for a in range(3):
        for b in range(3):
            # rliable counts larger scores as better.
            want = metrics.probability_of_improvement(-runs[a], -runs[b])
            pair = (f"a{a}", f"a{b}")
            assert probability_of_improvement(compared, [pair], weighting="instance")[0].value == pytest.approx(
                want, abs=1e-12
            )
    found = dict(arm_averages(compared, draws=10).frame.select("arm", "iqm").iter_rows())
    assert [found[f"a{a}"] for a in range(3)] == pytest.approx([metrics.aggregate_iqm(r) for r in runs], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 101])
def test_a_quarter_rounded_down_is_cut_off_at_each_end(size):
    from rliable import metrics

    values = np.random.default_rng(size).standard_normal(size)
    assert interquartile_mean(values) == pytest.approx(metrics.aggregate_iqm(values), abs=1e-12)


@pytest.mark.slow
def test_intervals_are_those_of_instances_drawn_with_their_runs_inside_their_panels():
    from rliable import metrics

    compared, values = random_scores(4, arms=2, instances=6, seeds=3, panels=2)
    strata = compared.cells.panel
    counts = draw_counts(strata, draws=300, seed=7).astype(int)
    position = [int(name[1:]) for _, name in compared.cells.units]
    slow_iqm = []
    for row in counts:
        drawn = [position[u] for u in range(6) for _ in range(row[u])]
        slow_iqm.append(metrics.aggregate_iqm(values[0, drawn]))
    table = arm_averages(compared, draws=300, seed=7, level=0.9).frame
    # Six instances in two panels: four degrees of freedom, and a third of the variance to be put back.
    reach = stats.t.ppf(0.95, 4) * np.std(slow_iqm, ddof=1) * np.sqrt(6 / 4)
    middle = metrics.aggregate_iqm(values[0])
    assert table.row(0)[2:4] == pytest.approx((middle - reach, middle + reach), abs=1e-9)


@pytest.mark.slow
def test_the_interval_of_a_probability_is_that_of_a_mean_over_instances():
    from rliable import metrics

    compared, values = random_scores(4, arms=2, instances=12, seeds=3, panels=2)
    position = [int(name[1:]) for _, name in compared.cells.units]
    met = [metrics.probability_of_improvement(-values[0, d][:, None], -values[1, d][:, None]) for d in position]
    want = panel_equal(np.array(met), compared.cells.panel, draws=9).interval(level=0.9)
    (found,) = probability_of_improvement(compared, [("a0", "a1")], level=0.9)
    assert (found.low, found.high) == pytest.approx((max(0.0, want[0]), min(1.0, want[1])), abs=1e-12)


def test_three_instances_that_agree_are_no_certainty():
    table = {"a": {"i": [0.6], "j": [0.6], "k": [0.6]}, "b": {"i": [0.7], "j": [0.7], "k": [0.8]}}
    assert probability_of_improvement(compare_cells(scores_of(table)), [("a", "b"), ("b", "a")]) == [
        (1.0, None, None),
        (0.0, None, None),
    ]


def test_ties_are_half_and_empty_runs_lose():
    """a meets b four times: 0.6 < 0.7 and 1, 0.7 = 0.7 and < 1, so 3.5 of 4."""
    compared = compare_cells(scores_of({"a": {"i": [0.6, 0.7]}, "b": {"i": [0.7, 1]}}))
    assert improvement_chances(compared)[0, 1].tolist() == [3.5 / 4]
    assert probability_of_improvement(compared, [("a", "b")]) == [(3.5 / 4, None, None)]


def test_arms_without_a_common_instance_have_no_probability():
    compared = compare_cells(scores_of({"a": {"i": [0.6]}, "b": {"j": [0.7]}, "c": {"i": [0.6], "j": [0.6]}}))
    found = probability_of_improvement(compared, [("a", "b"), ("a", "c"), ("b", "c")])
    assert [one.value for one in found] == [None, 0.5, 0.0]


def test_run_equal_weighting_is_instance_equal_here():
    table = {"a": {"i": [0.6, 0.6, 0.6], "j": [0.8]}, "b": {"i": [0.7], "j": [0.7]}}
    compared = compare_cells(scores_of(table))
    assert probability_of_improvement(compared, [("a", "b")], weighting="run")[0].value == 0.5


def test_the_geometric_mean_of_scores_by_hand():
    """Panels p: 0.6, 0.8 and q: 0.7, with shift 1: exp((ln 1.6 + ln 1.8) / 4 + ln 1.7 / 2) - 1."""
    scores = scores_of({"a": {"i": [0.6], "j": [0.8], "k": [0.7]}}, panels={"k": "q"})
    want = math.exp((math.log(1.6) + math.log(1.8)) / 4 + math.log(1.7) / 2) - 1
    assert arm_averages(scores, draws=10).frame["geometric_score"][0] == pytest.approx(want, abs=1e-12)
    instance = math.exp((math.log(1.6) + math.log(1.8) + math.log(1.7)) / 3) - 1
    found = arm_averages(scores, weighting="instance", draws=10)
    assert found.frame["geometric_score"][0] == pytest.approx(instance, abs=1e-12)
    assert "score + 1, minus 1" in found.caption()
    with pytest.raises(UsageError, match=r"positive number, got 0\.0"):
        arm_averages(scores, shift=0.0)


def test_the_interval_of_an_average_needs_spread_and_stays_within_the_range_of_the_kernel():
    """Two of three instances are empty: by the draws alone the interval would end above 1."""
    wide = {"i": [0.5], "j": [1], "k": [1]}
    rows = arm_averages(scores_of({"a": wide, "b": {name: [0.7] for name in wide}}), draws=200).frame.rows_by_key("arm")
    ((_, low, high, _),) = rows["a"]
    assert (low < 0.5, high) == (True, 1.0)
    assert rows["b"][0][1:3] == (None, None)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from(NEAR)), min_size=1))
def test_chances_equal_those_of_every_run_meeting_every_other(runs):
    """Also at the edge of a tie, and where a score overflows: infinity neither beats nor ties with itself."""
    arm, unit, values = (np.array(column) for column in zip(*runs, strict=True))
    cells = CellIndex(("a", "b", "c"), ("p",), tuple(("p", name) for name in "ijkl"), arm, unit, np.zeros(4, np.int64))
    wins, met = np.zeros((3, 3, 4)), np.zeros((3, 3, 4))
    with np.errstate(invalid="ignore"):
        for a, u, x in zip(arm, unit, values, strict=True):
            for b, v, y in zip(arm, unit, values, strict=True):
                if u == v:
                    wins[a, b, u] += 1.0 if x - y < -TIE else 0.5 if x - y <= TIE else 0.0
                    met[a, b, u] += 1
        wanted = wins / met
        found = improvement_chances(Compared(None, cells, values, cells.instance_means(values)))
    assert np.array_equal(found, wanted, equal_nan=True)


def slow_interquartile_mean(values, unit, counts):
    """Repeat every value as often as its unit was drawn, and walk through them one draw at a time."""
    total = sum(counts[u] for u in unit)
    cut, seen, kept = math.floor(total / 4), 0.0, 0.0
    for k in np.argsort(values, kind="stable"):
        before, seen = seen, seen + counts[unit[k]]
        inside = min(seen, total - cut) - max(before, cut)
        if inside > 0:
            kept += inside * values[k]
    return kept / (total - 2 * cut)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-1, 1)), min_size=1, max_size=30),
    st.integers(1, 300),
    st.integers(0, 9),
)
def test_all_draws_together_equal_one_after_the_other(runs, draws, seed):
    unit, values = (np.array(column) for column in zip(*runs, strict=True))
    counts = np.random.default_rng(seed).integers(0, 4, (draws, 5)).astype(np.float64) + 0.0
    counts[:, unit[0]] += 1
    found = interquartile_means(values, counts, unit)
    assert found.tolist() == [slow_interquartile_mean(values, unit, row) for row in counts]
