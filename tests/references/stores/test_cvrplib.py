"""Folders of CVRPLIB solutions."""

import pytest

from gapline.errors import SnapshotError
from gapline.references.freeze import freeze
from references.routed import COST, GOOD, OVERLOADED, put_solution


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


def test_routes_are_priced_again_against_the_instance_beside_them(tmp_path):
    pytest.importorskip("vrplib")
    for name, routes, cost in (
        ("right", GOOD, 20), ("moved", GOOD, 19), ("heavy", OVERLOADED, 14),
        ("word", "Route #1: 1 x\nRoute #2: 3\n", 9),
    ):  # fmt: skip
        put_solution(tmp_path, name, routes, cost)
    put_solution(tmp_path, "alone", GOOD, 18, instance=False)
    frozen = freeze(f"cvrplib:{tmp_path}", name="x", reprice=True)
    assert {name: entry.value for name, entry in frozen.snapshot.values.items()} == {
        "right": COST, "moved": COST, "heavy": None, "word": None, "alone": 18.0,
    }  # fmt: skip
    moved = {one.instance: one for one in frozen.moved}
    assert (moved["moved"].stored, moved["moved"].repriced) == (19.0, COST)
    assert moved["heavy"].reason == "capacity exceeded: route 1 carries 3 of 2"
    assert moved["word"].reason.startswith("malformed")
    assert set(frozen.checked) == {"right", "moved", "heavy", "word"}
    assert frozen.snapshot.checker == frozen.checked["right"] == "cvrp dimacs-1"
    assert "solutions that could not be re-priced: 1 (alone (no instance beside it))" in frozen.notes
