"""Draws depend on their name alone, stay inside and are even."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.generate.draws import Draws
from profiles import examples


@settings(deadline=None, max_examples=examples(50))
@given(st.text(max_size=20), st.integers(-1000, 1000), st.integers(0, 10**6))
def test_draws_stay_inside_and_repeat_themselves(name, low, span):
    first = [Draws(name).integer(low, low + span) for _ in range(2)]
    assert first[0] == first[1]
    assert low <= first[0] <= low + span


def test_draws_are_even():
    """6,000 throws of a die: each face within five standard deviations of 1,000."""
    draws = Draws("die")
    throws = [draws.integer(1, 6) for _ in range(6000)]
    assert all(abs(throws.count(face) - 1000) < 5 * 29 for face in range(1, 7))


def test_shuffling_keeps_all():
    assert sorted(Draws("s").shuffled(range(50))) == list(range(50))
