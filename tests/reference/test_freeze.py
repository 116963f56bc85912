import pytest

from gapline.errors import EnvironmentLacksError, SnapshotError, TraceError, UsageError
from gapline.reference.freeze import freeze, freeze_snapshot, store_names


def test_wrong_sources_are_named():
    with pytest.raises(UsageError, match="expected STORE:PLACE"):
        freeze("refs.csv", name="x")
    with pytest.raises(UsageError, match="did you mean 'csv'"):
        freeze("cvs:refs.csv", name="x")
    with pytest.raises(UsageError, match="as_of: expected an ISO 8601 moment"):
        freeze("csv:refs.csv", name="x", as_of="soon")
    for scheme in ("csv", "solu", "cvrplib", "mamut", "campaign"):
        with pytest.raises((SnapshotError, TraceError), match=r"nowhere/x"):
            freeze(f"{scheme}:nowhere/x", name="x")


def test_another_package_can_bring_a_store(tmp_path, monkeypatch):
    """A package as pip would install it: a module, and metadata that names its entry point."""
    (tmp_path / "gapline_shelf.py").write_text(
        "from gapline.reference.freeze import Frozen\n"
        "from gapline.reference.snapshot import Snapshot\n"
        "def freeze_shelf(request):\n"
        "    return Frozen(Snapshot.from_values({request.location: 1.0}, name=request.name))\n"
    )
    metadata = tmp_path / "gapline_shelf-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gapline-shelf\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[gapline.stores]\nshelf = gapline_shelf:freeze_shelf\nbroken = gapline_absent:freeze\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert store_names()[-2:] == ["broken", "shelf"]
    assert freeze_snapshot("shelf:top", name="x").values["top"].value == 1.0
    with pytest.raises(EnvironmentLacksError, match="store 'broken': gapline_absent:freeze cannot be loaded"):
        freeze_snapshot("broken:top", name="x")
