"""Several stores in one snapshot."""

import pytest

from gapline.errors import UsageError
from gapline.references.freeze import freeze
from references.history import History, values


@pytest.fixture
def two(tmp_path):
    """Two git stores, committed on different days."""
    commits = []
    for name, key, day in (("one", "n=5/A-1", "02-01"), ("two", "n=5/B-1", "03-01")):
        history = History(tmp_path / name)
        history.bks(key, 10.0)
        commits.append(history.commit(day))
    return tmp_path, commits


def test_each_value_names_its_store_and_commit(two):
    folder, commits = two
    frozen = freeze(f"mamut:{folder}/one@{commits[0]}", f"mamut:{folder}/two@{commits[1]}", name="x")
    assert values(frozen.snapshot) == {"n=5/A-1": 10.0, "n=5/B-1": 10.0}
    stores = [entry.more["store"] for entry in frozen.snapshot.values.values()]
    assert [store["version"] for store in stores] == commits
    assert [store["version"] for store in frozen.snapshot.store.model_extra["stores"]] == commits
    assert frozen.snapshot.store.name == "mamut + mamut"
    assert (frozen.snapshot.as_of, frozen.snapshot.objective) == ("2026-03-01T10:00:00Z", "Duration")
    assert all(note.startswith(f"mamut:{folder}/") for note in frozen.notes)
    assert len(frozen.notes) == 2


def test_an_undated_store_makes_the_whole_undated(two):
    folder, _ = two
    (folder / "refs.csv").write_text("instance,value\nC-1,3\n")
    frozen = freeze(f"mamut:{folder}/one", f"csv:{folder}/refs.csv", name="x")
    assert frozen.snapshot.as_of is None
    assert frozen.snapshot.values["C-1"].more["store"]["name"] == "csv:refs.csv"


def test_an_instance_in_two_stores_is_refused(two):
    folder, _ = two
    (folder / "refs.csv").write_text("instance,value\nn=5/A-1,3\n")
    with pytest.raises(UsageError, match=r"got 1 in several: n=5/A-1 in mamut:.*/one and csv:"):
        freeze(f"mamut:{folder}/one", f"csv:{folder}/refs.csv", name="x")


def test_values_of_two_objectives_are_no_one_reference(two):
    folder, _ = two
    history = History(folder / "three")
    history.bks("n=5/C-1", 10.0, objective="FleetCostDuration")
    history.commit("04-01")
    with pytest.raises(UsageError, match=r"expected one objective in all stores, got Duration in .*, Fleet"):
        freeze(f"mamut:{folder}/one", f"mamut:{folder}/three", name="x")
