"""A column in parts is read like the array that it stands for."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.campaign.campaign import Campaign
from gapline.campaign.columns import PartedColumn, part_edges
from gapline.errors import TraceError

sizes = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def parted(lengths: list[int]) -> tuple[PartedColumn, np.ndarray]:
    whole = np.arange(float(sum(lengths)))
    return PartedColumn(np.split(whole, np.cumsum(lengths)[:-1])), whole


@given(sizes, st.data())
def test_every_slice_and_gather_equals_that_of_the_array(lengths, data):
    column, whole = parted(lengths)
    edge = st.integers(-len(whole) - 2, len(whole) + 2) | st.none()
    low, high = data.draw(edge), data.draw(edge)
    step = data.draw(st.sampled_from([None, 1, 2, -1]))
    assert column[low:high:step].tolist() == whole[low:high:step].tolist()
    if len(whole):
        places = np.array(data.draw(st.lists(st.integers(0, len(whole) - 1))), np.int64)
        assert column[places].tolist() == whole[places].tolist()
        assert column.max() == whole.max()
        assert column[-1] == whole[-1]
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))))
        assert column[mask].tolist() == whole[mask].tolist()
    assert len(column) == len(whole)
    assert np.asarray(column).tolist() == list(column) == whole.tolist()
    assert (column.nbytes, column.dtype, column.shape) == (whole.nbytes, whole.dtype, whole.shape)


def test_a_slice_inside_a_part_is_no_copy():
    column, _ = parted([3, 4])
    assert np.shares_memory(column[4:6], column.parts[1])
    with pytest.raises(ValueError, match="only by copying"):
        np.asarray(column, copy=False)


@pytest.mark.parametrize("place", [7, -8, np.array([0, 7]), np.array([-1])])
def test_places_outside_are_refused(place):
    column, _ = parted([3, 4])
    with pytest.raises(IndexError, match="inside 0:7"):
        column[place]


def test_edges_of_an_array_are_its_ends():
    assert part_edges(np.zeros(4)).tolist() == [0, 4]
    assert part_edges(PartedColumn([np.zeros(4), np.zeros(0), np.zeros(1)])).tolist() == [0, 4, 4, 5]


def in_parts(counts: list[list[int]], order: list[int]) -> Campaign:
    """Make a campaign of parts with these counts of candidates, its rows in the given order."""
    flat = [count for part in counts for count in part]
    first = np.concatenate(([0], np.cumsum(flat)))[:-1]
    rows = [{"arm": "a", "instance": "i", "seed": k, "first": int(first[k]), "count": flat[k]} for k in order]
    runs = pl.DataFrame(rows, schema={"arm": str, "instance": str, "seed": int, "first": int, "count": int})
    edges = np.cumsum([sum(part) for part in counts])[:-1]
    time = np.arange(float(sum(flat)))
    columns = {"time": time, "objective": 1000.0 - time, "verdict": np.ones(len(time), np.uint8)}
    cut = {name: PartedColumn(np.split(column, edges)) for name, column in columns.items()}
    return Campaign.from_arrays(runs=runs, **cut)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=1, max_size=4), st.data())
def test_pieces_hold_every_run_once_with_its_own_candidates(counts, data):
    total = sum(map(len, counts))
    order = data.draw(st.permutations(range(total)))
    most = data.draw(st.sampled_from([None, 1, 2, 7, 1000]))
    campaign = in_parts(counts, list(order))
    keep = data.draw(st.lists(st.sampled_from(range(total)), min_size=1, unique=True))
    campaign = Campaign(
        **{name: getattr(campaign, name) for name in ("time", "objective", "verdict")}, runs=campaign.runs[keep]
    )
    seen = []
    for rows, piece in campaign.pieces(most):
        assert all(isinstance(column, np.ndarray) for column in piece.columns.values())
        assert most is None or len(piece.time) <= most or len(piece) == 1
        assert piece.runs.drop("first").equals(campaign.runs[rows].drop("first"))
        for row, (low, size) in zip(rows.tolist(), piece.runs.select("first", "count").iter_rows(), strict=True):
            start = campaign.runs["first"][row]
            assert piece.time[low : low + size].tolist() == campaign.time[start : start + size].tolist()
        seen += rows.tolist()
    assert sorted(seen) == list(range(len(campaign)))


def test_a_plain_campaign_that_fits_is_one_piece_itself():
    campaign = Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0)]}])
    ((rows, piece),) = campaign.pieces(10)
    assert (rows.tolist(), piece) == ([0], campaign)


def test_columns_cut_in_different_places_are_refused():
    runs = pl.DataFrame({"arm": ["a"], "instance": ["i"], "seed": [1], "first": [0], "count": [2]})
    halves = PartedColumn([np.ones(1), np.ones(1)])
    with pytest.raises(TraceError, match="parts of different lengths"):
        Campaign.from_arrays(runs=runs, time=halves, objective=np.ones(2), verdict=np.ones(2, np.uint8))
    codes = PartedColumn([np.ones(1, np.uint8), np.ones(1, np.uint8)])
    with pytest.raises(TraceError, match="inside one part, got across two: a/i/1"):
        Campaign.from_arrays(runs=runs, time=halves, objective=halves, verdict=codes)
