"""Chains of snapshots, found by digest."""

import json

import pytest

from gapline.references.alarms import AlarmKind
from gapline.references.history import trace_lineage
from gapline.references.snapshot import Snapshot


def child(parent, name, **values):
    entries = {key: entry.document() for key, entry in parent.values.items()}
    entries |= {key: {"value": value, "certified": False, "source": name} for key, value in values.items()}
    return parent.child(entries, name=name, as_of=None, fold={})


@pytest.fixture
def chain(tmp_path):
    """Three generations, the middle one in another folder."""
    first = Snapshot.from_values({"a": 10.0, "b": 5.0}, name="first")
    second = child(first, "second", a=9.0)
    third = child(second, "third", b=4.0, c=1.0)
    (tmp_path / "elsewhere").mkdir()
    first.save(tmp_path / "first.json")
    second.save(tmp_path / "elsewhere/second.json")
    third.save(tmp_path / "third.json")
    (tmp_path / "other.json").write_text("{}")
    return tmp_path


def test_parents_are_found_beside_it_and_in_the_folders_given(chain):
    found = trace_lineage(chain / "third.json", folders=[chain / "elsewhere"])
    assert [link.snapshot.name for link in found.links] == ["third", "second", "first"]
    assert [link.file.name for link in found.links] == ["third.json", "second.json", "first.json"]
    third, second, first = (link.diff for link in found.links)
    assert ([d.instance for d in third.improved], [d.instance for d in third.added]) == (["b"], ["c"])
    assert [d.instance for d in second.improved] == ["a"]
    assert first is None
    assert (found.missing, found.changed, found.alarms) == (None, (), ())


def test_a_parent_that_is_not_at_hand_is_named(chain):
    found = trace_lineage(chain / "third.json")
    assert [link.snapshot.name for link in found.links] == ["third"]
    assert found.missing == Snapshot.load(chain / "elsewhere/second.json").digest
    assert found.why == f"looked in {chain}"


def test_a_changed_parent_is_not_followed(chain):
    file = chain / "elsewhere/second.json"
    file.write_text(file.read_text().replace("9.0", "8.0"))
    found = trace_lineage(chain / "third.json", folders=[chain / "elsewhere"])
    assert len(found.links) == 1
    assert found.missing == json.loads(file.read_text())["digest"]
    (changed,) = found.changed
    assert "second.json" in changed
    assert "the file was changed" in changed


def test_a_file_that_claims_to_be_its_own_ancestor_ends_the_chain(tmp_path):
    """A digest covers that of the parent: a circle can only be claimed."""
    one = Snapshot.from_values({"a": 1.0}, name="one")
    two = child(one, "two", a=0.5)
    two.save(tmp_path / "two.json")
    forged = json.loads(one.save(tmp_path / "one.json").read_text()) | {"parent": two.digest}
    (tmp_path / "one.json").write_text(json.dumps(forged))
    found = trace_lineage(tmp_path / "two.json")
    assert [link.snapshot.name for link in found.links] == ["two"]
    assert found.missing == one.digest
    assert len(found.changed) == 1


def test_contradicted_certificates_between_generations_ring(tmp_path):
    first = Snapshot.from_values({"a": 10.0}, name="first", certified=["a"])
    first.save(tmp_path / "first.json")
    child(first, "second", a=9.0).save(tmp_path / "second.json")
    (alarm,) = trace_lineage(tmp_path / "second.json").alarms
    assert (alarm.kind, alarm.certificate.value, alarm.other.value) == (AlarmKind.VALUE, 10.0, 9.0)
