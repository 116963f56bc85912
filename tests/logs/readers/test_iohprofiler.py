"""IOHprofiler: pasted indexes and tables with every trap, and what its own logger writes."""

import json
import random
from pathlib import Path

import ioh
import iohinspector
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import candidates, mutated, read_log, survive
from gapline.errors import TraceError
from gapline.logs.importer import import_logs
from gapline.logs.readers.iohprofiler import OTHERS_NOTE, READER, SECOND_NOTE, SENSE_NOTE
from gapline.testing.readers import ReaderConformance
from profiles import examples

pytestmark = pytest.mark.slow


def index(*, runs=None, maximised=False, path="data_f1/IOH_f1_DIM5.dat", **more):
    runs = (
        [{"instance": 1, "evals": 9}, {"instance": 2, "evals": 3}, {"instance": 1, "evals": 4}]
        if runs is None
        else runs
    )
    scenario = {"dimension": 5, "path": path, "runs": runs}
    head = {"version": "0.3.9", "suite": "BBOB", "function_id": 1, "function_name": "Sphere", "maximization": maximised}
    algorithm = {
        "algorithm": {"name": "walk", "info": "__import__('os').abort()"},
        "attributes": ["evaluations", "raw_y"],
    }
    return json.dumps(head | algorithm | {"scenarios": [scenario]} | more, indent=1)


TABLE = """evaluations raw_y
3 0.8594
9 0.7885
evaluations raw_y
1 4.5
3 -2.0
evaluations raw_y
1 7.0
1 6.0
"""


def read_index(text, table=TABLE):
    return read_log(READER, text, path="walk/IOHprofiler_f1.json", beside={"data_f1/IOH_f1_DIM5.dat": table})


def test_runs_follow_the_headers_of_the_table():
    runs = [
        {"instance": 1, "evals": 9},
        {"instance": 2, "evals": 3},
        {"instance": 1, "evals": 1},
        {"instance": 1, "evals": 1},
    ]
    found = read_index(index(runs=runs))
    assert READER.looks_like("x.json", index().encode())
    # The late first row stays late; evaluations that restart at 1 are the next run even without a header.
    assert [candidates(run) for run in found.runs] == [
        [(3.0, 0.8594), (9.0, 0.7885)],
        [(1.0, 4.5), (3.0, -2.0)],
        [(1.0, 7.0)],
        [(1.0, 6.0)],
    ]
    assert [(run.arm, run.instance, run.seed, run.panel) for run in found.runs] == [
        ("walk", "f1-d5-i1", 0, "Sphere-d5"),
        ("walk", "f1-d5-i2", 0, "Sphere-d5"),
        ("walk", "f1-d5-i1", 1, "Sphere-d5"),
        ("walk", "f1-d5-i1", 2, "Sphere-d5"),
    ]
    assert {(run.clock, run.sense, run.status) for run in found.runs} == {("evaluations", "min", "finished")}
    assert found.problems == []


def test_more_runs_than_listed_are_kept_and_reported():
    found = read_index(index())
    assert "expected 3 runs, got 4" in found.problems[0]
    assert (found.runs[3].instance, found.runs[3].status) == ("f1-d5-i?", "killed")


def test_a_listed_run_that_the_table_lacks_is_lost_not_dropped():
    found = read_index(index(), TABLE[: TABLE.index("1 4.5") - len("evaluations raw_y\n")])
    assert [(run.status, len(run.time)) for run in found.runs] == [("finished", 2), ("lost", 0), ("lost", 0)]
    assert len(found.problems) == 1


def test_a_missing_table_is_named():
    found = read_log(READER, index(), path="a.json")
    assert [run.status for run in found.runs] == ["lost"] * 3
    assert "expected the table 'data_f1/IOH_f1_DIM5.dat' beside the index" in found.problems[0]


def test_a_header_without_rows_is_an_empty_run_in_its_place():
    table = "evaluations raw_y\n1 5\nevaluations raw_y\nevaluations raw_y\n1 4\n"
    assert [candidates(run) for run in read_index(index(), table).runs] == [[(1.0, 5.0)], [], [(1.0, 4.0)]]


def test_the_best_of_the_index_is_a_candidate_where_the_table_skipped_it():
    best = {"evals": 5, "y": 9.0, "x": [1, 0]}
    text = index(runs=[{"instance": 1, "evals": 9, "best": best}], maximised=True)
    found = read_index(text, "evaluations raw_y\r\n1 2.0\r\n9 8.0\r\n")
    assert candidates(found.runs[0]) == [(1.0, 2.0), (9.0, 8.0), (5.0, 9.0)]
    assert found.runs[0].sense == "max"
    seen = read_index(text, "evaluations raw_y\n1 2.0\n5 9.0\n9 8.0\n")
    assert candidates(seen.runs[0]) == [(1.0, 2.0), (5.0, 9.0), (9.0, 8.0)]


