"""Metric sensitivity: saturated runs and signs as the decimals say, not as the last bit does."""

import pytest

import gapline as gl
from gapline.analysis.metric_sensitivity import metric_sensitivity
from gapline.analysis.readings import build_readings
from gapline.analysis.reference_sensitivity import reference_sensitivity


def readings_of(runs, references, **choices):
    """Read runs given as (arm, instance, objective from time 0 on)."""
    campaign = gl.Campaign.from_runs(
        {"arm": arm, "instance": instance, "seed": 1, "horizon": 10, "trace": [(0, z)]} for arm, instance, z in runs
    )
    snapshots = {name: gl.Snapshot.from_values(values, name=name) for name, values in references.items()}
    return build_readings(gl.build_envelopes(campaign), snapshots, **choices)


@pytest.mark.parametrize("kernel", ["dimacs:1.1", "dimacs:1.01"])
def test_the_same_percentage_is_saturated_in_every_unit(kernel):
    """At θ itself nothing is accepted: 11 against 10, 110 against 100, 1.1 against 1."""
    theta = float(kernel.partition(":")[2])
    scales = {"i": 1.0, "j": 10.0, "k": 100.0, "l": 1000.0}
    runs = [("a", name, float(f"{theta * scale:.6g}")) for name, scale in scales.items()]
    readings = readings_of(runs, {"r": scales}, kernels=["squeezed", kernel])
    assert metric_sensitivity(readings).saturated.rows() == [(kernel, "r", 4)]
    assert readings.scores[0][:, 1].tolist() == [theta - 1] * 4


def test_a_score_within_the_tolerance_is_zero_on_both_sides():
    runs = [("a", "i", 10 * (1 - 1e-12)), ("b", "i", 10 * (1 + 1e-12)), ("c", "i", 9.0), ("d", "i", 10.0)]
    readings = readings_of(runs, {"r": {"i": 10.0}}, kernels=["squeezed"])
    assert metric_sensitivity(readings).signs.rows() == [("squeezed", "r", 1, 3, 0)]
    assert readings.beaten[0].tolist() == [False, False, True, False]
    assert reference_sensitivity(readings).negative["to"].to_list() == [0, 0, 1, 0]


def test_the_tolerance_is_the_studys():
    runs = [("a", "i", 9.99), ("b", "i", 10.95)]
    references = {"r": {"i": 10.0}, "later": {"i": 9.995}}
    for tolerance, below, saturated, changed in ((1e-9, 1, 0, 1), (0.01, 0, 1, 0)):
        readings = readings_of(runs, references, kernels=["squeezed", "dimacs:1.1"], tolerance=tolerance)
        found = metric_sensitivity(readings)
        assert found.signs.filter(kernel="squeezed", reference="r")["negative"].to_list() == [below]
        assert found.saturated.filter(reference="r")["runs"].to_list() == [saturated]
        assert reference_sensitivity(readings).changed == changed
