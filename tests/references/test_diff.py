from gapline.references.diff import CLASSES, diff_snapshots
from gapline.references.snapshot import Snapshot


def snapshot(**entries):
    return Snapshot.from_entries(
        {name: {"value": value, "certified": certified, "source": "s", "instance_digest": digest}
         for name, (value, certified, digest) in entries.items()},
        name="n", store={"name": "s"},
    )  # fmt: skip


OLD = snapshot(
    same=(1.0, False, "d"), better=(10.0, False, "d"), worse=(10.0, False, "d"), bits=(1.0, False, "d"),
    proven=(5.0, False, "d"), withdrawn=(5.0, True, "d"), changed=(5.0, True, "d1"), gone=(2.0, False, "d"),
    found=(None, False, "d"), lost=(3.0, False, "d"),
)  # fmt: skip
NEW = snapshot(
    same=(1.0, False, "d"), better=(9.0, True, "d"), worse=(11.0, False, None), bits=(1.0 + 1e-15, False, "d"),
    proven=(5.0, True, "d"), withdrawn=(5.0, False, "d"), changed=(7.0, False, "d2"), new=(4.0, False, "d"),
    found=(3.0, False, "d"), lost=(None, False, "d"),
)  # fmt: skip


def classes(old, new, **options):
    return {name: [d.instance for d in found] for name, found in diff_snapshots(old, new, **options).classes().items()}


def test_every_class():
    assert classes(OLD, NEW) == {
        "improved": ["better", "found"],
        "worsened": ["lost", "worse"],
        "within_tolerance": ["bits"],
        "added": ["new"],
        "removed": ["gone"],
        "certified": ["better", "proven"],
        "withdrawn": ["withdrawn"],
        "instance_changed": ["changed"],
    }


def test_the_reverse_diff_swaps_the_classes():
    there, back = classes(OLD, NEW), classes(NEW, OLD)
    pairs = [("improved", "worsened"), ("added", "removed"), ("certified", "withdrawn")]
    for one, other in [*pairs, ("instance_changed", "instance_changed"), ("within_tolerance", "within_tolerance")]:
        assert (there[one], there[other]) == (back[other], back[one])


def test_the_document_has_old_and_new_values():
    document = diff_snapshots(OLD, NEW).document()
    assert {"common", *CLASSES} <= set(document)
    assert (document["common"], document["unchanged"]) == (9, 1)
    better = document["improved"][0]
    assert (better["instance"], better["old"], better["new"]) == ("better", 10.0, 9.0)
    assert (document["added"][0]["old"], document["added"][0]["new"]) == (None, 4.0)
    assert document["instance_changed"][0]["old_instance_digest"] == "d1"


def test_maximised_values_improve_upwards():
    assert classes(OLD, NEW, sense="max")["improved"] == ["found", "worse"]
    raised = [
        Snapshot.from_entries({"i": {"value": v}}, name="n", store={"name": "s"}, sense="max") for v in (1.0, 2.0)
    ]
    assert classes(*raised)["improved"] == ["i"]


def test_no_tolerance_shows_the_last_bit():
    assert classes(OLD, NEW, tolerance=0.0)["worsened"] == ["bits", "lost", "worse"]
