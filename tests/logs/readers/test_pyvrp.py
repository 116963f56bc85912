import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.pyvrp import PENALISED, READER
from gapline.testing.readers import ReaderConformance

NEW = b"""runtime,current_cost,current_feas,candidate_cost,candidate_feas,best_cost,best_feas
0.5,900,0,900,0,900,0
0.25,950,1,950,1,950,1
0.25,970,1,970,1,950,1
1.0,940,1,940,1,940,1
"""
OLD = b"""runtime,feas_size,feas_avg_diversity,feas_best_cost,feas_avg_cost,feas_avg_num_routes,infeas_size
0.5,0,nan,nan,nan,nan,3
0.25,1,0.5,950.0,951.0,4.0,3
0.25,1,0.5,950.0,951.0,4.0,3
1.0,1,0.5,940.0,951.0,4.0,3
"""


class TestNewGeneration(ReaderConformance):
    reader = READER
    path = "stats.csv"
    sample = NEW
    candidates = ((0.75, 950.0), (2.0, 940.0))


class TestOldGeneration(ReaderConformance):
    reader = READER
    path = "stats.csv"
    sample = OLD
    candidates = ((0.75, 950.0), (2.0, 940.0))


def read(data: bytes):
    return READER.read(LogFile("stats.csv", data))


def test_runtime_is_per_iteration_and_is_cumulated():
    (run,) = read(NEW).runs
    assert run.time.tolist() == [0.5, 0.75, 2.0]


def test_a_penalised_best_is_kept_as_an_invalid_candidate():
    (run,) = read(NEW).runs
    assert run.verdict.tolist() == [0, 1, 1]
    assert run.objective.tolist() == [900.0, 950.0, 940.0]
    assert run.reason == [PENALISED, "", ""]


def test_an_empty_feasible_population_is_no_candidate():
    (run,) = read(OLD).runs
    assert run.objective.tolist() == [950.0, 940.0]


def test_a_file_of_headers_alone_is_an_empty_run():
    (run,) = read(NEW.splitlines(keepends=True)[0]).runs
    assert len(run.time) == 0


def test_a_torn_last_row_is_not_believed_and_the_run_was_killed():
    found = read(NEW[:-5])
    assert found.runs[0].status == "killed"
    assert found.runs[0].time.tolist() == [0.5, 0.75]
    assert found.problems[0].startswith("stats.csv:5: expected a whole line, got ")


def test_rows_after_one_without_a_runtime_have_no_stamp():
    found = read(NEW.replace(b"0.25,970", b"x,970"))
    assert found.runs[0].time.tolist() == [0.5, 0.75]
    assert found.problems == [
        "stats.csv:4: expected 7 columns with a runtime, got 'x,970,1,970,1,950,1'",
        "stats.csv:4: 1 later lines have no stamp and were left out",
    ]


def test_semicolons_are_read_too():
    (run,) = read(NEW.replace(b",", b";")).runs
    assert run.time.tolist() == [0.5, 0.75, 2.0]


def test_other_columns_are_refused():
    with pytest.raises(TraceError, match="expected columns runtime and best_cost or feas_best_cost, got 'a,b'"):
        read(b"a,b\n1,2\n")


def test_the_file_that_pyvrp_itself_writes_is_read(tmp_path):
    """The real thing: statistics of a tiny solve, against PyVRP's own reading of them."""
    pyvrp = pytest.importorskip("pyvrp")
    from pyvrp.stop import MaxIterations

    model = pyvrp.Model()
    corners = [(0, 0), (10, 0), (0, 10), (10, 10), (5, 20)]
    if hasattr(model, "add_location"):
        places = [model.add_location(x, y) for x, y in corners]
        model.add_depot(places[0])
        for place in places[1:]:
            model.add_client(place, delivery=[1])
    else:
        places = [model.add_depot(*corners[0]), *(model.add_client(x, y, delivery=[1]) for x, y in corners[1:])]
    model.add_vehicle_type(3, capacity=[2])
    for one, (x1, y1) in zip(places, corners, strict=True):
        for other, (x2, y2) in zip(places, corners, strict=True):
            if one is not other:
                model.add_edge(one, other, distance=abs(x1 - x2) + abs(y1 - y2))
    result = model.solve(MaxIterations(20), seed=1, display=False)
    result.stats.to_csv(tmp_path / "stats.csv")
    (run,) = read((tmp_path / "stats.csv").read_bytes()).runs
    valid = run.verdict == 1
    assert run.objective[valid][-1] == result.cost()
    assert run.time[-1] <= sum(result.stats.runtimes) * (1 + 1e-12)
    assert len(set(run.objective[valid].tolist())) == len({d.best_cost for d in result.stats.data if d.best_feas})
