"""Blocks of equal rows: nothing of the rows is lost."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.traces import repeated_rows as module
from gapline.traces.repeated_rows import Rows, find_heads

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


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "MANY", 1)


@pytest.mark.usefixtures("few")
def test_where_runs_take_turns_equal_blocks_share_a_head():
    turns = pl.DataFrame({"arm": ["a", "b", "a", None, "b", None], "_arm": [1.0, 2.0, 1.0, None, 2.0, None]})
    rows = Rows([find_heads(turns[:4], np.arange(4)), find_heads(turns[4:], np.arange(4, 6))])
    assert rows.heads["arm"].to_list() == ["a", "b", None, "b", None]
    assert rows.which.tolist() == [0, 1, 0, 2, 3, 4]
    assert rows.starts.tolist() == [0, 1, 3, 4, 5]
    assert [rows.head_of(row) for row in range(6)] == [0, 1, 0, 2, 3, 4]
    assert rows.rows_of([1, 0]) == [(0, 0), (1, 1), (2, 0)]
    assert rows.of_rows(np.array([7, 8, 9, 8, 9])).tolist() == [7, 8, 7, 9, 8, 9]


@pytest.mark.usefixtures("few")
def test_rows_that_share_heads_come_back_as_they_were():
    @given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1.0, None])), min_size=1))
    def check(cells):
        table = pl.DataFrame(cells, schema={"arm": pl.String, "size": pl.Float64}, orient="row")
        found = find_heads(table, np.arange(table.height))
        assert found.table.n_unique() == found.table.height or found.which is None
        assert Rows([found]).expand(found.table).equals(table)

    check()
