import copy
import json
import os
import pickle
import subprocess
import sys

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gapline.errors import IntegrityError, SnapshotError
from gapline.files.digests import content_digest
from gapline.references.reference import Reference
from gapline.references.snapshot import SCHEMA, Snapshot, parse_moment

scalars = (
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


documents = st.recursive(
    scalars | names, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)


@st.composite
def snapshots(draw):
    entries = draw(
        st.dictionaries(
            names,
            st.fixed_dictionaries(
                {
                    "value": st.floats(allow_nan=False, allow_infinity=False),
                    "certified": st.booleans(),
                    "source": names,
                },
                optional={"instance_digest": names, "primary": st.floats(0, 9), "note": documents},
            ),
            max_size=4,
        )
    )
    return Snapshot.from_entries(
        entries, name=draw(names), store={"name": "s", "size": draw(documents)}, as_of="2026-01-01"
    )


def shuffled(value, random):
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(snapshots(), st.randoms())
def test_digest_does_not_depend_on_key_order_or_day(snapshot, random):
    document = shuffled(snapshot.document() | {"created": "1999-01-01T00:00:00Z", "digest": snapshot.digest}, random)
    assert Snapshot.from_document(document, where="x").digest == snapshot.digest


@pytest.mark.slow
@given(snapshots())
def test_a_file_gives_back_the_same_content(tmp_path_factory, snapshot):
    file = tmp_path_factory.mktemp("s") / "s.json"
    snapshot.save(file)
    loaded = Snapshot.load(file)
    assert loaded.document() == snapshot.document() | {"created": loaded.created}
    assert loaded == snapshot
    # What json.loads alone makes of the file gives the digest too: nothing depends on our own model.
    assert content_digest(json.loads(file.read_text())) == snapshot.digest


def places(value, path=()):
    """Yield the path of everything inside a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield (*path, step)
        yield from places(inner, (*path, step))


@given(snapshots(), st.data())
def test_any_changed_value_changes_the_digest(snapshot, data):
    document = json.loads(json.dumps(snapshot.document()))
    path = data.draw(st.sampled_from([place for place in places(document) if place[0] != "created"]))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    old, holder[path[-1]] = holder[path[-1]], data.draw(scalars)
    # 1 and 1.0 are one number, True is another thing: what differs is what RFC 8785 writes differently.
    changed = rfc8785.dumps(old) != rfc8785.dumps(holder[path[-1]])
    assert (content_digest(document) != snapshot.digest) == changed


@given(st.floats(min_value=1, max_value=1e15))
def test_the_last_bit_of_a_value_counts(value):
    import math

    a, b = (Snapshot.from_values({"i": v}, name="n") for v in (value, math.nextafter(value, math.inf)))
    assert a.digest != b.digest


def test_digest_is_the_same_in_another_process_zone_and_locale():
    """A fixed digest: worked out once, so that a platform or library that changes it shows."""
    code = (
        "from gapline.references.snapshot import Snapshot;"
        "print(Snapshot.from_values({'ü': 0.1, 'a': 1e22, 'b': 7}, name='n', as_of='2026-01-01').digest)"
    )
    environment = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    path = os.pathsep.join(p for p in sys.path if p)
    out = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    canonical = (
        '{"as_of":"2026-01-01","checker":null,"name":"n","objective":null,"parent":null,"schema":"gapline.snapshot/1",'
        '"store":{"name":"values"},"values":{"a":{"certified":false,"source":"given","value":1e+22},'
        '"b":{"certified":false,"source":"given","value":7},"ü":{"certified":false,"source":"given","value":0.1}}}'
    )
    import hashlib

    assert out.stdout.strip() == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def test_a_snapshot_file_is_never_overwritten_by_another(tmp_path):
    file = tmp_path / "s.json"
    Snapshot.from_values({"i": 1.0}, name="n").save(file)
    written = file.read_bytes()
    Snapshot.from_values({"i": 1.0}, name="n").save(file)
    assert file.read_bytes() == written
    with pytest.raises(SnapshotError, match="expected a new file"):
        Snapshot.from_values({"i": 2.0}, name="n").save(file)
    assert Snapshot.load(file).values["i"].value == 1.0


def test_snapshots_cannot_be_changed():
    snapshot = Snapshot.from_values({"i": 1.0}, name="n")
    with pytest.raises(TypeError):
        snapshot.values["i"] = Reference(value=2.0)
    with pytest.raises(ValueError, match="frozen"):
        snapshot.values["i"].value = 2.0
    with pytest.raises(ValueError, match="frozen"):
        snapshot.name = "other"


def test_snapshots_travel_to_workers():
    snapshot = Snapshot.from_values({"i": 1.0}, name="n", certified=["i"])
    there = pickle.loads(pickle.dumps(snapshot))
    assert there == snapshot
    assert there.values["i"].certified
    assert copy.deepcopy(snapshot) is snapshot


def test_values_that_are_no_numbers_are_named():
    with pytest.raises(SnapshotError, match="mine: expected a number for i, got 'ten'"):
        Snapshot.from_values({"i": "ten"}, name="mine")


def test_unknown_fields_are_kept_everywhere(tmp_path):
    document = {
        "schema": SCHEMA, "name": "n", "future": [1, {"x": None}], "store": {"name": "s", "shelf": 3},
        "values": {"i": {"value": 10, "colour": "red", "instance_digest": None}},
    }  # fmt: skip
    (tmp_path / "s.json").write_text(json.dumps(document | {"digest": content_digest(document)}))
    snapshot = Snapshot.load(tmp_path / "s.json")
    assert snapshot.document() == document
    assert snapshot.values["i"].more == {"colour": "red"}
    assert snapshot.store.model_extra == {"shelf": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a JSON object, got list"),
        ("{", "expected JSON"),
        ('{"schema": "gapline.snapshot/2"}', "or older, got gapline.snapshot/2\nHint: upgrade gapline"),
        ('{"schema": "gapline.campaign/1"}', "expected schema gapline.snapshot/1, got 'gapline.campaign/1'"),
        ('{"schema": "gapline.snapshot/1", "values": {"i": {}, "i": {}}}', "expected each key once, got 'i' again"),
        ('{"schema": "gapline.snapshot/1", "values": {"i": {"value": NaN}}}', "expected finite numbers, got NaN"),
        ("\udcff", "expected JSON in UTF-8"),
    ],
)
def test_files_that_are_no_snapshot(tmp_path, text, message):
    (tmp_path / "s.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SnapshotError) as caught:
        Snapshot.load(tmp_path / "s.json")
    assert message in str(caught.value)


def test_a_file_without_a_digest_is_refused(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({"schema": SCHEMA, "name": "n", "values": {}}))
    with pytest.raises(IntegrityError, match="expected a digest, got none\nHint: freeze hand-written values"):
        Snapshot.load(tmp_path / "s.json")


def test_all_mistakes_are_reported_at_once(tmp_path):
    document = {
        "schema": SCHEMA,
        "store": {"name": "s"},
        "as_of": "last week",
        "values": {"i": {"value": "10"}, "j": 3},
    }
    (tmp_path / "s.json").write_text(json.dumps(document | {"digest": content_digest(document)}))
    with pytest.raises(SnapshotError) as caught:
        Snapshot.load(tmp_path / "s.json")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["name", "as_of", "values.i.value", "values.j"]
    assert "expected an ISO 8601 moment such as 2026-08-01T12:00:00Z, got 'last week'" in lines[1]


def test_a_day_counts_as_its_end_and_a_moment_without_a_zone_as_utc():
    assert parse_moment("2026-08-01") > parse_moment("2026-08-01T23:00:00")
    assert parse_moment("2026-08-01T12:00:00+02:00") == parse_moment("2026-08-01T10:00:00Z")


def test_integers_beyond_doubles_are_the_nearest_double(tmp_path):
    document = {"schema": SCHEMA, "name": "n", "store": {"name": "s"}, "values": {"i": {"value": float(2**60)}}}
    text = json.dumps(document | {"digest": content_digest(document)}).replace(str(float(2**60)), str(2**60 + 1))
    (tmp_path / "s.json").write_text(text)
    assert Snapshot.load(tmp_path / "s.json").values["i"].value == float(2**60)
