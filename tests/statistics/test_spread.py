"""The split of a pilot's variance, against analysis of variance by statsmodels and against known components."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gapline.statistics.cells import build_cells
from gapline.statistics.spread import pilot_spread


def split(tables, *, seeds=None, second=None):
    """Split runs whose arm `a` scores the table (instances × seeds) of each panel, and `b` the second or nothing."""
    rows = []
    for panel, table in tables.items():
        zero = np.zeros_like(table) if second is None else second[panel]
        for (i, s), value in np.ndenumerate(table):
            number = s if seeds is None else seeds(panel, i, s)
            rows += [("a", panel, f"{panel}{i}", number, value), ("b", panel, f"{panel}{i}", number, zero[i, s])]
    frame = pl.DataFrame(rows, schema=["arm", "panel", "instance", "seed", "score"], orient="row").sample(
        fraction=1, shuffle=True, seed=1
    )
    return pilot_spread(build_cells(frame), frame["seed"].to_numpy(), frame["score"].to_numpy(), "a", "b")


def mean_squares(table, formula):
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rows = [(value, f"i{i}", f"s{s}") for (i, s), value in np.ndenumerate(table)]
    fit = ols(formula, pd.DataFrame(rows, columns=["d", "i", "s"])).fit()
    found = anova_lm(fit)
    return found["sum_sq"] / found["df"], found


@pytest.mark.slow
def test_crossed_seeds_are_a_two_way_table():
    draw = np.random.default_rng(3)
    table = draw.normal(size=(6, 1)) + 0.7 * draw.normal(size=4) + draw.normal(size=(6, 4))
    b = draw.normal(size=(6, 4))
    spread = split({"p": table + b}, second={"p": b})
    squares, found = mean_squares(table, "d ~ i + s")
    rest = squares["Residual"]
    assert spread.rest == pytest.approx([rest])
    assert spread.instance == pytest.approx([(squares["i"] - rest) / 4])
    assert spread.seed == pytest.approx([(squares["s"] - rest) / 6])
    assert spread.seed_p == pytest.approx(found["PR(>F)"]["s"])
    assert (spread.rest_df.tolist(), spread.seeds, spread.counts.tolist()) == ([15.0], 4.0, [6])
    # What is seen between instances is what the t test of the pilot sees.
    assert spread.variances(4) == pytest.approx([np.var(table.mean(axis=1), ddof=1)])


@pytest.mark.slow
def test_seeds_of_their_own_are_a_one_way_table():
    draw = np.random.default_rng(4)
    table = 2 * draw.normal(size=(5, 1)) + draw.normal(size=(5, 3))
    spread = split({"p": table}, seeds=lambda _, i, s: 10 * i + s)
    squares, _ = mean_squares(table, "d ~ i")
    assert (spread.seed, spread.seed_p) == (None, None)
    assert spread.rest == pytest.approx([squares["Residual"]])
    assert spread.instance == pytest.approx([(squares["i"] - squares["Residual"]) / 3])
    assert spread.rest_df.tolist() == [10.0]


def test_arms_with_other_seeds_add_their_variances():
    rows = [("a", i, s, v) for i, row in enumerate([[1.0, 3.0], [6.0, 4.0]]) for s, v in enumerate(row)]
    rows += [("b", i, 10 + s, v) for i, row in enumerate([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]) for s, v in enumerate(row)]
    frame = pl.DataFrame(rows, schema=["arm", "instance", "seed", "score"], orient="row").with_columns(
        pl.col("instance").cast(pl.String), panel=pl.lit("p")
    )
    spread = pilot_spread(build_cells(frame), frame["seed"].to_numpy(), frame["score"].to_numpy(), "a", "b")
    # Variances 2 and 1 on the first instance, 2 and 0 on the second; differences of means 0 and 5.
    assert spread.rest == pytest.approx([2.5])
    assert spread.noise == pytest.approx([((1 + 1 / 3) + 1) / 2])
    assert spread.instance == pytest.approx([12.5 - 7 / 6])


def test_known_components_are_found_on_average():
    """Method of moments: unbiased, so the mean over many pilots is the truth, up to clipping at zero."""
    draw = np.random.default_rng(5)
    found = []
    for _ in range(400):
        tables = {
            p: scale * draw.normal(size=(8, 1)) + 0.5 * draw.normal(size=3) + 0.8 * draw.normal(size=(8, 3))
            for p, scale in (("p", 1.0), ("q", 2.0))
        }
        spread = split(tables)
        found.append([spread.instance, spread.seed, spread.rest])
    means = np.mean(found, axis=0)
    np.testing.assert_allclose(means[0], [1.0, 4.0], rtol=0.1)
    np.testing.assert_allclose(means[1], [0.25, 0.25], rtol=0.2)
    np.testing.assert_allclose(means[2], [0.64, 0.64], rtol=0.05)


def test_less_than_nothing_is_nothing():
    spread = split({"p": np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])})
    assert spread.instance.tolist() == [0.0]
    assert spread.shares()[0] == 0.0
    assert sum(spread.shares()) == pytest.approx(1.0)


def test_a_seed_effect_on_all_instances_is_seen():
    draw = np.random.default_rng(6)
    noise = draw.normal(size=(9, 5))
    assert split({"p": noise}).seed_p > 0.05
    assert split({"p": noise, "q": 3 * np.arange(5.0) + noise}).seed_p < 1e-6


def test_a_seed_effect_is_rarely_seen_where_there_is_none():
    """Even where luck is worth more on some instances than on others."""
    draw = np.random.default_rng(9)
    alarms = sum(
        split({"p": draw.uniform(0.1, 3, (6, 1)) * draw.normal(size=(6, 3))}).seed_p < 0.05 for _ in range(500)
    )
    assert alarms <= 0.06 * 500


def test_one_seed_cannot_be_told_apart():
    spread = split({"p": np.array([[1.0], [3.0]])})
    assert spread.one_seed
    assert (spread.instance.tolist(), spread.rest.tolist(), spread.seed) == ([2.0], [0.0], None)


def test_what_cannot_be_split_says_why():
    assert split({"p": np.ones((1, 3)), "q": np.ones((2, 3))}).startswith("p has one instance")
    mixed = split({"p": np.ones((2, 1)), "q": np.ones((2, 3))})
    assert mixed == "p: an arm has one seed per instance here and more elsewhere"
    assert split({"p": np.array([[np.nan, 1.0], [1.0, 2.0]])}) == "some runs have no score under this kernel"


def test_the_pilot_knows_its_variance_with_the_freedom_of_its_mean_squares():
    """At the pilot's own number of seeds the doubt is that of the instances alone."""
    spread = split({"p": np.arange(5.0)[:, None] ** 2 + np.random.default_rng(1).normal(size=(5, 2))})
    squares, df = spread.doubt(2)
    assert squares.tolist() == [[spread.seen[0], pytest.approx(0.0, abs=1e-12)]]
    assert df.tolist() == [[4.0, 4.0]]
    assert spread.doubt(1)[0].sum() == pytest.approx(spread.variances(1).sum())
