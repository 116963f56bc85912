"""Git as a store: what a revision, a clone, a pipe and an address may be."""

import subprocess

import pytest

from gapline.errors import SnapshotError
from gapline.references.freeze import freeze, freeze_snapshot
from references.history import History, at, git, sha, values


def test_a_tag_a_branch_an_id_and_a_bare_clone_give_one_digest(store, tmp_path):
    folder, commits = store
    git(tmp_path, "clone", "-q", "--bare", str(folder), "bare.git")
    digests = {
        freeze_snapshot(f"mamut:{place}@{revision}", name="x", objective="Duration").digest
        for place in (folder, tmp_path / "bare.git", folder / ".git")
        for revision in ("v2", commits["renamed"], "main", "HEAD")
    }
    assert len(digests) == 1
    assert freeze_snapshot(f"mamut:{folder}", name="x", objective="Duration").digest in digests


def test_the_work_tree_is_not_looked_at(store):
    folder, _ = store
    before = at(store, "renamed").digest
    file = folder / "data/families/Fam/n=20/A-1.bks.Duration.json"
    kept = file.read_text()
    try:
        file.write_text(kept.replace("90.0", "1.0"))
        assert at(store, "renamed").digest == before
    finally:
        file.write_text(kept)


@pytest.mark.parametrize("revision", ["nothing", "--all", "v1..v2", "^v1", "", "v1:benchmarks"])
def test_what_is_no_commit_is_refused(store, revision):
    folder, _ = store
    with pytest.raises(SnapshotError, match="expected a commit or tag"):
        freeze_snapshot(f"mamut:{folder}@{revision}", name="x", objective="Duration")


def test_a_blob_that_is_missing_from_the_clone(tmp_path):
    history = History(tmp_path / "repo")
    for name in "AB":
        history.put(f"F/n=5/{name}.vrp.json", f'"{name}"')
        history.bks(f"F/n=5/{name}", 1.0)
    history.commit("01-01")

    def drop(path):
        blob = git(history.folder, "rev-parse", f"HEAD:{path}")
        (history.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()

    drop("F/n=5/A.vrp.json")
    frozen = freeze(f"mamut:{tmp_path}/repo@main", name="x")
    assert [entry.instance_digest for entry in frozen.snapshot.values.values()] == [None, sha('"B"')]
    drop("F/n=5/B.bks.Duration.json")
    with pytest.raises(
        SnapshotError, match=r"F/n=5/B\.bks\.Duration\.json: expected blob .* the clone is not complete"
    ):
        freeze(f"mamut:{tmp_path}/repo@main", name="x")


@pytest.mark.slow
def test_more_objects_than_a_pipe_holds(tmp_path):
    """2 x 1200 ids are 98 kB of questions and more than a MB of answers: more than both pipes hold at once."""
    history = History(tmp_path / "repo")
    for number in range(1200):
        history.put(f"F/n=5/I{number}.vrp.json", f'{{"pad": "{"x" * 1000}{number}"}}')
        history.bks(f"F/n=5/I{number}", 1.0 + number)
    history.commit("01-01")
    snapshot = freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x")
    assert {f"n=5/I{n}": 1.0 + n for n in range(1200)} == values(snapshot)


def test_a_path_with_an_at_sign_and_a_sha256_repository(tmp_path):
    folder = tmp_path / "me@home"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--object-format=sha256")
    history = History.__new__(History)
    history.folder = folder
    history.bks("F/n=5/A", 1.0)
    commit = history.commit("01-01")
    assert len(commit) == 64
    snapshot = freeze_snapshot(f"mamut:{folder}", name="x")
    assert (snapshot.store.version, snapshot.store.swhid) == (commit, None)
    assert snapshot.digest == freeze_snapshot(f"mamut:{folder}@main", name="x").digest


def test_a_path_that_is_no_repository(tmp_path):
    with pytest.raises(SnapshotError, match="expected a git repository"):
        freeze_snapshot(f"mamut:{tmp_path}@main", name="x")
    with pytest.raises(SnapshotError, match="no such directory"):
        freeze_snapshot(f"mamut:{tmp_path}/none@main", name="x")


def test_the_address_of_the_origin_is_kept_without_user_names(store, tmp_path):
    folder, _ = store
    git(tmp_path, "clone", "-q", str(folder), "clone")
    frozen = freeze_snapshot(f"mamut:{tmp_path}/clone@v1", name="x", objective="Duration")
    assert frozen.store.url is None, "a path on this machine is no address"
    subprocess.run(
        [
            "git",
            "-C",
            str(tmp_path / "clone"),
            "remote",
            "set-url",
            "origin",
            "https://me:secret@example.org/s/store.git",
        ],
        check=True,
    )
    frozen = freeze_snapshot(f"mamut:{tmp_path}/clone@v1", name="x", objective="Duration")
    assert frozen.store.url == "https://example.org/s/store"
