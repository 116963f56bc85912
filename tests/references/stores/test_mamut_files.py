"""The files of a store at a commit, from which a study is laid out."""

import pytest

from gapline.errors import SnapshotError, UsageError
from gapline.references.freeze import freeze
from gapline.references.stores.mamut_layout import open_mamut
from references.history import History, git


@pytest.fixture
def repository(tmp_path):
    history = History(tmp_path / "repo")
    for family in ("One", "Two"):
        history.put(f"data/{family}/n=5/A.vrp.json", {"family": family})
        history.bks(f"data/{family}/n=5/A", 1.0)
    history.commit("01-01", tag="v1")
    history.put("data/One/n=5/A.vrp.json", {"family": "changed"})
    history.commit("01-02")
    return history.folder


def test_files_are_those_of_the_commit_whatever_is_checked_out(repository):
    files = open_mamut(f"{repository}@v1", family="One")
    assert files.root == "data/One"
    assert list(files.read(["data/One/n=5/A.vrp.json"])) == [b'{"family": "One"}']
    assert list(files.sizes(["data/One/n=5/A.vrp.json"])) == [17]
    assert len(files.paths) == 4


def test_what_was_opened_is_what_is_frozen(repository):
    """A branch may move between the two."""
    files = open_mamut(f"{repository}@main", family="One")
    assert files.source == f"mamut:{repository}@{git(repository, 'rev-parse', 'main')}"
    assert freeze(files.source, name="x", family=files.root).snapshot.store.version == files.commit


def test_without_a_name_all_families_are_meant_under_the_folder_they_share(repository, tmp_path):
    assert open_mamut(f"{repository}@v1").root == "data"
    assert open_mamut(f"{repository}/data/Two@v1").root == "data/Two"
    single = History(tmp_path / "single")
    single.bks("deep/inside/n=5/A", 1.0)
    single.commit("01-01")
    assert open_mamut(str(tmp_path / "single")).root == "deep/inside"
    with pytest.raises(UsageError, match="expected one folder 'Three', got none"):
        open_mamut(f"{repository}@v1", family="Three")
    empty = History(tmp_path / "empty")
    empty.put("a.txt", "a")
    empty.commit("01-01")
    with pytest.raises(SnapshotError, match=r"expected files NAME\.bks\.OBJECTIVE\.json, got none"):
        open_mamut(str(tmp_path / "empty"))


def test_a_blob_that_the_clone_lacks_has_no_bytes_and_no_size(repository):
    files = open_mamut(f"{repository}@v1")
    path = "data/One/n=5/A.vrp.json"
    blob = files.blobs[path]
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert (list(files.read([path])), list(files.sizes([path]))) == ([None], [None])
