"""References as callers give them: a snapshot, values by instance, or a file of them."""

import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.references.choice import as_snapshot

RUNS = [
    {"arm": arm, "instance": instance, "seed": 1, "horizon": 10.0, "trace": [(1.0, 12.0), (3.0, 11.0)]}
    for arm in "ab"
    for instance in ("i", "j")
]
CAMPAIGN = gl.Campaign.from_runs(RUNS)
ENVELOPES = gl.build_envelopes(CAMPAIGN)
VALUES = {"i": 10.0, "j": 10.0}
SNAPSHOT = gl.Snapshot.from_values(VALUES, name="given")


def test_references_are_a_snapshot_values_or_a_file(tmp_path):
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\nj,10\n")
    SNAPSHOT.save(tmp_path / "refs.json")
    wanted = gl.score(ENVELOPES, SNAPSHOT).frame["squeezed"].to_list()
    for given in (VALUES, tmp_path / "refs.csv", str(tmp_path / "refs.csv"), tmp_path / "refs.json"):
        assert gl.score(ENVELOPES, given).frame["squeezed"].to_list() == wanted
        assert gl.open_study(CAMPAIGN, references=given).scores[0].frame["squeezed"].to_list() == wanted
    assert gl.open_study(CAMPAIGN, snapshots=SNAPSHOT).snapshot == SNAPSHOT
    assert gl.open_study(CAMPAIGN, references=SNAPSHOT).snapshot == SNAPSHOT
    assert gl.open_study(CAMPAIGN, snapshots=str(tmp_path / "refs.json")).snapshot == SNAPSHOT


def test_what_is_none_of_them_is_named():
    with pytest.raises(UsageError, match="mine: expected Snapshot, got int"):
        as_snapshot(3, "mine")
    with pytest.raises(UsageError, match="expected a value by instance, got none"):
        as_snapshot({})
