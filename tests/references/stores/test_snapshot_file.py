import pytest

from gapline.errors import IntegrityError, UsageError
from gapline.references.freeze import freeze, freeze_snapshot
from gapline.references.snapshot import Snapshot


@pytest.fixture
def file(tmp_path):
    entries = {"i": {"value": 10.0, "certified": True, "source": "a proof", "note": "kept"}}
    given = Snapshot.from_entries(
        entries,
        name="given",
        store={"name": "shelf", "version": "3"},
        as_of="2026-02-01",
        objective="cost",
        sense="max",
    )
    return given.save(tmp_path / "given.json")


def test_the_content_stays_and_the_given_one_is_the_parent(file):
    given, again = Snapshot.load(file), freeze_snapshot(str(file), name="mine")
    assert again.values == given.values
    assert (again.name, again.parent, again.as_of, again.objective) == ("mine", given.digest, "2026-02-01", "cost")
    assert (again.store, again.sense_of("i")) == (given.store, "max")
    assert freeze_snapshot(f"snapshot:{file}", name="mine").digest == again.digest


def test_what_it_states_is_not_declared_otherwise(file):
    for wrong, words in (({"objective": "time"}, "objective time, got cost"), ({"sense": "min"}, "sense min, got max")):
        with pytest.raises(UsageError, match=words):
            freeze(str(file), name="x", **wrong)
    with pytest.raises(UsageError, match="not before snapshot given of 2026-02-01"):
        freeze(str(file), name="x", as_of="2026-01-01")
    assert freeze_snapshot(str(file), name="x", as_of="2026-03-01").as_of == "2026-03-01"


def test_a_changed_file_is_refused(file):
    file.write_text(file.read_text().replace("10.0", "9.0"))
    with pytest.raises(IntegrityError, match="the file was changed"):
        freeze(str(file), name="x")
