"""The work load: always the same work, timed, recorded where scoring finds it."""

import math
import platform

import pytest

import gapline as gl
from gapline.errors import GaplineError, UsageError
from gapline.journal.calibration import Calibration, add_calibration, read_calibrations
from gapline.run import calibrate as module
from gapline.run.calibrate import RESULT, calibrate, calibrate_here, calibrate_study, calibration_facts, one_round


def by_hand(count, vector, passes, cells):
    """The same work in plain Python."""
    modulus = 2**31 - 1
    state = pow(48_271, count, modulus)
    values = [(k + 1) / vector for k in range(vector)]
    for _ in range(passes):
        values = [(a * b + 0.25 * a) ** 0.5 for a, b in zip(values, reversed(values), strict=True)]
    places = [(k * 2_654_435_761 + state) % cells for k in range(cells)]
    walked = sum(places[place] for place in places) % modulus
    return (state + int(math.fsum(values) * 1024) + walked) % modulus


def test_the_work_is_what_it_says():
    small = {"count": 1000, "vector": 64, "passes": 20, "cells": 512}
    assert one_round(**small) == by_hand(**small)


@pytest.mark.slow
def test_the_result_is_the_same_on_every_machine():
    """Another result means another work load, which needs another name."""
    assert one_round() == RESULT


@pytest.fixture
def quick(monkeypatch):
    """A work load that takes no time: what is recorded does not depend on how fast the machine is."""
    ticks = iter([0.0, 3.0, 10.0, 12.0, 20.0, 22.2] * 20)
    monkeypatch.setattr(module, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(calibrate, "__kwdefaults__", {"repeats": 3, "work": lambda: RESULT})


@pytest.mark.usefixtures("quick")
def test_the_best_round_counts_and_the_spread_is_that_of_the_median():
    made = calibrate()
    assert made.seconds == 2.0
    assert made.spread == pytest.approx(0.1)
    assert (made.repeats, made.host) == (3, platform.node())
    assert made.work.startswith("gapline-mix/1 (Python 3.")
    assert "warning" not in calibration_facts(made)
    unsteady = Calibration(host="h", processor="p", work="w", seconds=1.0, spread=0.2, repeats=5)
    assert "do it again" in str(calibration_facts(unsteady)["warning"])


def test_a_machine_that_did_other_work_is_refused():
    with pytest.raises(GaplineError, match="expected the result"):
        calibrate(repeats=1, work=lambda: RESULT + 1)


@pytest.mark.usefixtures("quick")
def test_a_study_takes_it_over_from_before_and_after_its_runs(make_study):
    """Calibrated before the runs, and again after them: the runs table has the last one, and scoring can use it."""
    study = make_study({"mine": ["scripted", "1", "3", "0"]}, seeds=(1,))
    calibrate_study(study.path)
    gl.run_study(study.path, jobs=1)
    runs = gl.open(study.path / "campaign").runs
    assert set(runs["calibration"]) == {2.0}
    assert set(runs["host"]) == {platform.node()}
    slower = read_calibrations(study.path)
    (made,) = slower.values()
    other = {name: getattr(made, name) for name in made.__struct_fields__} | {"seconds": 4.0}
    add_calibration(study.path, Calibration(**other))
    calibrate_study(study.path)
    assert set(gl.open(study.path / "campaign").runs["calibration"]) == {2.0}
    assert (study.path / "calibrations.jsonl").read_text().count("\n") == 3
    scaled = gl.open_study(study.path, time_scale="measured", policy="analysis")
    assert str(scaled.reading.time_scale) == f"other hosts × 1 (measured by {made.work} against {platform.node()})"


@pytest.mark.usefixtures("quick")
def test_where_nothing_can_be_recorded_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected a study directory"):
        calibrate_study(tmp_path)
    (tmp_path / "study.toml").write_text("")
    (tmp_path / "campaign").mkdir()
    with pytest.raises(UsageError, match="got an imported campaign"):
        calibrate_study(tmp_path)
    with pytest.raises(UsageError, match="expected runs on this machine, got --on dask:x"):
        calibrate_here(tmp_path, "dask:x")
