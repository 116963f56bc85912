"""Folders of CVRPLIB solutions."""

import pytest

from gapline.errors import SnapshotError
from gapline.reference.freeze import freeze


def test_cvrplib_folder(tmp_path):
    (tmp_path / "X").mkdir()
    (tmp_path / "X/X-n5.sol").write_text("Route #1: 1 2\nRoute #2: 3 4\nCost 27591\n")
    (tmp_path / "X/X-n5.vrp").write_text("NAME : X-n5\n")
    (tmp_path / "A-n3.sol").write_text("Route #1: 1 2\r\nCost 10.5\r\n")
    frozen = freeze(f"cvrplib:{tmp_path}", name="x")
    values = frozen.snapshot.values
    assert {name: entry.value for name, entry in values.items()} == {"A-n3": 10.5, "X/X-n5": 27591.0}
    assert values["X/X-n5"].instance_digest.startswith("sha256:")
    assert values["X/X-n5"].more["routes"] == 2
    assert frozen.notes == ("solutions without a .vrp file beside them, so without an instance digest: 1",)
    (tmp_path / "A-n3.txt").write_text("A-n3\nVEHICLE\n")
    assert freeze(f"cvrplib:{tmp_path}", name="x").notes == ()
    (tmp_path / "B.sol").write_text("Route #1: 1 2\n")
    with pytest.raises(SnapshotError, match=r"B\.sol: expected one line `Cost VALUE`, got none"):
        freeze(f"cvrplib:{tmp_path}", name="x")
