"""Three customers around the depot, distances by hand."""

import pytest

from gapline.checkers import load_checker
from gapline.testing import CheckerSuite

# The depot is a corner; 0-1 is 30, 0-2 is 40, 1-2 is 50; node 4 is at (1, 1): distance 1.41 rounds to 1.
TINY = """NAME : tiny
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 30 0
3 0 40
4 1 1
DEMAND_SECTION
1 0
2 6
3 4
4 1
DEPOT_SECTION
1
-1
EOF
"""


class TestCvrp(CheckerSuite):
    checker = "cvrp"
    valid = (
        ([[1, 2], [3]], 30 + 50 + 40 + 1 + 1),
        ([[1], [2], [3]], 60 + 80 + 2),
        ([[3, 1], [2]], 1 + 29 + 30 + 80),
    )
    invalid = (
        ([[1, 2, 3]], "capacity exceeded: route 1 carries 11 of 10"),
        ([[1, 2]], "missing customers: 3"),
        ([], "missing customers: 1, 2, 3"),
        ([[1, 2], [3, 1]], "repeated customer: 1 in route 2"),
        ([[1, 2], [4]], "unknown customer: 4 in route 2, expected 1 to 3"),
        ([[1, 2], [3], []], "malformed solution: route 3 is empty"),
    )

    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "tiny.vrp"
        path.write_text(TINY)
        return path

    def test_a_fleet_in_the_file_limits_the_routes(self, tmp_path):
        path = tmp_path / "fleet.vrp"
        path.write_text(TINY.replace("CAPACITY : 10", "CAPACITY : 10\nVEHICLES : 2"))
        checker = load_checker("cvrp")
        assert checker.check(path, [[1, 2], [3]]).valid
        assert checker.check(path, [[1], [2], [3]]).reason == "too many routes: 3 of 2 vehicles"

    def test_the_instance_is_read_again_when_the_file_changes(self, instance):
        checker = load_checker("cvrp")
        assert checker.check(instance, [[1, 2, 3]]).kind == "capacity exceeded"
        instance.write_text(TINY.replace("CAPACITY : 10", "CAPACITY : 1000"))
        assert checker.check(instance, [[1, 2, 3]]).objective == 30 + 50 + 39 + 1
