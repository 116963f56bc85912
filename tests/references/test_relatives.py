"""What was changed in a tampered file, told from its relatives."""

import json
from pathlib import Path

import pytest

from gapline.errors import IntegrityError
from gapline.files.digests import content_digest
from gapline.references.snapshot import Snapshot


@pytest.fixture
def folder(tmp_path):
    parent = Snapshot.from_values({"i1": 10.0, "i2": 5.0}, name="parent")
    child = Snapshot.from_entries(
        {name: e.document() for name, e in parent.values.items()} | {"i1": {"value": 9.0, "source": "run a/i1/1"}},
        name="child",
        store={"name": "s"},
        parent=parent.digest,
    )
    parent.save(tmp_path / "parent.json")
    child.save(tmp_path / "child.json")
    return tmp_path


def tamper(file: Path, old: str, new: str) -> str:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return json.loads(text)["digest"]


def test_a_changed_file_is_refused_with_both_digests_and_the_entries_that_differ_from_the_parent(folder):
    stated = tamper(folder / "child.json", '"value": 5.0', '"value": 4.0')
    found = content_digest(json.loads((folder / "child.json").read_text()))
    with pytest.raises(IntegrityError) as caught:
        Snapshot.load(folder / "child.json")
    message = str(caught.value)
    assert stated in message
    assert found in message
    assert "compared with its parent parent.json" in message
    assert "i2: 5.0 (given) there, 4.0 (given) here" in message


def test_a_changed_parent_is_compared_with_its_child(folder):
    tamper(folder / "parent.json", '"value": 5.0', '"value": 4.0')
    with pytest.raises(IntegrityError, match=r"compared with its child child\.json.*i2: 5\.0 \(given\) there, 4\.0"):
        Snapshot.load(folder / "parent.json")


def test_a_changed_file_beside_an_untouched_copy_shows_exactly_what_changed(folder):
    (folder / "copy.json").write_bytes((folder / "child.json").read_bytes())
    tamper(
        folder / "child.json",
        '"certified": false,\n   "source": "given"\n  }\n }',
        '"certified": true,\n   "source": "given"\n  }\n }',
    )
    with pytest.raises(IntegrityError) as caught:
        Snapshot.load(folder / "child.json")
    assert str(caught.value).endswith(
        "compared with its copy copy.json: i2: 5.0 (given) there, 5.0 certified (given) here"
    )


def test_without_relatives_both_digests_are_shown(tmp_path):
    Snapshot.from_values({"i": 1.0}, name="alone").save(tmp_path / "alone.json")
    tamper(tmp_path / "alone.json", "1.0", "2.0")
    with pytest.raises(
        IntegrityError, match=r"^\S+alone\.json: the file was changed: expected digest sha256:\w+, got sha256:\w+$"
    ):
        Snapshot.load(tmp_path / "alone.json")
