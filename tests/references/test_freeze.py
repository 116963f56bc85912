import gzip

import pytest

from gapline.errors import EnvironmentLacksError, SnapshotError, TraceError, UsageError
from gapline.references.freeze import freeze, freeze_references, freeze_snapshot, store_names


def test_wrong_sources_are_named():
    for sources in ((), ("refs",), ("csv:",)):
        with pytest.raises(UsageError, match=r"expected a file .*, or STORE:PLACE"):
            freeze(*sources, name="x")
    with pytest.raises(UsageError, match="did you mean 'csv'"):
        freeze("cvs:refs.csv", name="x")
    with pytest.raises(UsageError, match="as_of: expected an ISO 8601 moment"):
        freeze("csv:refs.csv", name="x", as_of="soon")
    for scheme in ("csv", "solu", "cvrplib", "mamut", "campaign", "history", "combopt", "snapshot"):
        with pytest.raises((SnapshotError, TraceError), match=r"nowhere/x"):
            freeze(f"{scheme}:nowhere/x", name="x")


def test_another_package_can_bring_a_store(tmp_path, monkeypatch):
    """A package as pip would install it: a module, and metadata that names its entry point."""
    (tmp_path / "gapline_shelf.py").write_text(
        "from gapline.references.freeze import Frozen\n"
        "from gapline.references.snapshot import Snapshot\n"
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


def test_references_are_named_as_a_file_or_as_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni1,10\n")
    (tmp_path / "lib.solu").write_text("=opt= i1 10\n=unkn= i2\n")
    (tmp_path / "lib.solu.gz").write_bytes(gzip.compress(b"=opt= i1 10\n=unkn= i2\n"))
    freeze_snapshot("csv:refs.csv", name="mine").save("mine.json")
    plain = freeze_references("refs.csv")
    assert (plain.snapshot.name, plain.notes) == ("refs", ())
    assert freeze_references("csv:refs.csv").snapshot.digest == plain.snapshot.digest
    assert freeze_references("mine.json").snapshot.name == "mine"
    for given in ("lib.solu", "solu:lib.solu", "lib.solu.gz"):
        frozen = freeze_references(given)
        assert (frozen.snapshot.name, frozen.snapshot.values["i1"].certified) == ("lib", True)
        assert frozen.notes == ("instances without a primal value: 1 (i2)",)


def test_a_colon_in_the_name_of_a_file_is_no_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my:refs.csv").write_text("instance,value\ni1,10\n")
    assert freeze_references("my:refs.csv").snapshot.values["i1"].value == 10.0
    with pytest.raises(SnapshotError, match=r"a/b:c.csv: expected a references CSV"):
        freeze_references("a/b:c.csv")
    with pytest.raises(UsageError, match=r"store: expected one of csv, .*got 'they'"):
        freeze_references("they:refs.csv")


def test_what_only_freeze_can_be_told_is_said_with_the_command(store):
    folder, _ = store
    with pytest.raises(UsageError) as caught:
        freeze_references(f"mamut:{folder}@v1")
    assert f"--objective; first freeze it, `gapline snapshot freeze mamut:{folder}@v1" in caught.value.hint


def test_a_store_with_dates_says_when_its_values_were_known(tmp_path):
    (tmp_path / "best.csv").write_text("date,instance,value\n2020-01-01,i1,10\n")
    frozen = freeze_references(f"history:{tmp_path}/best.csv")
    assert (frozen.snapshot.name, frozen.snapshot.as_of) == ("history:best", "2020-01-01")
    assert not any("as it stands" in note for note in frozen.notes)