def test_the_best_of_the_index_gives_its_digits_to_the_row_that_rounded_it():
    best = {"evals": 9, "y": 0.78849999999}
    found = read_index(
        index(runs=[{"instance": 1, "evals": 9, "best": best}]), "evaluations raw_y\n3 0.8594\n9 0.7885\n"
    )
    assert candidates(found.runs[0]) == [(3.0, 0.8594), (9.0, 0.78849999999)]


@pytest.mark.parametrize(("name", "clock"), [("cpu_time", "cpu"), ("time", "wall"), ("wall_time", "wall")])
def test_a_column_of_seconds_is_the_clock(name, clock):
    table = f"evaluations raw_y {name}\n1 0.9 0.5\n3 0.8 0.75\n"
    found = read_index(index(runs=[{"instance": 1, "evals": 3}]), table)
    assert candidates(found.runs[0]) == [(0.5, 0.9), (0.75, 0.8)]
    assert found.runs[0].clock == clock
    assert "clock" in found.notes[0]


def test_several_objectives_are_not_passed_over_in_silence():
    found = read_index(index(attributes=["evaluations", "raw_y", "F2"]), "evaluations raw_y F2\n1 0.5 4.4\n")
    assert SECOND_NOTE in found.notes


def test_the_older_header_is_read_by_its_best_so_far():
    table = '"function evaluation" "current f(x)" "best-so-far f(x)" "current af(x)+b"\n1 9 9 9\n2 12 9 12\n'
    found = read_index(index(runs=[{"instance": 1, "evals": 2}]), table)
    assert candidates(found.runs[0]) == [(1.0, 9.0), (2.0, 9.0)]


@pytest.mark.parametrize("bad", ["nan", "inf", "1,5", "1e999", "__import__('os').abort()", "1_0"])
def test_cells_that_are_no_numbers_are_rejected_never_evaluated(bad):
    found = read_index(index(runs=[{"instance": 1, "evals": 3}]), f"evaluations raw_y\n1 {bad}\n2 3.0\n3\n")
    assert candidates(found.runs[0]) == [(2.0, 3.0)]
    assert len(found.problems) == 2


def test_a_table_on_its_own_is_read_without_names():
    found = read_log(READER, TABLE, path="x/IOH_f1_DIM5.dat", cut=True)
    assert [(run.arm, run.instance, run.seed, run.status) for run in found.runs] == [
        (None, None, k, "killed") for k in range(4)
    ]
    assert READER.is_companion("x/IOH_f1_DIM5.dat", TABLE.encode())
    assert {run.sense for run in found.runs} == {None}


def test_a_torn_index_is_refused_with_the_way_out():
    with pytest.raises(TraceError, match=r"expected an IOHprofiler index"):
        read_index(index()[:-30])
    with pytest.raises(TraceError, match=r"expected a list of scenarios"):
        read_index('{"algorithm": 1, "scenarios": 3}')


def test_hostile_indexes_stay_bounded():
    survive(READER, b'{"algorithm": {}, "maximization": true, "scenarios": ' + b"[" * 100_000)
    survive(READER, index(function_id=10**300).encode())
    survive(READER, index(path="../../etc/passwd").encode())
    survive(READER, index(runs=[None, 3, {"instance": [1], "evals": "x", "best": {"evals": True, "y": []}}]).encode())


def test_what_its_own_logger_writes_has_the_best_so_far_of_the_search(tmp_path):
    draw = random.Random(5)
    logger = ioh.logger.Analyzer(root=str(tmp_path), folder_name="data", algorithm_name="walk", store_positions=False)
    truth = []
    for instance in (1, 2, 1):
        problem = ioh.get_problem("OneMax", instance, 20, ioh.ProblemClass.PBO)
        problem.attach_logger(logger)
        values = []
        for _ in range(40):
            problem([draw.randint(0, 1) for _ in range(20)])
            values.append(problem.state.current_internal.y)
        best = [max(values[: k + 1]) for k in range(40)]
        truth.append([(float(k + 1), b) for k, b in enumerate(best) if k == 0 or b > best[k - 1]])
        problem.reset()
    logger.close()
    (path,) = (tmp_path / "data").glob("*.json")
    tables = {str(p.relative_to(path.parent)): p.read_text("utf-8") for p in path.parent.rglob("*.dat")}
    found = read_log(READER, path.read_text("utf-8"), path=str(path), beside=tables)
    for run, steps in zip(found.runs, truth, strict=True):
        best = float("-inf")
        improving = [(t, z) for t, z in candidates(run) if z > best and (best := z) == z]
        assert improving == steps
        assert (run.sense, run.arm, run.carried["evaluations"]) == ("max", "walk", 40.0)
    assert [(run.instance, run.seed) for run in found.runs] == [("f1-d20-i1", 0), ("f1-d20-i2", 0), ("f1-d20-i1", 1)]
    assert found.problems == []


