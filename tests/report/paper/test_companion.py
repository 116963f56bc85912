from fractions import Fraction

import polars as pl
import pytest

from gapline.report.paper.examples import HORIZON, PAIR, REFERENCE, companion_figure


def test_the_pair_has_exactly_equal_scores():
    def area(trace):
        ends = [Fraction(t) for t, _ in trace[1:]] + [Fraction(HORIZON)]
        star = Fraction(REFERENCE)
        return sum(
            (Fraction(z) - star) / (Fraction(z) + star) * (end - Fraction(t))
            for (t, z), end in zip(trace, ends, strict=True)
        )

    assert [area(trace) / Fraction(HORIZON) for trace in PAIR.values()] == [Fraction(1, 15), Fraction(1, 15)]
    figure = companion_figure()
    assert figure.ends["score"].to_list() == pytest.approx([1 / 15, 1 / 15], abs=1e-15)
    assert figure.ends["final_gap"].to_list() == pytest.approx([0.1, 0.0])
    hits = {
        (r["series"], r["goal"]): r["time"]
        for r in figure.attained.filter((pl.col("value") == 1) & (pl.col("time") < HORIZON)).iter_rows(named=True)
    }
    early, late = PAIR
    assert hits == {(early, 0.1): 2.0, (late, 0.1): 8.0, (late, 0.05): 15.0}
