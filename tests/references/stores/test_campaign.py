"""The best checked values of a campaign as a store."""

import pytest

from gapline.errors import SnapshotError, UsageError
from gapline.references.freeze import freeze, freeze_snapshot
from references.campaigns import campaign


def test_campaign_gives_the_best_checked_value_inside_the_horizon(tmp_path):
    runs = [
        ("a", "i1", 1, [(1, 12.0, True), (2, 11.0, False), (3, 11.5, True), (40, 5.0, True)]),
        ("b", "i1", 1, [(2, 11.5, True)]),
        ("b", "i2", 1, []),
    ]
    digests = ["sha256:aa", "sha256:aa", None]
    campaign(*runs, instance_digest=digests).save(tmp_path / "campaign")
    frozen = freeze(f"campaign:{tmp_path}/campaign", name="best")
    entry = frozen.snapshot.values["i1"]
    assert (entry.value, entry.instance_digest) == (11.5, "sha256:aa")
    assert (entry.more["fold"]["run"], entry.more["fold"]["time"]) == ("b/i1/1", 2.0), "equal values go to the earlier"
    assert frozen.notes == ("instances without a checked candidate: 1 (i2)",)
    maximised = freeze_snapshot(f"campaign:{tmp_path}/campaign", name="best", sense="max")
    assert (maximised.values["i1"].value, maximised.more["sense"]) == (12.0, "max")


def test_a_date_before_the_runs_that_found_the_values_is_refused(tmp_path):
    """The best of i1 is of the second run, which began at noon; the first run's start does not matter."""
    runs = [("a", "i1", 1, [(1, 12.0, True)]), ("b", "i1", 1, [(2, 11.5, True)])]
    campaign(*runs, started=["2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z"]).save(tmp_path / "campaign")
    source = f"campaign:{tmp_path}/campaign"
    for early in ("2026-01-01", "2026-03-01T11:00:00Z"):
        with pytest.raises(UsageError, match="not before the start of run b/i1/1"):
            freeze(source, name="best", as_of=early)
    assert freeze_snapshot(source, name="best", as_of="2026-03-01T12:00:00Z").as_of == "2026-03-01T12:00:00Z"
    assert freeze_snapshot(source, name="best").as_of is None


def test_campaign_that_only_solvers_vouch_for(tmp_path):
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective\na,i,1,1,5\n")
    with pytest.raises(SnapshotError, match="`--validation solver` takes the solver's word"):
        freeze(f"campaign:{tmp_path}/t.csv", name="x")
    assert freeze_snapshot(f"campaign:{tmp_path}/t.csv", name="x", trust_solver=True).values["i"].value == 5.0
