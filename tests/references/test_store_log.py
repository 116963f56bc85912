"""Commits of a git store in which values changed; the store is a history that the tests write."""

import pytest

from gapline.errors import UsageError
from gapline.references.history import store_changes
from gapline.references.snapshot import Snapshot
from references.history import History, at


def told(found):
    return [(c.instance, None if c.entry is None else c.entry.value, c.change.commit.committed[:10]) for c in found]


def test_commits_are_followed_through_a_renamed_folder(store):
    folder, commits = store
    found = store_changes(f"mamut:{folder}", [at(store, "renamed")], {"n=20/A-1"})
    # The same name in another size and the other objective are not it.
    assert told(found) == [("n=20/A-1", 100.0, "2026-02-01"), ("n=20/A-1", 90.0, "2026-03-01")]
    assert [change.entry.certified for change in found] == [False, True]
    assert found[0].change.author == "keeper"
    assert found[0].change.commit.id == commits["first"]


def test_only_commits_behind_the_frozen_version_count(store):
    folder, _ = store
    assert told(store_changes(f"mamut:{folder}", [at(store, "first")], {"n=20/A-1", "n=50/A-1"})) == [
        ("n=50/A-1", 300.0, "2026-02-01"), ("n=20/A-1", 100.0, "2026-02-01"),
    ]  # fmt: skip


def test_a_snapshot_from_elsewhere_is_followed_from_the_newest_commit(tmp_path):
    history = History(tmp_path / "repo")
    history.bks("F/n=5/A", 2.0)
    history.commit("01-01")
    history.bks("F/n=5/A", 1.0)
    history.commit("02-01", "better\x01 and: strange")
    (history.folder / "F/n=5/A.bks.Duration.json").unlink()
    history.commit("03-01")
    csv = Snapshot.from_values({"n=5/A": 2.0, "n=5/B": 1.0}, name="csv")
    found = store_changes(f"mamut:{history.folder}", [csv], set(csv.values))
    assert told(found) == [
        ("n=5/A", 2.0, "2026-01-01"), ("n=5/A", 1.0, "2026-02-01"), ("n=5/A", None, "2026-03-01"),
    ]  # fmt: skip
    assert found[1].change.subject == "better\x01 and: strange"


def test_a_store_without_commits_is_refused():
    with pytest.raises(UsageError, match="--store: expected mamut:PATH, got 'csv:x'"):
        store_changes("csv:x", [Snapshot.from_values({"i": 1.0}, name="s")], {"i"})
