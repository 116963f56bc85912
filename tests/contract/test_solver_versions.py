"""A solver whose version changes inside an arm is named, and only then."""

import polars as pl

from gapline.contract.solver_versions import version_changes


def table(*rows):
    return pl.DataFrame(rows, schema={"arm": pl.String, "solver_version": pl.String}, orient="row")


def test_each_arm_with_several_versions_is_one_line_with_counts():
    runs = table(("b", "2"), ("a", "1.1"), ("a", "1.0"), ("b", "1"), ("a", "1.0"), ("c", "1"))
    assert version_changes(runs) == ["arm a: 1.0 made 2 runs, 1.1 made 1 run", "arm b: 1 made 1 run, 2 made 1 run"]


def test_two_arms_may_differ_and_an_unknown_version_is_no_change():
    assert version_changes(table(("a", "1"), ("b", "2"), ("a", None))) == []


def test_a_table_without_versions_says_nothing():
    assert version_changes(pl.DataFrame({"arm": ["a"]})) == []
