"""Distances of the DIMACS challenge, exact where floating point would be off by one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.checkers.routing_files import read_cvrp, read_vrptw, rounded_distances, truncated_distances
from gapline.generate import write_instances

POINTS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), min_size=2, max_size=6)


@given(POINTS)
def test_truncated_tenths_are_the_largest_not_beyond_the_distance(points):
    found = truncated_distances(points)
    for i, (x, y) in enumerate(points):
        for j, (u, v) in enumerate(points):
            square = Fraction((x - u) ** 2 + (y - v) ** 2)
            tenths = int(found[i, j])
            assert Fraction(tenths, 10) ** 2 <= square < Fraction(tenths + 1, 10) ** 2


@given(POINTS)
def test_rounded_distances_are_the_nearest_whole_number(points):
    found = rounded_distances(points)
    for i, (x, y) in enumerate(points):
        for j, (u, v) in enumerate(points):
            square = Fraction((x - u) ** 2 + (y - v) ** 2)
            whole = int(found[i, j])
            assert square < (whole + Fraction(1, 2)) ** 2
            assert whole == 0 or square >= (whole - Fraction(1, 2)) ** 2


def test_pyvrp_reads_the_same_distances(tmp_path):
    import numpy as np
    import pyvrp

    path = write_instances("cvrp", tmp_path, name="twin", customers=12)[0]
    theirs = pyvrp.read(path, round_func="round").distance_matrix(0)
    np.testing.assert_array_equal(theirs, read_cvrp(path).distances)


def test_fractional_coordinates_are_truncated_or_rounded_too():
    points = [(0.0, 0.0), (0.5, 0.5), (1.5, 0.0)]
    assert truncated_distances(points)[0].tolist() == [0, 7, 15]
    assert rounded_distances(points)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n2\n"), "only depot"),
        (("CAPACITY", "DISTANCE : 100\nCAPACITY"), "DISTANCE"),
    ],
)
def test_what_the_convention_does_not_cover_is_refused(tmp_path, change, message):
    path = write_instances("cvrp", tmp_path, name="odd", customers=5)[0]
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(ValueError, match=message):
        read_cvrp(path)


def test_solomon_times_are_counted_in_tenths(tmp_path):
    instance = read_vrptw(write_instances("vrptw", tmp_path, name="tenths", customers=5)[0])
    assert instance.scale == 10
    assert instance.windows[0] == (0, 6000)
    assert instance.services == [0, 100, 100, 100, 100, 100]


def test_fractions_in_a_solomon_file_are_refused_not_misread(tmp_path):
    path = write_instances("vrptw", tmp_path, name="odd", customers=5)[0]
    path.write_text(path.read_text().replace("     10\n", "   10.5\n"))
    with pytest.raises(ValueError, match="whole numbers in each row"):
        read_vrptw(path)
