import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.package.checks.values import (
    WITHIN,
    byte_difference,
    count_numbers,
    same_number,
    same_text,
    text_difference,
    value_differences,
)


@given(st.binary(max_size=300), st.integers(0, 299), st.integers(1, 255), st.sampled_from(["x.csv", "x.png"]))
def test_two_files_are_the_same_or_the_first_difference_is_named(tmp_path_factory, data, place, by, name):
    folder = tmp_path_factory.mktemp("two")
    one, other = folder / name, folder / f"other-{name}"
    one.write_bytes(data)
    other.write_bytes(data)
    assert byte_difference(one, other, name) is None
    if place >= len(data):
        other.write_bytes(data + b"x")
        place = len(data)
    else:
        other.write_bytes(data[:place] + bytes([(data[place] + by) % 256]) + data[place + 1 :])
    found = byte_difference(one, other, name)
    assert found is not None
    if name.endswith("png"):
        assert found.said.startswith(f"byte {place:,}: ")
    else:
        assert found.line == data[:place].count(b"\n") + 1


def test_a_line_is_shown_around_where_it_differs_however_long_the_file_is(tmp_path):
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    text = "a" * 3_000_000 + "\n" + "b" * 100
    one.write_text(f"{text}left")
    other.write_text(f"{text}right")
    found = byte_difference(one, other, "one.md")
    assert (found.line, found.said) == (2, f"expected '{'b' * 30}left', got '{'b' * 30}right'")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x 0.1 y", "x 0.10000000000000002 y", True),
        ("x 0.1 y", "x 0.100000001 y", False),
        ("x 1e3", "x 1000.0", True),
        ("x 1,234", "x 1,235", False),
        ("x -1", "x 1", False),
        # Digits in a name or a digest are text, also where they would be equal as numbers.
        ("sha256:1e400", "sha256:1e401", False),
        ("x 1e400", "x 1e401", False),
        ("v1.0", "v1.00", False),
        ("a 1", "b 1", False),
        ("a 1 2", "a 1", False),
    ],
)
def test_texts_are_compared_number_by_number(one, other, same):
    assert same_text(one, other, {}) is same
    assert same_text(other, one, {}) is same


def test_a_text_that_holds_the_other_version_is_the_same_as_itself():
    text = "written by gapline 1.9.1"
    assert same_text(text, text, {"1.9.1": "2.0"})


def test_another_version_in_the_text_stands_for_ours(tmp_path):
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("gapline 2.0\n1.5\n")
    other.write_text("gapline 1.9.1\n1.5\n")
    assert text_difference(one, other, "m", {"1.9.1": "2.0"}) is None
    assert text_difference(one, other, "m", {}).line == 1
    other.write_text("gapline 2.0\n1.5\n1\n")
    assert str(text_difference(one, other, "m", {})) == "m:3: expected the end, got '1'"


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-0.4, 0.4))
def test_numbers_within_the_tolerance_are_one_number(value, share):
    near = value * (1 + share * WITHIN)
    assert same_number(value, near) or math.isinf(near)
    assert not same_number(value, value + 10 * WITHIN * max(1.0, abs(value)))


def test_json_is_compared_by_value_and_place():
    one = {"a": [1, {"b": 0.1}], "c": "x 1.0", "d": True, "e": None}
    assert list(value_differences(one, {"a": [1.0, {"b": 0.1 + 1e-17}], "c": "x 1", "d": True, "e": None}, {})) == []
    other = {"a": [1, {"b": 0.2}], "c": "y 1.0", "d": 1, "f": 3}
    places = [place for place, _, _ in value_differences(one, other, {})]
    assert places == ["a[1].b", "c", "d", "e", "f"]
    alone = {}
    assert [place for place, _, _ in value_differences(one, other, alone=alone)] == ["a[1].b", "c", "d"]
    assert (alone, count_numbers(other)) == ({"e": 0, "f": 1}, 4)
    assert list(value_differences([1, 2], [1], {})) == [("", [1, 2], [1])]
