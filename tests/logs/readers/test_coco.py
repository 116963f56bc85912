"""COCO: an index and its tables, old and new layout, and what is missing or torn in them."""

import gzip
import json
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import candidates, mutated, read_log, survive
from gapline.errors import TraceError
from gapline.logs.importer import import_logs
from gapline.logs.readers.coco import LEFT_OUT_NOTE, READER, SHIFT_NOTE
from gapline.testing.readers import ReaderConformance
from profiles import examples

INFO = """suite = 'bbob', funcId = 3, DIM = 2, Precision = 1.000e-08, algId = 'swarm', coco_version = '2.6'
% a comment
data_f3/bbobexp_f3_DIM2.dat, 1:6|2.3e-02, 2:4|1.0e+00, 1:2|9.0e-01
funcId = 3, DIM = 5, Precision = 1.000e-08, algId = 'swarm'
%
data_f3\\bbobexp_f3_DIM5.dat, 7:9|3.0e+00
"""
HEADER = "% f evaluations | g evaluations | best noise-free fitness - Fopt (7.948000000000e+01) + sum g_i+ | measured\n"
OLD = "% function evaluation | noise-free fitness - Fopt (7.948e+01) | best noise-free fitness - Fopt | measured\n"
TABLES = {
    "data_f3/bbobexp_f3_DIM2.dat": HEADER
    + "1 0 +4.0e+01 +1.2e+02 +1.2e+02\n6 0 +2.3e-02 +8.0e+01\n"
    + HEADER
    + "1 0 +1.0e+00 +8.0e+01\n"
    + HEADER
    + "1 0 +5.0e+00 +8.0e+01\n2 0 +9.0e-01 +8.0e+01\n",
    "data_f3/bbobexp_f3_DIM2.tdat": HEADER
    + "1 0 +4.0e+01\n3 0 +7.0e+00\n6 0 +2.3e-02\n"
    + HEADER
    + "4 0 +1.0e+00\n"
    + HEADER
    + "2 0 +9.0e-01\n",
    "data_f3/bbobexp_f3_DIM5.dat": OLD + "1 +9.0e+00 +9.0e+00 +8.8e+01\n9 +4.0e+00 +3.0e+00 +8.2e+01\n",
}


def read_index(info=INFO, tables=TABLES, **options):
    return read_log(READER, info, path="swarm/bbobexp_f3.info", beside=tables, **options)


def test_runs_are_named_by_function_dimension_instance_and_repetition():
    found = read_index()
    assert READER.looks_like("x.info", INFO.encode())
    assert [(run.arm, run.instance, run.seed, run.panel) for run in found.runs] == [
        ("swarm", "f3-d2-i1", 0, "bbob-d2"),
        ("swarm", "f3-d2-i2", 0, "bbob-d2"),
        ("swarm", "f3-d2-i1", 1, "bbob-d2"),
        ("swarm", "f3-d5-i7", 0, "d5"),
    ]
    assert {run.clock for run in found.runs} == {"evaluations"}
    assert [run.carried["evaluations"] for run in found.runs] == [6, 4, 2, 9]
    assert found.problems == []


def test_both_tables_of_a_run_are_one_trace():
    found = read_index()
    assert sorted(set(candidates(found.runs[0]))) == [(1.0, 40.0), (3.0, 7.0), (6.0, 0.023)]
    assert sorted(set(candidates(found.runs[2]))) == [(1.0, 5.0), (2.0, 0.9)]
    assert candidates(found.runs[3]) == [(1.0, 9.0), (9.0, 3.0)]


def test_the_reference_is_zero_as_the_source_gives_it_with_a_note_on_the_shift():
    found = read_index()
    assert [(ref.instance, ref.value, ref.certified) for ref in found.references] == [
        ("f3-d2-i1", 0.0, True),
        ("f3-d2-i2", 0.0, True),
        ("f3-d5-i7", 0.0, True),
    ]
    assert SHIFT_NOTE in found.notes


def test_a_missing_table_loses_its_runs_by_name():
    found = read_index(tables={})
    assert [(run.status, len(run.time)) for run in found.runs] == [("lost", 0)] * 4
    assert "expected the table 'data_f3/bbobexp_f3_DIM2.dat' beside the index" in found.problems[0]