OLDER = """suite = "PBO", funcId = 2, funcName = "Ridge", DIM = 6, maximization = "T", algId = "walk", algInfo = "x, y"
%
data_f2/IOH_f2_DIM6.dat, 1:5|6;0.5, 1:2|4;0.25
"""
OLDER_TABLE = """"function evaluation" "current f(x)" "best-so-far f(x)" "current af(x)+b" "best af(x)+b" "rate"
1 2.0 2.0 2.0 2.0 0.5
5 6.0 6.0 6.0 6.0 0.5
9 1.0 6.0 1.0 6.0 0.5
"function evaluation" "current f(x)" "best-so-far f(x)" "current af(x)+b" "best af(x)+b" "rate"
1 3.0 3.0 3.0 3.0 0.5
2 4.0 4.0 4.0 4.0 0.5
"""


def read_older(info=OLDER, **tables):
    beside = {"data_f2/IOH_f2_DIM6.dat": OLDER_TABLE} | {f"data_f2/IOH_f2_DIM6.{s}": t for s, t in tables.items()}
    return read_log(READER, info, path="walk/IOH_f2.info", beside={name: t for name, t in beside.items() if t})


def test_an_older_index_is_maximised_as_it_says_and_brings_no_reference():
    assert READER.looks_like("x.info", OLDER.encode())
    found = read_older()
    assert [candidates(run) for run in found.runs] == [[(1.0, 2.0), (5.0, 6.0), (9.0, 6.0)], [(1.0, 3.0), (2.0, 4.0)]]
    assert [(run.arm, run.instance, run.seed, run.panel, run.sense, run.status) for run in found.runs] == [
        ("walk", "f2-d6-i1", seed, "Ridge-d6", "max", "finished") for seed in (0, 1)
    ]
    # The index counts up to the best, the table ends with the last evaluation.
    assert [run.carried["evaluations"] for run in found.runs] == [9.0, 2.0]
    assert (found.references, found.problems, found.notes) == ([], [], [])


def test_minimised_is_as_the_older_index_says_too():
    assert {run.sense for run in read_older(OLDER.replace('"T"', '"F"')).runs} == {"min"}


FIRST = (
    "suite = 'PBO', funcId = ridge, DIM = 6, algId = 'walk', algInfo = ''\n%\ndata_f2/IOH_f2_DIM6.dat, 1:5|6, 1:2|4\n"
)


def test_an_index_of_the_first_years_shows_its_direction_by_what_best_so_far_does():
    found = read_older(FIRST)
    assert [(run.instance, run.sense) for run in found.runs] == [("fridge-d6-i1", "max")] * 2
    assert SENSE_NOTE in found.notes
    falling = OLDER_TABLE.replace("6.0", "1.0").replace("4.0", "3.0")
    assert {run.sense for run in read_older(FIRST, dat=falling).runs} == {"min"}
    flat = "\n".join(line for line in OLDER_TABLE.splitlines() if not line.startswith(("5", "9", "2")))
    assert {run.sense for run in read_older(FIRST, dat=flat).runs} == {None}


def test_two_blocks_of_one_table_share_its_runs_in_order():
    head, runs = OLDER.split("%\n")
    found = read_older(f"{head}%\n{runs.replace(', 1:2|4;0.25', '')}{head}%\n{runs.replace('1:5|6;0.5, ', '')}")
    assert [(run.instance, run.seed, len(run.time)) for run in found.runs] == [("f2-d6-i1", 0, 3), ("f2-d6-i1", 1, 2)]
    assert found.problems == []


def test_other_tables_of_the_older_loggers_are_left_out_or_stand_in_for_the_dat():
    assert read_older(cdat=OLDER_TABLE).notes == [OTHERS_NOTE]
    found = read_older(dat="", cdat=OLDER_TABLE)
    assert ([len(run.time) for run in found.runs], found.notes) == ([3, 2], [])
    assert READER.is_companion("x/IOH_f2_DIM6.cdat", OLDER_TABLE.encode())
    assert [run.status for run in read_older(dat="").runs] == ["lost", "lost"]


def test_an_index_of_coco_is_refused_because_its_values_are_differences():
    with pytest.raises(TraceError, match=r"expected an index of IOHprofiler, got one of COCO"):
        read_log(READER, "funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'a'\nf1.dat, 1:5|3\n")


