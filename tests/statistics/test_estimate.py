"""Estimates: every method says the same by interval and p, and what cannot be said is said."""

import numpy as np
import pytest

from gapline.cli.options import choices
from gapline.contract.contract import BootstrapTable
from gapline.errors import UsageError
from gapline.statistics.estimate import Method, method_words, panel_equal, parse_method
from summary_cases import boot_of


def boot(size=8, *, shift=1.0, draws=1999):
    rng = np.random.default_rng(size)
    base = rng.uniform(1, 4, size)
    return boot_of({"a": base.tolist(), "b": (base + shift + rng.normal(0, 0.4, size)).tolist()}, draws=draws)


@pytest.mark.parametrize("method", list(Method))
def test_interval_and_p_agree(method):
    for shift in (0.1, 1.0):
        found = boot(shift=shift).difference("a", "b").judge(method=method)
        # The p of the percentile method is the paper's, of shifted draws: it need not follow the interval.
        if method is not Method.PERCENTILE:
            assert (found.p <= 0.05) == (found.low > 0 or found.high < 0)
        assert found.low <= boot(shift=shift).difference("a", "b").value <= found.high


@pytest.mark.parametrize("method", list(Method))
def test_an_interval_moves_with_the_difference(method):
    """Adding a constant to every instance of one arm moves both ends by it: gates rest on that."""
    one, other = (
        boot_of({"a": [1, 3, 2, 5, 4, 1.5, 2, 3], "b": [2, 3, 2.5, 5, 5, 2, 2.5, 4]}, draws=499),
        boot_of({"a": [1, 3, 2, 5, 4, 1.5, 2, 3], "b": [3, 4, 3.5, 6, 6, 3, 3.5, 5]}, draws=499),
    )
    before, after = (found.difference("b", "a").judge(method=method) for found in (one, other))
    assert after.low - before.low == pytest.approx(0.05, abs=1e-9)
    assert after.high - before.high == pytest.approx(0.05, abs=1e-9)


def test_what_the_smallest_p_is():
    few = boot(6, shift=3.0, draws=99).difference("a", "b")
    assert few.judge(method="sign-flip")[2:4] == (0.03125, 0.03125)
    assert few.judge(method="percentile")[2:4] == (0.01, 0.01)
    assert few.judge(method="skew-t").smallest is None


def test_few_instances_and_methods_that_need_more():
    found = boot(4, shift=3.0).difference("a", "b").judge(method="sign-flip")
    assert (found.low, found.p, found.smallest) == (None, 0.125, 0.125)
    assert found.reason == "4 instances are too few for a 95% interval by sign flips"


@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
def test_a_spread_whose_square_is_no_number_gives_no_interval():
    found = panel_equal(np.array([1e200, 2e200, 4e200]), np.zeros(3, np.int64), draws=9).judge()
    assert (found.low, found.high) == (None, None)
    assert found.reason == "the spread of the instances is too large for an interval"


def test_instances_that_are_all_alike():
    """Their number gives a p; without spread there is no interval, and of ties neither."""
    for size in (3, 10):
        difference = boot_of({"a": [1.0] * size, "b": [3.0] * size}).difference("b", "a")
        found = difference.judge()
        assert (found.low, found.high) == (None, None)
        assert found.p == found.smallest == 2.0 ** (1 - size)
        assert not difference.tied
    same = boot_of({"a": [1.0, 4.0], "b": [1.0, 4.0]}).difference("a", "b")
    assert same.judge() == (None, None, 1.0, None, "the 2 instances are all alike: no spread to judge by")
    assert same.tied


def test_the_rounding_of_means_is_no_spread():
    """0.35 s later on every instance: the differences of scores agree but for their last bits."""
    times = [0.1, 0.2, 0.3, 0.4, 0.55, 0.65, 0.85]
    found = boot_of({"a": times, "b": [time + 0.7 for time in times]}).difference("b", "a")
    assert 0 < found.moments.error[0] < 1e-15
    assert found.judge().p == 2.0**-6


def test_one_set_of_names_in_contract_command_line_and_code():
    assert tuple(Method) == BootstrapTable.model_fields["method"].annotation.__args__

    def command(**_):
        return None

    option = next(one for one in choices(command).__click_params__ if one.name == "interval")
    assert list(option.type.choices) == list(Method)
    with pytest.raises(UsageError, match="expected skew-t, t"):
        parse_method("magic")
    for removed in ("studentized", "calibrated", "bca"):
        with pytest.raises(UsageError, match=f"expected skew-t, t, percentile, sign-flip, got '{removed}'") as error:
            parse_method(removed)
        assert error.value.hint == f"'{removed}' was removed; skew-t is the default"


def test_every_method_has_words():
    assert all(method_words(method, 100, 1) for method in Method)
    assert "draws" not in method_words("skew-t", 100, 1)
