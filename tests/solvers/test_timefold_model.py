"""The model that Timefold compiles prices a route as the clock in Python does: they are twins by necessity."""

import json
import subprocess
import sys

import pytest

from gapline.generate import write_instances
from gapline.solvers.jdk import jdk_lack
from gapline.solvers.route_clock import read_clock
from gapline.solvers.static_model import load_day
from gapline.solvers.timefold_model import UNITS

pytestmark = pytest.mark.slow

# In a process of its own: a JVM cannot be started twice, nor taken out of one.
CODE = """
import json, logging, sys
from importlib import import_module
from pathlib import Path
import_module("solverforge_legacy.solver").init(import_module("_jpyinterpreter").get_default_jvm_path())
logging.getLogger("solverforge_legacy.solver").setLevel(logging.ERROR)
from gapline.solvers.timefold_model import build_model
plan = build_model().read_plan(Path(sys.argv[1]))
vehicle, found = plan.vehicles[0], []
for route in json.loads(sys.argv[2]):
    vehicle.visits = [plan.visits[customer - 1] for customer in route]
    found.append([vehicle.overload(), vehicle.lateness(), vehicle.duration()])
print(json.dumps([len(plan.vehicles), len(plan.visits), found]))
"""


def test_routes_cost_what_the_clock_says_in_whole_thousandths(tmp_path):
    pytest.importorskip("solverforge_legacy")
    if jdk_lack():
        pytest.skip("no JDK")
    (path,) = write_instances("tdvrptw", tmp_path, name="twin", customers=8)
    clock = read_clock(load_day(path))
    routes = [[], [1], [3, 5], [8, 2, 4], list(range(1, 9)), list(range(8, 0, -1))]
    command = [sys.executable, "-c", CODE, str(path), json.dumps(routes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    vehicles, visits, found = json.loads(done.stdout.splitlines()[-1])
    assert (vehicles, visits) == (clock.vehicles, 8)
    for route, (over, late, duration) in zip(routes, found, strict=True):
        # The clock adds load and lateness up; a lateness of any size is at least one unit.
        over_by_clock = max(0, sum(clock.demands[customer] for customer in route) - clock.capacity)
        late_by_clock = clock.excess(route) - over_by_clock
        assert over == over_by_clock
        assert late == (1 + int(UNITS * late_by_clock) if late_by_clock > 0 else 0)
        # Rounded up, so that the claim is never below the duration.
        assert duration == (int(UNITS * clock.duration(route)) + 1 if route else 0)
