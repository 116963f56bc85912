"""Rows numbered by columns."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gapline.contract.row_groups import Numbered, count_words, distinct, rows_of

FAR = st.sampled_from([-(2**62), 0, 1, 2, 2**62])
ROW = st.tuples(st.sampled_from("ab"), st.sampled_from(["i", "j", "k", None]), FAR, st.sampled_from([0.5, -0.0, 0.0]))


@given(st.lists(ROW, max_size=40), st.permutations(["arm", "instance", "seed", "size"]), st.integers(0, 4))
def test_rows_have_one_number_where_they_are_equal(rows, names, many):
    """Nulls, zeros of either sign and numbers far apart included; every number up to the size is there."""
    schema = {"arm": pl.String, "instance": pl.String, "seed": pl.Int64, "size": pl.Float64}
    found = Numbered(pl.DataFrame(rows, schema=schema, orient="row")).by(*names[:many])
    kept = [tuple(row[list(schema).index(name)] for name in names[:many]) for row in rows]
    assert len(set(zip(kept, found.row.tolist(), strict=True))) == len(set(kept)) == found.size
    assert set(found.row.tolist()) == set(range(found.size))
    assert found.first_row.tolist() == [found.row.tolist().index(k) for k in range(found.size)]


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_names_come_once_each_in_the_order_of_their_rows(names):
    rows = Numbered(pl.DataFrame({"arm": names}, {"arm": pl.String}))
    assert rows.names("arm") == list(dict.fromkeys(names))


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_words_are_counted_whichever_stands_first(names):
    table = pl.DataFrame({"arm": names}, {"arm": pl.String})
    assert count_words(table, "arm", ["a", "b", "d"]) == {word: names.count(word) for word in ("a", "b", "d")}


@given(st.lists(st.sampled_from([1.0, 2.5, None]), max_size=8))
def test_numbers_come_once_each_in_their_order(numbers):
    found = distinct(pl.Series(numbers, dtype=pl.Float64))
    assert found == [None] * (None in numbers) + sorted({number for number in numbers if number is not None})


def test_more_pairs_than_rows_are_numbered_too():
    """Ten thousand names and as many seeds might make 10⁸ cells, of which 10,000 are there."""
    names = [f"i{k}" for k in range(10_000)]
    table = pl.DataFrame({"instance": names, "seed": np.arange(10_000) // 2, "arm": "a"})
    rows = Numbered(table)
    assert rows.by("instance", "seed").size == 10_000
    assert rows.by("seed", "instance").size == 10_000
    assert rows.by("seed", "arm").size == 5_000


def test_what_is_known_of_cells_holds_in_a_table_of_the_same_runs_and_nothing_else_does():
    table = pl.DataFrame({"arm": ["a", "b", "a"], "seed": [1, 1, 2], "horizon": [1.0, 2.0, 2.0]})
    rows = Numbered(table)
    known = rows.by("arm", "seed")
    rows.by("horizon")
    other = table.with_columns(horizon=pl.lit(3.0), more=pl.lit("x"))
    carried = rows.carried(other)
    assert carried.table is other
    assert carried.by("arm", "seed") is known
    assert carried.by("horizon").size == 1
    assert rows.by("horizon").size == 2


def test_rows_that_are_known_are_of_no_use_for_another_table():
    table = pl.DataFrame({"arm": ["a", "b"]})
    rows = Numbered(table)
    assert rows_of(table, rows) is rows
    assert rows_of(table, None).by("arm").size == 2
    assert rows_of(table[:1], rows).by("arm").size == 1
