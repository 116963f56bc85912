"""What of a row is a candidate, and what is wrong with the others."""

import math
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.contract.tables import VerdictCode
from gapline.traces.candidates import NUMBER, CandidateProblems, parse_numbers, plain_numbers, read_candidates
from gapline.traces.repeated_rows import Rows, find_heads

TABLE = pl.DataFrame(
    {"time": ["1", "x", None, "4"], "objective": ["9", "8", None, None], "valid": ["true", "", None, "true"]}
)


def test_rows_are_candidates_rejected_or_runs_that_found_nothing():
    problems = CandidateProblems("t.csv")
    problems.lines = np.arange(2, 6)
    columns, reasons, kept, blank = read_candidates(TABLE, problems, np.zeros(4, np.bool_))
    assert kept.tolist() == [True, True, False, True]
    assert blank.tolist() == [False, False, True, False]
    invalid = VerdictCode.INVALID
    assert columns["verdict"][kept].tolist() == [VerdictCode.VALID, invalid, invalid]
    assert reasons.filter(pl.Series(kept)).to_list() == ["", "time not a number", "objective missing"]
    assert problems.count == 2


def test_a_problem_names_its_line_at_once_and_its_run_when_runs_are_known():
    problems = CandidateProblems("t.csv")
    for start in (2, 4):
        problems.lines = np.arange(start, start + 2)
        problems.add(np.array([False, True]), "a time", pl.Series(["1", "x"]))
        problems.rows += 2
    keys = pl.DataFrame({"arm": ["a", "a", "b"], "instance": ["i", "i", "j"], "seed": [1, 1, 2]})
    heads = [find_heads(part, np.arange(2)) for part in (keys[:2], keys[1:])]
    problems.name_runs(pl.concat(part.table for part in heads), Rows(heads))
    assert problems.messages == [
        "t.csv:3: expected a time, got 'x' (run a/i/1)",
        "t.csv:5: expected a time, got 'x' (run b/j/2)",
    ]


def test_numbers_are_numbers_in_form_and_in_value():
    values, _ = parse_numbers(pl.Series(["1.5", " 2 ", "1e400", "0x1p3", "", None]))
    assert values[:2].tolist() == [1.5, 2.0]
    assert np.isnan(values[2:]).all()


def test_numbers_with_nothing_to_say_against_are_taken_as_they_are():
    table = pl.DataFrame({"time": [1.0, 0.5], "objective": [9.0, -8.0]})
    found = read_candidates(table, CandidateProblems("t.parquet"))
    assert (found.reasons, found.kept.tolist(), found.blank.tolist()) == (None, [True, True], [False, False])
    assert found.columns["objective"].tolist() == [9.0, -8.0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"time": [1.0, -1.0]}, "time negative"),
        ({"time": [1.0, np.inf]}, "time not finite"),
        ({"time": [1.0, np.nan]}, "time not finite"),
        ({"objective": [9.0, -np.inf]}, "objective not finite"),
        ({"objective": [9.0, None]}, "objective missing"),
    ],
)
def test_one_number_that_cannot_be_used_is_found_among_plain_ones(cells, reason):
    problems = CandidateProblems("t.parquet")
    problems.lines = range(1, 3)
    found = read_candidates(pl.DataFrame({"time": [1.0, 2.0], "objective": [9.0, 8.0]} | cells), problems)
    assert found.reasons.to_list() == ["", reason]
    assert found.columns["verdict"].tolist() == [VerdictCode.VALID, VerdictCode.INVALID]
    assert problems.count == 1


@given(st.text("0123456789.eE+-_ xnaif\u0661\uff11", max_size=8) | st.floats().map(repr) | st.integers().map(str))
def test_text_is_a_number_where_its_form_is_that_of_one(text):
    """What Polars takes as a number is what a trace may have, to the bit: no 1_000, no inf, no digits of others."""
    numbers, is_number = plain_numbers(pl.Series([text])), re.fullmatch(NUMBER.strip("^$"), text) is not None
    assert (numbers is not None) == (is_number and math.isfinite(float(text)))
    assert numbers is None or numbers.to_list() == [float(text)]


def test_a_column_with_nothing_in_some_cells_is_numbers():
    assert plain_numbers(pl.Series(["1", None, "-2.5"])).to_list() == [1.0, None, -2.5]
    assert plain_numbers(pl.Series(["1", ""])) is None
    assert plain_numbers(pl.Series([True])) is None