def test_an_empty_run_in_the_middle_keeps_its_place():
    tables = {"data_f3/bbobexp_f3_DIM2.dat": HEADER + "1 0 +4.0\n" + HEADER + HEADER + "1 0 +5.0\n"}
    found = read_index(INFO[: INFO.index("funcId = 3, DIM = 5")], tables)
    assert [candidates(run) for run in found.runs] == [[(1.0, 4.0)], [], [(1.0, 5.0)]]


def test_a_table_with_fewer_runs_than_its_index_is_reported():
    found = read_index(tables={**TABLES, "data_f3/bbobexp_f3_DIM5.dat": ""})
    assert "expected 1 runs in 'data_f3/bbobexp_f3_DIM5.dat', got 0" in found.problems[0]
    assert found.runs[3].status == "lost"


def test_bad_rows_and_entries_are_counted():
    tables = {**TABLES, "data_f3/bbobexp_f3_DIM5.dat": OLD + "1 +9.0e+00 nan x\n3\n9 +4.0e+00 1,5 x\n"}
    found = read_index(INFO.replace("7:9|3.0e+00", "7:9|3.0e+00, oops"), tables)
    assert candidates(found.runs[3]) == []
    assert len(found.problems) == 4


def test_a_table_on_its_own_is_read_with_what_its_name_says():
    table = TABLES["data_f3/bbobexp_f3_DIM2.dat"]
    found = read_log(READER, table.replace("\n", "\r\n"), path="a/bbobexp_f3_DIM2.dat", cut=True)
    assert [(run.instance, run.seed, run.status) for run in found.runs] == [("f3-d2", k, "killed") for k in range(3)]
    assert READER.is_companion("a/bbobexp_f3_DIM2.dat", table.encode())
    assert not READER.is_companion("x.info", INFO.encode())


def test_evaluations_that_restart_open_a_run_where_the_header_is_missing():
    found = read_log(READER, HEADER + "1 0 4.0\n5 0 3.0\n1 0 9.0\n", path="t.tdat")
    assert [candidates(run) for run in found.runs] == [[(1.0, 4.0), (5.0, 3.0)], [(1.0, 9.0)]]


def test_another_text_is_refused():
    with pytest.raises(TraceError, match=r"run\.log: expected an index"):
        read_log(READER, "hello\n")


def test_a_run_that_was_never_closed_is_killed_and_keeps_its_events():
    found = read_index(INFO.replace("7:9|3.0e+00", "7"))
    assert (found.runs[3].status, found.runs[3].carried["evaluations"]) == ("killed", None)
    assert candidates(found.runs[3]) == [(1.0, 9.0), (9.0, 3.0)]
    assert found.problems == []


def test_a_reference_that_is_no_optimum_is_not_certified():
    tables = {name: table.replace("Fopt", "Fref") for name, table in TABLES.items()}
    assert {reference.certified for reference in read_index(tables=tables).references} == {False}


def test_an_index_of_iohprofiler_is_refused_because_its_values_are_no_differences():
    theirs = 'suite = "PBO", funcId = 1, funcName = "OneMax", DIM = 16, maximization = "T", algId = "a", algInfo = ""\n'
    assert not READER.looks_like("x.info", theirs.encode())
    with pytest.raises(TraceError, match=r"expected an index of COCO, got one of IOHprofiler"):
        read_log(READER, theirs + "data.dat, 1:5|3\n")


def write_folder(folder, **more):
    tables = {name: text for name, text in TABLES.items() if "DIM2" in name}
    for suffix in ("rdat", "mdat"):
        tables[f"data_f3/bbobexp_f3_DIM2.{suffix}"] = HEADER * 3 + more.get(suffix, "")
    (folder / "data_f3").mkdir(parents=True)
    (folder / "bbobexp_f3.info").write_text(INFO[: INFO.index("funcId = 3, DIM = 5")])
    for name, text in tables.items():
        (folder / name).write_text(text)
    return folder


def test_a_result_folder_is_imported_with_its_empty_tables_of_restarts_and_recommendations(tmp_path):
    campaign = import_logs([write_folder(tmp_path / "swarm")]).campaign
    assert (len(campaign), campaign.facts["sense"], campaign.diagnostics.problem_count) == (3, "min", 0)
    assert LEFT_OUT_NOTE not in campaign.notes()


def test_a_packed_table_that_ends_early_is_named(tmp_path):
    """It was read up to there without a word."""
    write_folder(tmp_path)
    (table, *_) = sorted(tmp_path.rglob("*.dat"))
    table.with_name(table.name + ".gz").write_bytes(gzip.compress(table.read_bytes() * 50)[:-20])
    table.unlink()
    found = import_logs([tmp_path], arm="a").campaign.diagnostics
    assert any(f"{table.name}): expected a whole compressed file, got one that ends early" in p for p in found.problems)


