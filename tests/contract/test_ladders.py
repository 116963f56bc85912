"""Which arms are steps of one ladder: by what their runs record, and by what a contract declares."""

import json

import polars as pl
import pytest

from gapline.contract.contract import Arm
from gapline.contract.ladders import find_ladders, ladder_record, with_ladders
from gapline.errors import TraceError


def recorded(*rows):
    columns = {"arm": pl.String, "ladder": pl.String, "ladder_step": pl.String}
    return pl.DataFrame(rows, columns, orient="row")


def arm(name, of="", **steps):
    return Arm(name=name, solver="command", command=["x"], steps=steps, step_of=of)


def test_steps_are_sorted_as_numbers_and_text_in_its_natural_order():
    for values, expected in (
        ([10, 2, 1], [1, 2, 10]),
        ([1e-3, 1e-10, 2], [1e-10, 1e-3, 2]),
        ([-1, 0.5, -10], [-10, -1, 0.5]),
        (["n10", "n9"], ["n9", "n10"]),
        (["10", "9"], ["9", "10"]),
        (["auto", 8, 4], [4, 8, "auto"]),
        ([True, False], [False, True]),
    ):
        runs = recorded(*((f"a{k}", "a", json.dumps({"n": value})) for k, value in enumerate(values)))
        assert [step["n"] for step in find_ladders(runs)["n"].values()] == expected


def test_two_settings_are_sorted_one_after_the_other():
    runs = recorded(*((f"{a}-{b}", "x", json.dumps({"a": a, "b": b})) for a in (10, 9) for b in (2, 11)))
    assert list(find_ladders(runs)["a, b"]) == ["9-2", "9-11", "10-2", "10-11"]


def test_what_the_runs_record_counts_and_a_contract_adds_the_rest():
    runs = recorded(("a", "new {n}", '{"n": 1}'), ("b", None, None), ("c", None, None))
    declared = [arm("a", "old {m}", m=7), arm("b", "new {n}", n=2), arm("c"), arm("d", "new {n}", n=0)]
    expected = {"n": {"d": {"n": 0}, "a": {"n": 1}, "b": {"n": 2}}}
    assert find_ladders(runs, declared) == expected
    filled = with_ladders(runs, declared)
    assert filled.rows() == [("a", "new {n}", '{"n": 1}'), ("b", "new {n}", '{"n": 2}'), ("c", None, None)]
    assert with_ladders(runs.select("arm"), declared[2:]).columns == ["arm"]
    assert ladder_record(declared[2]) == {}


def test_an_arm_whose_runs_record_several_steps_is_none_of_them():
    assert find_ladders(recorded(("a", "x", '{"n": 1}'), ("a", "x", '{"n": 2}'), ("b", "x", '{"n": 3}'))) == {
        "n": {"b": {"n": 3}}
    }


@pytest.mark.parametrize("text", ["5", "slices=5", "{}", '{"n": [1]}', '{"n": null}', "[" * 100_000])
def test_what_is_no_step_is_shown(text):
    with pytest.raises(TraceError, match="ladder_step of a: expected settings as a JSON object"):
        find_ladders(recorded(("a", "x", text)))


def test_columns_of_others_that_are_called_so_are_none_of_ours():
    assert find_ladders(pl.DataFrame({"arm": ["a"], "ladder": [3]})) == {}
    assert find_ladders(pl.DataFrame({"arm": ["a"], "ladder": [3], "ladder_step": [1.5]})) == {}
