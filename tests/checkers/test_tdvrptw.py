"""An instance with one speed all day, so that durations can be computed by hand, and a slow one."""

import json
from importlib.metadata import version

import pytest
from mamut_routing_lib.td.artifacts import InstanceATFs, save_instance_atfs
from mamut_routing_lib.td.igp import build_arc_atf

from gapline.checkers import CheckerFailure, load_checker
from gapline.generate import write_instances
from gapline.testing import CheckerSuite

LENGTHS = {(0, 1): 30.0, (0, 2): 50.0, (1, 2): 40.0}


def write_tiny(folder, *, speed=1.0):
    arcs = {
        (i, j): build_arc_atf([(0.0, 400.0)], [speed], LENGTHS[min(i, j), max(i, j)], (0.0, 400.0))
        for i in range(3)
        for j in range(3)
        if i != j
    }
    save_instance_atfs(InstanceATFs("tiny", "Dabia2013", (0.0, 400.0), 2, arcs), folder / "tiny.atf.json.gz")
    payload = {
        "instance_name": "tiny",
        "instance_origin": "Solomon1987",
        "benchmark_name": "Dabia2013",
        "num_customers": 2,
        "vehicle_capacity": 10,
        "coordinates": [(0, 0), (30, 0), (30, 40)],
        "demands": [0, 6, 4],
        "service_times": [0, 10, 10],
        "horizon": [0, 400],
        "td": {"model": "atf-ndcpwlf", "atf_path": "tiny.atf.json.gz"},
        "time_windows": [[0, 400], [50, 60], [100, 130]],
    }
    path = folder / "tiny.vrp.json"
    path.write_text(json.dumps(payload))
    return path


class TestTdvrptw(CheckerSuite):
    checker = "tdvrptw"
    valid = (
        # Leaves at 30, serves 1 from 60 to 70, reaches 2 at 110, leaves at 120, home at 170: no waiting.
        ([[1, 2]], 30 + 10 + 40 + 10 + 50),
        ([[1], [2]], (30 + 10 + 30) + (50 + 10 + 50)),
    )
    invalid = (
        # 2 opens at 100; from there 1 is reached at 150, long after 60.
        ([[2, 1]], "time window violated"),
        ([[1]], "missing customers: 2"),
        ([[1, 2], [1]], "repeated customer: 1"),
        ([[1, 3]], "unknown customer: 3"),
        ([[1, 2], []], "route 2 is empty"),
    )

    @pytest.fixture
    def instance(self, tmp_path):
        return write_tiny(tmp_path)

    def test_a_slow_road_makes_the_same_route_late(self, tmp_path):
        """At half the speed 1 is reached at 60 at the earliest, and 2 at 150, when 130 was the latest."""
        verdict = load_checker("tdvrptw").check(write_tiny(tmp_path, speed=0.5), [[1, 2]])
        assert verdict.kind == "time window violated"

    def test_capacity(self, tmp_path):
        path = write_tiny(tmp_path)
        path.write_text(path.read_text().replace('"vehicle_capacity": 10', '"vehicle_capacity": 9'))
        assert load_checker("tdvrptw").check(path, [[1, 2]]).kind == "capacity exceeded"

    def test_a_sidecar_of_another_instance_is_the_checkers_failure(self, tmp_path):
        first, second = write_instances("tdvrptw", tmp_path, name="swap", customers=4, count=2)
        sidecars = [path.with_name(path.name.replace(".vrp.json", ".atf.json.gz")) for path in (first, second)]
        sidecars[0].write_bytes(sidecars[1].read_bytes())
        with pytest.raises(CheckerFailure, match="expected an instance that can be read"):
            load_checker("tdvrptw").check(first, [[1, 2, 3, 4]])

    def test_the_version_is_the_referees(self):
        assert load_checker("tdvrptw").version == f"mamut-routing-lib {version('mamut-routing-lib')}"
