"""Indexes of two formats that look alike: whose they are, and what they list."""

import pytest

from gapline.logs.reader import Found, LogFile
from gapline.logs.readers.info_index import IndexedRun, index_writer, read_blocks

OLD = "funcId = 4, DIM = 2, Precision = 1.000e-08, algId = 'grid'\n"
NEW = "suite = 'bbob', funcId = 4, DIM = 2, Precision = 1.000e-08, algId = 'grid', coco_version = '2.8.2'\n"
IOH = 'suite = "PBO", funcId = 2, funcName = "Lead, ones", DIM = 16, maximization = "T", algId = "w", algInfo = "a"\n'
FIRST_IOH = "suite = 'PBO', funcId = jump, DIM = 16, algId = 'walk', algInfo = 'flips, one'\n"


@pytest.mark.parametrize(
    ("text", "writer"),
    [
        (OLD, "coco"),
        (NEW, "coco"),
        ("% of last week\n" + NEW, "coco"),
        (IOH, "iohprofiler"),
        (FIRST_IOH, "iohprofiler"),
        ("algorithm = 'grid', indicator = 'hyp', folder = 'a'\n", None),
        ("funcId = 4\n", None),
        ("", None),
    ],
)
def test_an_index_is_told_by_what_its_first_block_states(text, writer):
    assert index_writer(text.encode()) == writer


def blocks(text):
    found = Found()
    return list(read_blocks(LogFile("a/b.info", text.encode()), found)), found.problems


def test_commas_and_quotes_inside_a_fact_stay_in_it():
    (block,), problems = blocks(IOH + "%\ndata\\f2.dat, 3:17|12.5;10, 3:9|11\n")
    assert block.facts["funcName"] == "Lead, ones"
    assert (block.facts["maximization"], block.facts["DIM"], block.facts["algInfo"]) == ("T", "16", "a")
    assert block.table == "data/f2.dat"
    assert block.runs == [IndexedRun(3, 17), IndexedRun(3, 9)]
    assert block.where == "a/b.info:3"
    assert problems == []


def test_a_run_that_was_begun_and_never_closed_has_no_evaluations():
    (block,), problems = blocks(NEW + "%\nf4.dat, 1:500|2.3e-09, 2")
    assert block.runs == [IndexedRun(1, 500), IndexedRun(2, None)]
    assert problems == []


def test_a_line_with_thousands_of_runs_is_read_whole():
    (block,), _ = blocks(FIRST_IOH + "f.dat" + "".join(f", 1:{k}|1.00000e+02" for k in range(3000)) + "\r\n")
    assert [run.evaluations for run in block.runs] == list(range(3000))


def test_what_is_no_run_is_a_problem_with_its_line():
    (block,), problems = blocks("f.dat, 1:5|1\n" + OLD + "f.dat, 1:5|1, oops, , 2:x|3\n")
    assert block.runs == [IndexedRun(1, 5)]
    assert [problem.split(": expected")[0] for problem in problems] == ["a/b.info:1", "a/b.info:3", "a/b.info:3"]
