"""Blocks of equal rows: nothing of the rows is lost."""

import numpy as np
import polars as pl

from gapline.capture.heads import Rows, find_heads

TABLE = pl.DataFrame({"arm": ["a", "a", None, None, "b", "a"], "size": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]})


def test_rows_come_back_as_they_were_with_their_lines():
    rows = Rows([find_heads(TABLE[:3], np.arange(2, 5)), find_heads(TABLE[3:], np.array([7, 9, 10]))])
    assert rows.heads.height == 5
    assert rows.counts.tolist() == [2, 1, 1, 1, 1]
    assert rows.expand(rows.heads).equals(TABLE)
    assert [rows.line(row) for row in range(6)] == [2, 3, 4, 7, 9, 10]
    assert [rows.head_of(row) for row in range(6)] == [0, 0, 1, 2, 3, 4]
    assert rows.rows_of([0, 3]) == [(0, 0), (1, 0), (4, 3)]


def test_a_further_column_splits_the_blocks_where_it_changes():
    rows = Rows([find_heads(TABLE, np.arange(6))]).split_by(pl.Series("seed", [1, 2, 2, 2, 2, 2]))
    assert rows.counts.tolist() == [1, 1, 1, 1, 1, 1]
    assert rows.expand(rows.heads).equals(TABLE.with_columns(seed=pl.Series([1, 2, 2, 2, 2, 2])))


def test_lists_are_blocks_of_their_own_and_no_rows_are_no_blocks():
    listed = pl.DataFrame({"arm": [[1], [1]]})
    assert find_heads(listed, np.arange(2)).counts.tolist() == [1, 1]
    empty = Rows([find_heads(TABLE[:0], np.arange(0))])
    assert (empty.heads.height, len(empty.counts)) == (0, 0)
