import numpy as np
import pytest

import gapline as gl
from gapline.campaign.scale import Scale
from gapline.contract.transforms import Transform
from gapline.errors import MissingReferenceError
from gapline.references.resolve import resolve_references
from gapline.references.snapshot import Snapshot
from references.campaigns import envelopes

BAD = {"good": 10.0, "zero": 0.0, "negative": -3.0, "nan": float("nan"), "inf": float("inf")}


def test_missing_zero_negative_nan_and_infinite_are_listed_at_once_and_nothing_is_scored():
    snapshot = Snapshot.from_values(BAD, name="mine")
    runs = envelopes(*(("a", name, 1, [(1, 12.0)]) for name in (*BAD, "missing")))
    for attempt in (
        lambda: resolve_references(snapshot, [*BAD, "missing"]),
        lambda: gl.score(runs, snapshot),
    ):
        with pytest.raises(MissingReferenceError) as caught:
            attempt()
        message = str(caught.value)
        assert "for each of 6 instances, got 5 without" in message
        for shown in ("zero (0)", "negative (-3)", "nan (no number: nan)", "inf (no number: inf)", "missing (missing)"):
            assert shown in message


def test_unusable_values_of_other_instances_do_not_matter():
    assert resolve_references(Snapshot.from_values(BAD, name="mine"), ["good", "good"]).tolist() == [10.0, 10.0]


def test_positivity_is_demanded_after_the_transform():
    snapshot = Snapshot.from_values({"i": -3.0, "j": 30.0}, name="mine")
    assert resolve_references(snapshot, ["i", "j"], scale=Scale(Transform.parse("shift:10"))).tolist() == [7.0, 40.0]
    with pytest.raises(MissingReferenceError, match=r"j \(30, transformed -10\)"):
        resolve_references(snapshot, ["i", "j"], scale=Scale(Transform.parse("negate-shift:20")))
    zero = Snapshot.from_values({"i": 0.0}, name="zero")
    with pytest.raises(MissingReferenceError, match=r"i \(0, transformed inf\)"):
        resolve_references(zero, ["i"], scale=Scale(Transform.parse("reciprocal")))


def test_components_are_scalarised_where_the_entry_has_them():
    entries = {"i": {"value": 1.0, "primary": 3.0, "secondary": 250.0}, "j": {"value": 77.0}}
    snapshot = Snapshot.from_entries(entries, name="h", store={"name": "s"})
    found = resolve_references(
        snapshot, ["j", "i"], scale=Scale(Transform.parse("hierarchical:10n")), sizes={"i": 100.0}
    )
    assert found.tolist() == [77.0, 3250.0]
    assert found.dtype == np.float64
