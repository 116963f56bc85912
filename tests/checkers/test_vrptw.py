"""Two customers on a line and one off it; times in tenths of a unit by hand."""

import pytest

from gapline.checkers import CheckerFailure, load_checker
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


# The same instance as a VRPLIB file, and one with its own matrix: 0-1 is 7, 1-2 is 5, 0-2 is 9 one way and 11 back.
VRPLIB = """NAME : tiny
TYPE : VRPTW
DIMENSION : 4
VEHICLES : 2
CAPACITY : 10
SERVICE_TIME : 5
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 0
3 20 0
4 1 1
DEMAND_SECTION
1 0
2 4
3 4
4 3
TIME_WINDOW_SECTION
1 0 100
2 0 10
3 30 50
4 0 60
DEPOT_SECTION
1
-1
EOF
"""
MATRIX = """NAME : matrix
TYPE : VRPTW
DIMENSION : 3
CAPACITY : 10
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
EDGE_WEIGHT_SECTION
0 7 9
7 0 5
11 5 0
DEMAND_SECTION
1 0
2 4
3 4
TIME_WINDOW_SECTION
1 0 100
2 0 7
3 0 100
SERVICE_TIME_SECTION
1 0
2 3
3 0
DEPOT_SECTION
1
-1
EOF
"""


class TestVrplibVrptw(TestVrptw):
    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "tiny.vrp"
        path.write_text(VRPLIB)
        return path


class TestMatrixVrptw(CheckerSuite):
    checker = "vrptw"
    valid = (([[1, 2]], 7 + 5 + 11), ([[1], [2]], 7 + 7 + 9 + 11))
    invalid = (([[2, 1]], "time window violated: route 1 reaches customer 1 at 14, due 7"),)

    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "matrix.vrp"
        path.write_text(MATRIX)
        return path


def test_a_vrplib_file_without_windows_is_the_checkers_failure(tmp_path):
    path = tmp_path / "none.vrp"
    path.write_text(VRPLIB.replace("TIME_WINDOW_SECTION", "OTHER_SECTION"))
    with pytest.raises(CheckerFailure, match="TIME_WINDOW_SECTION"):
        load_checker("vrptw").check(path, [[1, 2], [3]])
