"""JSON as others write it: numbers that are none pass as such, and nothing in it is dear."""

import math

import pytest

from gapline.logs.loose_json import as_cell, as_float, as_name, decode_json, json_lines
from gapline.logs.reader import LogFile


def test_every_number_is_a_float_and_one_without_a_float_is_infinite():
    decoded = decode_json(b'{"a": 1, "b": -Infinity, "c": 1e999, "d": NaN, "e": ' + b"9" * 5000 + b"}")
    assert decoded["a"] == 1.0
    assert type(decoded["a"]) is float
    assert (decoded["b"], decoded["c"], decoded["e"]) == (-math.inf, math.inf, math.inf)
    assert math.isnan(decoded["d"])


@pytest.mark.parametrize("text", ["{", "", "[1,]", "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        decode_json(text)


def test_values_become_numbers_cells_or_names():
    assert [as_float(value) for value in (2.5, math.inf, True, "2.5", None)] == [2.5, None, None, None, None]
    assert [as_cell(value) for value in (2.5, None, "x", True, [1.0])] == [2.5, None, "x", "bool True", "list [1.0]"]
    assert [as_name(value) for value in (7.0, "f7", "", 0.5, {})] == ["7", "f7", None, "0.5", None]


def test_lines_come_with_their_place_and_what_is_no_object_is_none():
    log = LogFile("j.log", b'{"a": 1}\n\n[1]\n{"b"')
    assert list(json_lines(log)) == [
        ("j.log:1", '{"a": 1}', {"a": 1.0}, False),
        ("j.log:3", "[1]", None, False),
        ("j.log:4", '{"b"', None, True),
    ]
