"""Steps survive the way into the page: exact on a decimal grid, within its resolution otherwise."""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.report.page import encode
from gapline.report.page.encode import Block, Grid, choose_grid, deltas, objective_grids, time_grid, time_units, zigzag


def decode(block, text):
    """The twin of decode.js in NumPy."""
    data = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    found, place = {}, 0
    for column in block.columns:
        planes = data[place : place + column["width"] * column["length"]].reshape(column["width"], column["length"])
        found[column["name"]] = (planes.astype(np.float64) * 256.0 ** np.arange(column["width"])[:, None]).sum(axis=0)
        place += planes.size
    assert place == len(data)
    return found


@given(st.lists(st.integers(0, 2**51), max_size=50), st.lists(st.integers(0, 255), max_size=20))
def test_columns_come_back_whole(large, small):
    block = Block()
    block.add("large", np.array(large, np.float64))
    block.add("small", np.array(small, np.int64))
    found = decode(block, block.encode())
    assert found["large"].tolist() == large
    assert found["small"].tolist() == small


@given(st.lists(st.lists(st.integers(0, 2**51), max_size=5), max_size=6))
def test_a_column_in_pieces_is_that_of_the_whole(parts):
    """Whatever the widths: a later piece may need bytes that the earlier ones do not have."""
    whole, pieces = Block(), Block()
    whole.add("x", np.array([value for part in parts for value in part], np.float64))
    pieces.add_pieces("x", (np.array(part, np.float64) for part in parts))
    assert pieces.columns == whole.columns
    assert pieces.encode() == whole.encode()


def test_a_grid_holds_all_pieces_of_a_column(monkeypatch):
    monkeypatch.setattr(encode, "AT_ONCE", 20)
    values = np.concatenate([np.arange(1.0, 100.0), [0.125]])
    assert choose_grid(values, finest=9) == Grid(3, exact=True)
    assert choose_grid(values, finest=2) == Grid(2, exact=False)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=30), st.integers(0, 4))
def test_decimal_values_are_exact(units, decimals):
    values = np.array([float(f"{unit}e-{decimals}") for unit in units])
    grid = objective_grids([values], scales=[float(values.min())], steps=len(values))[0]
    assert grid.exact
    assert grid.snap(values).tolist() == values.tolist()


@given(st.lists(st.floats(1.0, 1e6), min_size=1, max_size=30))
def test_other_values_keep_their_relative_resolution_and_order(numbers):
    values = np.array(numbers)
    grid = objective_grids([values], scales=[float(values.min())], steps=encode.FINE_STEPS + 1)[0]
    snapped = grid.snap(values)
    assert np.all(np.abs(snapped - values) <= 0.5 * encode.COARSE_RELATIVE * values.min() * 1.0001)
    order = np.argsort(values)
    assert np.all(np.diff(snapped[order]) >= 0)


def test_a_large_campaign_has_milliseconds_and_a_small_one_more():
    stamps = np.array([1 / 3, 2 / 3])
    assert time_grid(stamps, steps=encode.FINE_STEPS + 1) == Grid(3, exact=False)
    assert time_grid(stamps, steps=2) == Grid(9, exact=False)
    assert time_grid(np.array([0.25, 1.5]), steps=10**7) == Grid(2, exact=True)


def test_rounding_moves_no_stamp_to_zero_or_beyond_its_horizon():
    grid = Grid(3, exact=False)
    time, horizon = np.array([0.0, 1e-5, 9.99997, 9.99997]), np.array([10.0, 10.0, 10.0, 9.99998])
    assert time_units(grid, time, horizon).tolist() == [0.0, 1.0, 10000.0, 9999.0]


@pytest.mark.parametrize("value", [1e308, 1e-290, 123456789.123456789])
def test_extreme_objectives_have_a_grid(value):
    values = np.array([value * 1.5, value * 1.25, value])
    grid = objective_grids([values], scales=[value], steps=3)[0]
    assert grid.snap(values) == pytest.approx(values, rel=1e-9, abs=0)


def test_differences_start_anew_with_each_run():
    assert deltas(np.array([5.0, 7.0, 3.0, 4.0]), np.array([0, 2])).tolist() == [5.0, 2.0, 3.0, 1.0]
    assert deltas(np.empty(0), np.array([], np.int64)).tolist() == []


def test_zigzag_keeps_small_numbers_small():
    assert zigzag(np.array([0.0, -1.0, 1.0, -2.0])).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_the_coarsest_exact_grid_is_taken():
    assert choose_grid(np.array([100.0, 20.0]), finest=9) == Grid(0, exact=True)
    assert choose_grid(np.empty(0), finest=9) == Grid(0, exact=True)
