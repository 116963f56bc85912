"""Random routes, judged by the checkers and by PyVRP's own evaluation: two implementations, one verdict."""

from itertools import pairwise

import pytest
import pyvrp
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.checkers import load_checker
from gapline.generate import write_instances
from gapline.solvers.protocol import Task
from gapline.solvers.pyvrp import problem_data
from gapline.solvers.static_model import read_model
from profiles import examples

CUSTOMERS = 9


@pytest.fixture(scope="module", params=["cvrp", "vrptw"])
def judged(request, tmp_path_factory):
    (path,) = write_instances(request.param, tmp_path_factory.mktemp("twin"), name="twin", customers=CUSTOMERS)
    return load_checker(request.param), path, problem_data(read_model(Task(path, seed=1, horizon=1.0)))


@settings(max_examples=examples(150), deadline=None)
@given(st.permutations(range(1, CUSTOMERS + 1)), st.sets(st.integers(1, CUSTOMERS - 1), min_size=1))
def test_validity_and_objective_agree(judged, order, cuts):
    checker, path, data = judged
    edges = [0, *sorted(cuts), CUSTOMERS]
    routes = [list(order[a:b]) for a, b in pairwise(edges)]
    if len(routes) > data.num_vehicles:
        assert checker.check(path, routes).kind in {"capacity exceeded", "too many routes"}
        return
    theirs = pyvrp.Solution(data, [[customer - 1 for customer in route] for route in routes])
    ours = checker.check(path, routes)
    assert ours.valid == theirs.is_feasible()
    if ours.valid:
        assert ours.objective == theirs.distance() / (10 if checker.name == "vrptw" else 1)
    else:
        assert ours.kind == ("capacity exceeded" if theirs.has_excess_load() else "time window violated")
