"""The suite for checkers catches what it is there to catch: checkers that are wrong in one way each."""

import pytest

from gapline.checkers import Verdict
from gapline.checkers.verdict import CheckerFailure
from gapline.testing import CheckerSuite


class Toy:
    """The objective is the sum of a list of numbers; an instance is any file that is there."""

    name, version = "toy", "1"

    def check(self, instance, solution, /):
        if not instance.exists():
            raise CheckerFailure(f"{instance}: expected a file, got none")
        if not isinstance(solution, list) or not solution or not all(type(x) is int and 0 < x < 10 for x in solution):
            return Verdict.reject("malformed solution: expected digits")
        return Verdict.accept(float(sum(solution)))


class TestToy(CheckerSuite):
    valid = (([1, 3], 4.0), ([9], 9.0))
    invalid = (([10], "expected digits"), ("19", "malformed"))

    @pytest.fixture
    def instance(self, tmp_path):
        (tmp_path / "toy").write_text("")
        return tmp_path / "toy"

    @pytest.fixture
    def loaded(self):
        return Toy()

    # [1, 2] is hostile to a checker of routes, and a solution here.
    @pytest.mark.parametrize("solution", [None, {}, [[1]], [0], [10**5000], [float("nan")], "[1]"])
    def test_anything_at_all_gets_a_verdict(self, loaded, instance, solution):
        super().test_anything_at_all_gets_a_verdict(loaded, instance, solution)


def test_a_wrong_objective_is_caught(tmp_path):
    suite = CheckerSuite()
    suite.valid = (([1, 3], 5.0),)
    with pytest.raises(AssertionError):
        suite.test_valid_solutions_have_the_objective_computed_by_hand(Toy(), tmp_path)


def test_a_checker_that_takes_everything_is_caught(tmp_path):
    class Kind(Toy):
        def check(self, _instance, _solution, /):
            return Verdict.accept(1.0)

    suite = CheckerSuite()
    suite.valid, suite.invalid = (([1], 1.0),), (([10], "digits"),)
    with pytest.raises(AssertionError):
        suite.test_invalid_solutions_are_rejected_with_a_reason(Kind(), tmp_path)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        suite.test_an_instance_that_is_not_there_is_the_checkers_failure(Kind(), tmp_path)


def test_a_checker_that_changes_what_it_checks_is_caught(tmp_path):
    class Greedy(Toy):
        def check(self, instance, solution, /):
            verdict = super().check(instance, solution)
            solution.append(1)
            return verdict

    suite = CheckerSuite()
    suite.valid, suite.invalid = (([1], 1.0),), ()
    with pytest.raises(AssertionError):
        suite.test_checking_changes_nothing(Greedy(), tmp_path)
