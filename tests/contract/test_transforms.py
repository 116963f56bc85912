"""Declared transforms: one function for objectives and references, printed as it was declared."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.contract.transforms import Transform, shortest
from gapline.errors import ObjectiveError, UsageError

DECLARED = [
    "none",
    "shift:10",
    "shift:-2.5",
    "reciprocal:1",
    "negate-shift:1e+06",
    "hierarchical:1000",
    "hierarchical:10n",
]


@pytest.mark.parametrize("text", DECLARED)
def test_a_transform_is_printed_as_it_was_declared(text):
    assert str(Transform.parse(text)) == text
    assert Transform.parse(str(Transform.parse(text))) == Transform.parse(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_digit_of_a_constant_is_lost_in_its_name(constant):
    assert Transform.parse(f"shift:{shortest(constant)}").constant == constant
    assert Transform.parse(str(Transform.parse(f"shift:{constant!r}"))).constant == constant


@pytest.mark.parametrize(
    "text",
    ["shfit:1", "shift", "shift:", "shift:x", "shift:nan", "shift:inf", "none:1", "reciprocal:0", "reciprocal:-1",
     "negate-shift", "hierarchical", "hierarchical:0", "hierarchical:n", "hierarchical:-5", "shift:10n"],
)  # fmt: skip
def test_bad_transforms_are_refused_with_the_syntax(text):
    with pytest.raises(UsageError, match="transform: expected"):
        Transform.parse(text)


@pytest.mark.parametrize(
    ("text", "value", "image"),
    [("none", 5.0, 5.0), ("shift:10", -4.0, 6.0), ("negate-shift:10", 4.0, 6.0), ("reciprocal:8", 4.0, 2.0)],
)
def test_a_reference_is_transformed_like_an_objective(text, value, image):
    transform = Transform.parse(text)
    assert transform.apply(value) == image


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8))
def test_transforms_that_maximise_reverse_the_order_and_the_others_keep_it(values):
    z = np.array(values)
    for text in ("shift:10", "negate-shift:7"):
        transform = Transform.parse(text)
        image = transform.apply(z)
        assert np.argmin(image) in np.flatnonzero(image == image.min())
        best = z[np.argmin(image)]
        wanted = z.max() if transform.maximises else z.min()
        assert transform.apply(best) == transform.apply(wanted)


def test_hierarchical_objectives_by_hand():
    fixed, per_size = Transform.parse("hierarchical:1000"), Transform.parse("hierarchical:10n")
    assert fixed.scalarise([3.0, 2.0], [250.0, 400.0]).tolist() == [3250.0, 2400.0]
    assert per_size.scalarise([3.0, 3.0], [250.0, 250.0], size=[100, 20]).tolist() == [3250.0, 850.0]
    assert fixed.hierarchical
    assert not fixed.maximises


@pytest.mark.parametrize("size", [None, [0.0], [-1.0], [math.nan], [math.inf]])
def test_a_multiple_of_the_size_needs_a_size(size):
    with pytest.raises(ObjectiveError, match="size"):
        Transform.parse("hierarchical:10n").multiplier(size)


def test_the_reciprocal_of_zero_is_infinite_and_of_a_negative_negative_so_both_get_refused():
    assert Transform.parse("reciprocal").apply([0.0, -2.0]).tolist() == [math.inf, -0.5]
