"""Points and bounds as MIP adapters print them: nothing that is zero, nothing twice, nothing infinite."""

import pytest

from gapline.solvers.protocol import NEAR, BestBound, named_values


@pytest.mark.parametrize(
    ("value", "whole", "point"),
    [
        (1 - NEAR / 2, True, {"x": 1}),
        # Further from a whole number than the checker allows: it is for the checker to say so.
        (1 - 2 * NEAR, True, {"x": 1 - 2 * NEAR}),
        (1 - NEAR / 2, False, {"x": 1 - NEAR / 2}),
        (NEAR / 2, True, {}),
        (-0.0, False, {}),
    ],
)
def test_only_what_must_be_whole_is_rounded_and_zeros_are_left_out(value, whole, point):
    assert named_values(["x"], [value], [whole]) == point


def test_a_bound_is_news_once_and_infinite_ones_never_are():
    best = BestBound()
    assert [best.news(bound) for bound in (-1e20, 3.0, 3.0, float("nan"), 3.5, 1e20)] == [
        None, 3.0, None, None, 3.5, None,
    ]  # fmt: skip