def test_rows_in_the_tables_that_are_no_trace_are_left_out_with_a_note(tmp_path):
    campaign = import_logs([write_folder(tmp_path / "swarm", mdat="4 0 +1.0e-03 +8.0e+01\n")]).campaign
    assert LEFT_OUT_NOTE in campaign.notes()
    assert campaign.objective.min() == 0.023


EXPERIMENT = """
import json, random, warnings
warnings.simplefilter("ignore")
import cocoex, cocopp
draw = random.Random(11)
suite = cocoex.Suite("bbob", "", "dimensions:2,3 function_indices:1,8 instance_indices:1-3")
observer = cocoex.Observer("bbob", "result_folder: walk algorithm_name: walk")
truth = {}
for problem in suite:
    problem.observe_with(observer)
    best, steps = float("inf"), []
    for k in range(150):
        if k == 70:
            observer.signal_restart(problem)
        value = problem([draw.uniform(-5, 5) for _ in range(problem.dimension)])
        if value < best:
            best = value
            steps.append([k + 1, value])
    truth[f"f{problem.id_function}-d{problem.dimension}-i{problem.id_instance}"] = steps
    problem.free()
theirs = {}
for data in cocopp.load(observer.result_folder):
    for column, instance in enumerate(data.instancenumbers, start=1):
        theirs[f"f{data.funcId}-d{data.dim}-i{instance}"] = {
            "targets": [[row[0], row[column]] for row in data.evals.tolist()],
            "budgets": [[row[0], row[column]] for row in data.funvals.tolist()],
            "last": data.maxevals[column - 1],
        }
print()
print(json.dumps([observer.result_folder, truth, theirs]).replace("NaN", "null"))
"""


@pytest.mark.slow
def test_what_cocos_own_logger_writes_reads_as_cocopp_reads_it(tmp_path):
    """Event by event: the evaluations at every target, the value at every budget, and the values that were logged."""
    pytest.importorskip("cocoex")
    out = subprocess.run(
        [sys.executable, "-c", EXPERIMENT], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    folder, truth, theirs = json.loads(out.splitlines()[-1])
    imported = import_logs([tmp_path / folder])
    campaign = imported.campaign
    assert {reference.certified for reference in imported.references} == {True}
    assert set(campaign.runs["instance"]) == set(truth) == set(theirs)
    assert campaign.runs["status"].to_list() == ["finished"] * 12
    assert LEFT_OUT_NOTE in campaign.notes()  # each run was restarted once
    assert campaign.diagnostics.problem_count == 0
    for instance, first, count in campaign.runs.select("instance", "first", "count").iter_rows():
        part = slice(first, first + count)
        ours = list(zip(campaign.time[part].tolist(), campaign.objective[part].tolist(), strict=True))
        assert ours[-1][0] == theirs[instance]["last"] == 150
        for target, evaluations in theirs[instance]["targets"]:
            assert next((time for time, value in ours if value <= target), None) == evaluations
        for budget, value in theirs[instance]["budgets"]:
            assert min(objective for time, objective in ours if time <= budget) == pytest.approx(value, rel=1e-12)
        # What was logged is the best so far of the search, up to the ten digits that COCO prints and one constant.
        logged = sorted(set(ours))
        known = [max(step for step in truth[instance] if step[0] <= time)[1] for time, _ in logged]
        optimum = known[0] - logged[0][1]
        for (time, value), best in zip(logged, known, strict=True):
            assert value == pytest.approx(best - optimum, abs=1e-6 * abs(best)), time
        assert all(later <= earlier for (_, earlier), (_, later) in pairwise(logged))


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=200) | mutated(INFO.encode()), mutated(TABLES["data_f3/bbobexp_f3_DIM2.dat"].encode()))
def test_broken_files_are_survived(info, table):
    survive(READER, info, beside={"data_f3/bbobexp_f3_DIM2.dat": table})
    survive(READER, table, path="x.dat")


class TestConformance(ReaderConformance):
    reader = READER
    path = "bbobexp_f3.info"
    sample = INFO.replace("\\", "/").encode()
    companions = {name: table.encode() for name, table in TABLES.items()}  # noqa: RUF012 - the suite declares it
    runs = 4
    candidates = ((1.0, 40.0), (6.0, 0.023), (1.0, 40.0), (3.0, 7.0), (6.0, 0.023))
