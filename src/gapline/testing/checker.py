"""The requirements on every checker, as a pytest class to inherit."""

import copy
from pathlib import Path
from typing import ClassVar

import pytest

from gapline.checkers import Checker, CheckerFailure, load_checker

# Values of a JSON line that must not break any checker.
HOSTILE: tuple[object, ...] = (
    None, True, 0, -1, 1.5, "", "[[1]]", {}, {"routes": [[1]]}, [], [[]], [None], [1, 2], ["12"], [[None]], [["1"]],
    [[1.0]], [[True]], [[0]], [[-1]], [[10**30]], [[10**5000]], [[[1]]], [[1], {}], [[float("nan")]], [[float("inf")]],
)  # fmt: skip


class CheckerSuite:
    """Inherit, name the class `Test...`, set the attributes, and override the fixture `instance` of the solutions.

    `checker` is a name as in a contract; `valid` pairs solutions with the objective computed by hand, from which the
    checker may differ by the relative `tolerance`; `invalid` pairs them with a part of the reason for the rejection. ::

        class TestMine(CheckerSuite):
            checker = "python:mine:check"
            valid = (([[1, 2]], 12.0),)
            invalid = (([[1]], "missing"),)

            @pytest.fixture
            def instance(self, tmp_path):
                path = tmp_path / "tiny.vrp"
                path.write_text(TINY)
                return path
    """

    checker: ClassVar[str]
    valid: ClassVar[tuple[tuple[object, float], ...]] = ()
    invalid: ClassVar[tuple[tuple[object, str], ...]] = ()
    tolerance: ClassVar[float] = 1e-12

    @pytest.fixture
    def instance(self, tmp_path: Path) -> Path:
        """Return the path of the instance."""
        raise NotImplementedError("override the fixture `instance`")

    @pytest.fixture
    def loaded(self) -> Checker:
        """Return the checker under test."""
        return load_checker(self.checker)

    def test_it_says_who_it_is(self, loaded: Checker) -> None:
        """Name and version are stored with every verdict."""
        assert loaded.name
        assert loaded.version
        assert isinstance(loaded.version, str)

    def test_valid_solutions_have_the_objective_computed_by_hand(self, loaded: Checker, instance: Path) -> None:
        """The checker recomputes the objective."""
        assert self.valid, "state at least one valid solution"
        for solution, objective in self.valid:
            verdict = loaded.check(instance, solution)
            assert verdict.valid, (solution, verdict.reason)
            assert verdict.objective == pytest.approx(objective, rel=self.tolerance), solution
            assert not verdict.reason

    def test_invalid_solutions_are_rejected_with_a_reason(self, loaded: Checker, instance: Path) -> None:
        """A rejection has a reason in one line, and no objective."""
        assert self.invalid, "state at least one invalid solution"
        for solution, part in self.invalid:
            verdict = loaded.check(instance, solution)
            assert not verdict.valid, solution
            assert verdict.objective is None
            assert part in verdict.reason
            assert "\n" not in verdict.reason

    @pytest.mark.parametrize("solution", HOSTILE, ids=range(len(HOSTILE)))
    def test_anything_at_all_gets_a_verdict(self, loaded: Checker, instance: Path, solution: object) -> None:
        """Malformed solutions are rejected, never with an exception."""
        verdict = loaded.check(instance, solution)
        assert not verdict.valid
        assert verdict.reason
        assert len(verdict.reason) < 500

    def test_checking_changes_nothing(self, loaded: Checker, instance: Path) -> None:
        """The same solution gets the same verdict, before and after others, and is not changed."""
        solutions = [solution for solution, _ in (*self.valid, *self.invalid)]
        before = copy.deepcopy(solutions)
        # Forwards and backwards, to expose a checker that depends on the previous candidate.
        first = [loaded.check(instance, solution) for solution in solutions]
        again = [loaded.check(instance, solution) for solution in reversed(solutions)]
        assert first == again[::-1]
        assert solutions == before

    def test_an_instance_that_is_not_there_is_the_checkers_failure(self, loaded: Checker, tmp_path: Path) -> None:
        """An error that is not the candidate's fault leaves it unchecked."""
        solution = self.valid[0][0]
        with pytest.raises(CheckerFailure):
            loaded.check(tmp_path / "no such instance", solution)
