"""Two customers on a line and one off it; times in tenths of a unit by hand."""

import pytest

from gapline.check import load_checker
from gapline.testing import CheckerSuite

HEADER = """tiny

VEHICLE
NUMBER     CAPACITY
   2          10

CUSTOMER
CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME

"""
# 0-1 is 10, 1-2 is 10, 0-2 is 20; 0-3 is sqrt(2) = 1.4 truncated; 1-3 is sqrt(82) = 9.0; 2-3 is sqrt(362) = 19.0.
ROWS = """0 0 0 0 0 100 0
1 10 0 4 0 10 5
2 20 0 4 30 50 5
3 1 1 3 0 60 5
"""


class TestVrptw(CheckerSuite):
    checker = "vrptw"
    valid = (
        # Arrives at 1 exactly when it is due, waits at 2 until 30, is back at 55.
        ([[1, 2], [3]], 10.0 + 10.0 + 20.0 + 1.4 + 1.4),
        ([[1], [3, 2]], 20.0 + 1.4 + 19.0 + 20.0),
    )
    invalid = (
        ([[2, 1], [3]], "time window violated: route 1 reaches customer 1 at 45, due 10"),
        ([[3, 1], [2]], "time window violated: route 1 reaches customer 1 at 15.4, due 10"),
        ([[1, 2, 3]], "capacity exceeded: route 1 carries 11 of 10"),
        ([[1], [2], [3]], "too many routes: 3 of 2 vehicles"),
        ([[1, 2]], "missing customers: 3"),
    )

    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "tiny.txt"
        path.write_text(HEADER + ROWS)
        return path

    def test_the_depot_closes(self, tmp_path):
        path = tmp_path / "early.txt"
        path.write_text(HEADER + ROWS.replace("0 0 0 0 0 100 0", "0 0 0 0 0 54 0"))
        verdict = load_checker("vrptw").check(path, [[1, 2], [3]])
        assert verdict.reason == "time window violated: route 1 reaches the depot at 55, due 54"