def walk(logger, seed, root):
    """Run a random search on problems to maximise and to minimise; return its improvements by function and run."""
    draw, truth = random.Random(seed), {}
    for name, kind, size, sign in (
        ("OneMax", ioh.ProblemClass.PBO, 20, 1),
        ("LeadingOnes", ioh.ProblemClass.PBO, 12, 1),
        ("Sphere", ioh.ProblemClass.BBOB, 3, -1),
    ):
        if sign < 0 and root == "pbo":
            continue
        problem = ioh.get_problem(name, 1, size, kind)
        problem.attach_logger(logger)
        for repetition in range(3):
            steps: list[tuple[float, float]] = []
            for k in range(60):
                problem([draw.randint(0, 1) if sign > 0 else draw.uniform(-5, 5) for _ in range(size)])
                # Both loggers write the value before it is shifted and scaled.
                value = problem.state.current_internal.y
                if not steps or sign * value > sign * steps[-1][1]:
                    steps.append((k + 1.0, value))
            truth[name, repetition] = steps
            problem.reset()
        problem.detach_logger()
    logger.close()
    return truth


def improving(events, sense="max"):
    steps = []
    for time, value in events:
        if not steps or (value > steps[-1][1] if sense == "max" else value < steps[-1][1]):
            steps.append((time, value))
    return steps


@pytest.mark.parametrize("kind", [ioh.logger.Analyzer, ioh.logger.old.Analyzer])
def test_both_of_its_own_loggers_are_read_event_by_event(tmp_path, kind):
    truth = walk(kind(root=str(tmp_path), folder_name="data", algorithm_name="walk", store_positions=False), 9, "all")
    found = {}
    for path in sorted((tmp_path / "data").glob("IOHprofiler*")):
        tables = {str(p.relative_to(path.parent)): p.read_text("utf-8") for p in path.parent.rglob("*.dat")}
        for run in read_log(READER, path.read_text("utf-8"), path=str(path), beside=tables).runs:
            found[run.panel.rsplit("-d")[0], run.seed] = run
    assert found.keys() == truth.keys()
    for key, steps in truth.items():
        # Both loggers print ten decimals.
        ours = improving(candidates(found[key]), found[key].sense)
        assert ours == [(time, pytest.approx(value, abs=1e-9)) for time, value in steps]
        assert found[key].sense == ("min" if key[0] == "Sphere" else "max")
        assert found[key].carried["evaluations"] == 60


def test_a_folder_of_its_logger_reads_as_iohinspector_reads_it(tmp_path):
    walk(ioh.logger.Analyzer(root=str(tmp_path), folder_name="data", algorithm_name="walk"), 4, "pbo")
    manager = iohinspector.DataManager()
    manager.add_folder(str(tmp_path / "data"))
    # Their own thinning to improvements forgets where a run ends, so all rows are asked for.
    theirs = manager.load(monotonic=False, include_meta_data=True)
    campaign = import_logs([Path(tmp_path / "data")]).campaign
    assert len(campaign) == theirs["data_id"].n_unique() == 6
    for panel, seed, first, count in campaign.runs.select("panel", "seed", "first", "count").iter_rows():
        name = panel.rsplit("-d")[0]
        rows = theirs.filter(pl.col("function_name") == name, pl.col("run_id") == seed + 1)
        events = zip(campaign.time[first : first + count], campaign.objective[first : first + count], strict=True)
        assert len(ours := improving(events)) > 1
        assert ours == improving(rows.select("evaluations", "raw_y").rows())


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=200) | mutated(OLDER.encode()), mutated(OLDER_TABLE.encode()))
def test_broken_older_files_are_survived(text, table):
    survive(READER, text, beside={"data_f2/IOH_f2_DIM6.dat": table})


class TestOlderConformance(ReaderConformance):
    reader = READER
    path = "IOHprofiler_f2.info"
    sample = OLDER.encode()
    companions = {"data_f2/IOH_f2_DIM6.dat": OLDER_TABLE.encode()}  # noqa: RUF012
    runs = 2
    candidates = ((1.0, 2.0), (5.0, 6.0), (9.0, 6.0))


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=200) | mutated(index().encode()), mutated(TABLE.encode()))
def test_broken_files_are_survived(text, table):
    survive(READER, text, beside={"data_f1/IOH_f1_DIM5.dat": table})
    survive(READER, table, path="x.dat")


class TestConformance(ReaderConformance):
    reader = READER
    path = "IOHprofiler_f1.json"
    sample = index(runs=[{"instance": 1, "evals": 9}, {"instance": 2, "evals": 3}]).encode()
    companions = {"data_f1/IOH_f1_DIM5.dat": TABLE[: TABLE.rindex("evaluations")].encode()}  # noqa: RUF012
    runs = 2
    candidates = ((3.0, 0.8594), (9.0, 0.7885))
