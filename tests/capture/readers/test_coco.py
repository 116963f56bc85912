"""COCO: an index and its tables, old and new layout, and what is missing or torn in them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import candidates, mutated, read_log, survive
from gapline.capture.readers.coco import READER, SHIFT_NOTE
from gapline.errors import TraceError
from gapline.testing.readers import ReaderConformance

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


@settings(max_examples=100, deadline=None)
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
