"""Timefold for real."""

import json
import subprocess

import pytest

from gapline.checkers import load_checker
from gapline.contract.contract import Arm
from gapline.generate import write_instances
from gapline.solvers import catalogue, check_setup, command_line

pytestmark = pytest.mark.slow


def test_timefold_keeps_the_windows_of_the_true_roads(tmp_path):
    """Its claim is an approximation from above: never less than what the checker computes, and near it."""
    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=8)
    arm = Arm(name="timefold", solver="timefold", options={"compile": "fast", "iterations": 300})
    assert check_setup(arm) is None
    command = command_line(arm, path, seed=1, horizon=300.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    hello, *candidates = [json.loads(line) for line in done.stdout.splitlines()]
    assert hello["solver"] == "timefold"
    assert candidates
    objectives = [candidate["objective"] for candidate in candidates]
    assert objectives == sorted(objectives, reverse=True)
    for candidate in candidates:
        verdict = load_checker("tdvrptw").check(path, candidate["solution"])
        assert verdict.valid, verdict.reason
        assert verdict.objective <= candidate["objective"] <= 1.02 * verdict.objective


def test_a_missing_package_names_its_extra(monkeypatch):
    lacking = catalogue.Adapter("gapline.solvers.timefold", "no-such-package", {}, "timefold")
    monkeypatch.setitem(catalogue.ADAPTERS, "timefold", lacking)
    assert check_setup(Arm(name="t", solver="timefold")).endswith("pip install 'gapline[timefold]'")
