"""QOBLIB series: several runs in one list, null incumbents, equal stamps, either sign, empty and broken files."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import bounds, candidates, mutated, read_log, survive
from gapline.contract.tables import VerdictCode
from gapline.errors import TraceError
from gapline.logs.readers.qoblib import READER
from gapline.testing.readers import ReaderConformance
from profiles import examples

SERIES = """[[{"Time": 0.017, "Incumbent": -30, "step": 1},
  {"Time": 0.017, "Incumbent": -31, "step": 2},
  {"Time": 1.5, "Incumbent": null, "step": 3},
  {"Time": 4000, "Incumbent": -42.5, "step": 4}],
 [],
 [{"Time": 0.2, "Incumbent": -12, "step": 1}]]
"""


def test_the_outer_list_holds_the_runs():
    found = read_log(READER, SERIES)
    assert READER.looks_like("a.json", SERIES.encode())
    assert [candidates(run) for run in found.runs] == [
        [(0.017, -30.0), (0.017, -31.0), (4000.0, -42.5)],
        [],
        [(0.2, -12.0)],
    ]
    assert [(run.seed, run.sense, run.where) for run in found.runs] == [
        (0, "min", "run 1"),
        (1, "min", "run 2"),
        (2, "min", "run 3"),
    ]
    assert found.runs[0].reason == ["", "", "objective missing", ""]
    assert found.problems == [
        "run.log: run 1: record 3: expected a finite objective, got nothing (objective missing)",
    ]


def test_a_rising_series_is_a_maximisation_and_keeps_its_values():
    flipped = json.dumps([[{"Time": t, "Incumbent": v} for t, v in ((0, 3), (1, 5), (2, 9))]])
    found = read_log(READER, flipped)
    assert found.runs[0].sense == "max"
    assert candidates(found.runs[0]) == [(0.0, 3.0), (1.0, 5.0), (2.0, 9.0)]
    assert "read as max" in found.notes[0]


def test_a_series_that_moves_both_ways_is_reported():
    found = read_log(READER, json.dumps([[{"Time": t, "Incumbent": v} for t, v in ((0, 9), (1, 5), (2, 7), (3, 4))]]))
    assert "2 steps down and 1 up (read as min)" in found.problems[0]


@pytest.mark.parametrize("text", ["[]", "[[]]", "", " \n"])
def test_an_empty_file_is_an_empty_run(text):
    (run,) = read_log(READER, text).runs
    assert len(run.time) == 0
    assert run.sense is None


def test_empty_lists_are_recognised_by_their_name_alone():
    assert READER.looks_like("x/a.json.gz", b"[[]]\n")
    assert not READER.looks_like("x/a.txt", b"[[]]\n")
    assert not READER.looks_like("x/a.json", b'[{"id": 1}]')


def test_one_run_may_stand_without_the_outer_list():
    (run,) = read_log(READER, '[{"Time": 1, "Incumbent": 2}]').runs
    assert candidates(run) == [(1.0, 2.0)]


def test_every_cut_keeps_whole_records_and_marks_the_last_run_killed():
    text = SERIES.rstrip()
    stamps = [candidates(run) for run in read_log(READER, text).runs]
    for stop in range(text.index("}") + 1, len(text)):
        found = read_log(READER, text[:stop])
        for whole, run in zip(stamps, found.runs, strict=False):
            assert candidates(run) == whole[: len(candidates(run))]
        assert found.runs[-1].status == "killed"
        assert "breaks off" in found.problems[-1] or "breaks off" in found.problems[0]


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "1e999", '"1,5"', "true", "[1]", "9" * 100_000])
def test_a_value_that_is_no_finite_number_is_rejected(bad):
    found = read_log(READER, f'[[{{"Time": 1, "Incumbent": {bad}}}, {{"Time": 2, "Incumbent": 5}}]]')
    (run,) = found.runs
    assert candidates(run) == [(2.0, 5.0)]
    assert np.count_nonzero(run.verdict == VerdictCode.INVALID) == 1
    assert len(found.problems) == 1


def test_endless_nesting_is_refused_or_recovered_without_harm():
    with pytest.raises(TraceError):
        read_log(READER, "{" * 200_000)
    survive(READER, b"[" * 200_000)
    survive(READER, b'[[{"Time":1,"Incumbent":' + b"[" * 200_000)


@pytest.mark.slow
def test_crlf_and_a_huge_line_change_nothing():
    assert candidates(read_log(READER, SERIES.replace("\n", "\r\n")).runs[0])[0] == (0.017, -30.0)
    long = json.dumps([[{"Time": k, "Incumbent": -k} for k in range(100_000)]])
    assert len(read_log(READER, long).runs[0].time) == 100_000


def test_another_text_is_refused():
    with pytest.raises(TraceError, match=r"run\.log: expected a list of runs"):
        read_log(READER, '{"a": 1}')


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=200) | mutated(SERIES.encode()))
def test_broken_series_are_survived(data):
    survive(READER, data, path="a.json")


class TestConformance(ReaderConformance):
    reader = READER
    path = "series.json"
    sample = SERIES.replace("null", "-35").encode()
    runs = 3
    candidates = ((0.017, -30.0), (0.017, -31.0), (1.5, -35.0), (4000.0, -42.5))


GUROBI = """[[{"Time": 0.0, "Incumbent": null, "BestBd": 4.5, "Gap": null, "Seed": 0, "Model": "yard7"},
  {"Time": 3.0, "Incumbent": 31.0, "BestBd": 5.0, "Gap": 0.84, "Seed": 0, "Model": "yard7"},
  {"Time": 9.0, "Incumbent": 24.0, "BestBd": 5.0, "Gap": 0.79, "Seed": 0, "Model": "yard7"},
  {"Time": 60.04, "Incumbent": 24.0, "BestBd": 6.0, "Gap": 0.75, "Seed": 0, "Model": "yard7"}]]
"""


def test_rows_of_gurobi_carry_bounds_the_model_and_whole_seconds():
    found = read_log(READER, GUROBI)
    (run,) = found.runs
    assert candidates(run) == [(3.0, 31.0), (9.0, 24.0), (60.04, 24.0)]
    assert bounds(run) == [(0.0, 4.5), (3.0, 5.0), (9.0, 5.0), (60.04, 6.0)]
    assert (run.instance, run.resolution, run.sense, found.problems) == ("yard7", 1.0, "min", [])


@pytest.mark.parametrize(("bound", "sense"), [(9, "max"), (7, "min"), (8, None)])
def test_a_value_that_never_moves_has_the_sense_of_its_bound(bound, sense):
    (run,) = read_log(READER, json.dumps([[{"Time": 2, "Incumbent": 8, "BestBd": bound}]])).runs
    assert run.sense == sense


@pytest.mark.parametrize(
    ("stamps", "resolution"),
    [([0.5, 1.25], 0.1), ([0.017, 2, 3], 0.001), ([0.12345, 1, 2], None), ([4], 1.0), ([0.5], 0.1), ([], None)],
)
def test_the_resolution_is_the_unit_of_the_stamps(stamps, resolution):
    (run,) = read_log(READER, json.dumps([[{"Time": stamp, "Incumbent": 8} for stamp in stamps]])).runs
    assert run.resolution == resolution
