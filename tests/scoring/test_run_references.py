"""The reference of each run, and the choices that are printed with its score."""

import polars as pl
import pytest

import gapline as gl
from gapline.contract.reading import ReferenceLabel
from gapline.errors import IntegrityError, UsageError
from gapline.scoring.run_references import build_reading, count_coverage, descriptive_arms, reference_column

RUNS = [
    {"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "trace": [(1, 4.0)], "status": "crashed"},
    {"arm": "a", "instance": "j", "seed": 1, "horizon": 60, "trace": []},
    {"arm": "b", "instance": "i", "seed": 1, "horizon": 30, "trace": [(2, 5.0)], "status": "finished"},
]


def envelopes(**choices):
    return gl.build_envelopes(gl.Campaign.from_runs(RUNS), **choices)


def test_each_run_has_the_reference_of_its_instance_transformed_as_its_objectives_are():
    snapshot = gl.Snapshot.from_values({"i": 4.0, "j": 10.0}, name="mine")
    assert reference_column(snapshot, envelopes()).tolist() == [4.0, 10.0, 4.0]
    assert reference_column(snapshot, envelopes(transform="shift:1")).tolist() == [5.0, 11.0, 5.0]


def test_a_value_of_another_instance_is_refused():
    runs = [run | {"instance_digest": f"sha256:{run['instance']}"} for run in RUNS]
    entries = {name: {"value": 4.0, "instance_digest": f"sha256:{digest}"} for name, digest in (("i", "x"), ("j", "j"))}
    snapshot = gl.Snapshot.from_entries(entries, name="mine", store={"name": "s"})
    with pytest.raises(IntegrityError, match="i: sha256:i in runs of a but sha256:x in snapshot mine"):
        reference_column(snapshot, gl.build_envelopes(gl.Campaign.from_runs(runs)))


def test_a_reading_states_horizons_and_counts_what_is_there():
    reading = build_reading(envelopes(horizon=20), ReferenceLabel("frozen", "s", "sha256:1"), kernels=("raw",))
    assert (reading.horizons, reading.announced) == ((20.0,), (30.0, 60.0))
    assert (reading.validation, reading.transform, reading.time_unit) == ("solver", "none", "s")
    coverage = count_coverage(envelopes().runs)
    assert (coverage.runs, coverage.empty, coverage.failed, coverage.unknown) == (3, 1, 1, 1)


def test_horizons_are_seconds_unless_every_run_counts_evaluations():
    label = ReferenceLabel("frozen", "s", "sha256:1")
    for clocks, unit in ((["evaluations"] * 3, "evaluations"), (["evaluations", "wall", "wall"], "s")):
        runs = [run | {"clock": clock} for run, clock in zip(RUNS, clocks, strict=True)]
        made = gl.build_envelopes(gl.Campaign.from_runs(runs))
        assert build_reading(made, label, kernels=("raw",)).time_unit == unit


def test_a_tier_two_arm_that_is_not_there_proposes_the_nearest():
    runs = pl.DataFrame({"arm": ["alpha", "beta"]})
    assert descriptive_arms(runs) == ()
    with pytest.raises(UsageError, match=r"'alpa' matches no arm\nHint: did you mean 'alpha'\?"):
        descriptive_arms(runs, ["alpa"])


def test_what_was_resolved_once_is_given_again_and_cannot_be_changed_by_a_caller():
    mine, other = (gl.Snapshot.from_values({"i": value, "j": 10.0}, name="mine") for value in (4.0, 3.0))
    made = envelopes()
    reference_column(mine, made)[:] = 0.0
    assert reference_column(mine, made).tolist() == [4.0, 10.0, 4.0]
    assert reference_column(other, made).tolist() == [3.0, 10.0, 3.0]
