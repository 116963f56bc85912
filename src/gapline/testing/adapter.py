"""The requirements on every solver adapter, as a pytest class to inherit."""

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gapline.checkers import load_checker
from gapline.contract.contract import Arm
from gapline.contract.tables import EXACT_MODEL
from gapline.solvers import check_setup, command_line, model_of

PATIENCE = 300
# A solver may need seconds: all tests of a class share its first run.
_FIRST_RUNS: dict[tuple[type, bytes], list[dict[str, Any]]] = {}


class AdapterSuite:
    """Inherit, name the class `Test...`, set the attributes, and override the fixture `instance`: always the same one.

    `arm` is tested with an option such as `iterations` that makes it stop by itself; `checker` is that of its problem.
    The candidates of an `exact` arm are all valid at the claimed objective, within the relative `tolerance`; those of
    an arm that solves an approximation need any verdict. `repeats` states that the same seed gives the same candidates,
    `seeded` that another one gives different ones. ::

        class TestMine(AdapterSuite):
            arm = Arm(name="mine", solver="command", command=["./mine", "{instance}", "--seed", "{seed}"])
            checker = "cvrp"

            @pytest.fixture
            def instance(self, tmp_path):
                return write_instances("cvrp", tmp_path, name="mine", customers=10)[0]
    """

    arm: ClassVar[Arm]
    checker: ClassVar[str]
    exact: ClassVar[bool] = True
    repeats: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-9

    @pytest.fixture
    def instance(self, tmp_path: Path) -> Path:
        """Return the path of a small instance."""
        raise NotImplementedError("override the fixture `instance`")

    @pytest.fixture
    def lines(self, instance: Path) -> list[dict[str, Any]]:
        """Return the lines of a run with seed 1, which all tests of a class share."""
        key = (type(self), instance.read_bytes())
        if key not in _FIRST_RUNS:
            _FIRST_RUNS[key] = self.run_once(instance)
        return _FIRST_RUNS[key]

    def run_once(self, instance: Path, *, seed: int = 1) -> list[dict[str, Any]]:
        """Run the arm as the runner does and return its lines."""
        command = command_line(self.arm, instance, seed=seed, horizon=float(PATIENCE), threads=1)
        told = {"INSTANCE": instance, "SEED": seed, "HORIZON": PATIENCE, "THREADS": 1}
        environment = os.environ | {f"GAPLINE_{name}": str(value) for name, value in told.items()}
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=environment, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]

    def test_setup_is_complete(self) -> None:
        """The arm can run here: nothing is missing."""
        assert check_setup(self.arm) is None

    def test_first_line_says_who_solves(self, lines: list[dict[str, Any]]) -> None:
        """The first line holds the solver's name and version, both texts."""
        hello = lines[0]
        assert isinstance(hello.get("solver"), str)
        assert hello["solver"]
        assert isinstance(hello.get("version"), str)
        assert hello["version"]

    def test_an_approximation_names_its_model(self, instance: Path, lines: list[dict[str, Any]]) -> None:
        """An adapter that solves a simplified model names it, also on the first line; an exact arm names none.

        The arm is then described and not compared. For a command, the contract states the model.
        """
        declared, printed = model_of(self.arm, instance), lines[0].get("model", "")
        if self.exact:
            assert {declared, printed} <= {"", EXACT_MODEL}
        elif self.arm.solver != "command":
            assert declared == printed != ""

    def test_every_candidate_has_an_objective_and_a_solution(self, lines: list[dict[str, Any]]) -> None:
        """There is at least one candidate, and each has an objective and a solution."""
        candidates = _candidates(lines)
        assert candidates
        for candidate in candidates:
            assert math.isfinite(candidate["objective"])
            assert candidate["solution"] is not None
            assert candidate.get("time", 0.0) >= 0.0

    def test_every_other_line_is_a_dual_bound_or_a_claim(self, lines: list[dict[str, Any]]) -> None:
        """A line without an objective states a finite bound or a proven claim."""
        for line in lines[1:]:
            claims = line.get("claim") in ("optimal", "infeasible")
            assert claims or "objective" in line or math.isfinite(line["bound"]), line

    def test_every_candidate_gets_a_verdict(self, instance: Path, lines: list[dict[str, Any]]) -> None:
        """The checker reads each solution; those of an exact arm are valid at the claimed objective."""
        checker = load_checker(self.checker)
        for candidate in _candidates(lines):
            verdict = checker.check(instance, candidate["solution"])
            assert verdict.valid or not self.exact, verdict.reason
            assert verdict.kind != "malformed solution", verdict.reason
            if self.exact:
                assert verdict.objective == pytest.approx(candidate["objective"], rel=self.tolerance)

    def test_the_same_seed_gives_the_same_candidates(self, instance: Path, lines: list[dict[str, Any]]) -> None:
        """Objectives and solutions are repeated; times need not be."""
        if not self.repeats:
            pytest.skip("this solver does not repeat itself")
        assert _without_times(self.run_once(instance, seed=1)) == _without_times(lines)

    def test_another_seed_gives_other_candidates(self, instance: Path, lines: list[dict[str, Any]]) -> None:
        """The seed reaches the solver: one of two other seeds changes the candidates."""
        if not self.seeded:
            pytest.skip("this solver takes no seed")
        first = _without_times(lines)
        assert any(_without_times(self.run_once(instance, seed=seed)) != first for seed in (2, 3))

    def test_a_path_with_spaces_is_one_argument(self, instance: Path, tmp_path: Path) -> None:
        """Commands are argument lists, never a shell line."""
        folder = tmp_path / "a folder with spaces"
        folder.mkdir()
        for beside in instance.parent.iterdir():
            if beside.is_file():
                (folder / beside.name).write_bytes(beside.read_bytes())
        assert _candidates(self.run_once(folder / instance.name))


def _candidates(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines[1:] if "objective" in line]


def _without_times(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "time"} for line in lines]
