"""The runs table: filled, cast, and refused by name where a run or a slice cannot be."""

import polars as pl
import pytest

from gapline.campaign.runs_table import complete_runs
from gapline.errors import TraceError

RUNS = {"arm": ["a", "a"], "instance": ["i", "i"], "seed": [1, 2], "first": [0, 2], "count": [2, 1]}


def test_what_is_not_stated_is_filled_and_known_columns_stand_first():
    table = complete_runs(pl.DataFrame({"threads": [4, 4]} | RUNS), candidates=3).table
    assert table.columns == ["arm", "instance", "panel", "seed", "horizon", "status", "first", "count", "threads"]
    assert table.select("panel", "horizon", "status").unique().rows() == [("all", None, "unknown")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": [0, 1]}, "slices that cover 3 candidates once"),
        ({"count": [2, 2]}, "slices inside 0:3, got one outside"),
        ({"count": [2, 0]}, "slices that cover 3 candidates once, got 2"),
        ({"seed": [1, 1]}, "expected each run once, got duplicates: a/i/1"),
        ({"arm": ["a", None]}, "expected a value in every arm, got 1 nulls"),
        ({"horizon": [1.0, -1.0]}, "horizon: expected positive finite seconds, got a/i/2"),
        ({"status": ["unknown", "odd"]}, "status: expected one of"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(TraceError, match=message):
        complete_runs(pl.DataFrame(RUNS | changes), candidates=3)


def test_runs_that_are_a_choice_of_those_in_the_columns_need_not_cover_them():
    assert complete_runs(pl.DataFrame(RUNS), candidates=None).table.height == 2
    with pytest.raises(TraceError, match="duplicates"):
        complete_runs(pl.DataFrame(RUNS | {"seed": [1, 1]}), candidates=None)
