import hashlib
import subprocess

import pytest

from gapline.errors import SnapshotError, UsageError
from gapline.reference.alarm import AlarmKind, find_alarms
from gapline.reference.diff import diff_snapshots
from gapline.reference.freeze import freeze, freeze_snapshot
from reference.history import History, git


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Names repeat across sizes; then a certificate, its retraction, a regenerated instance, a renamed folder."""
    history = History(tmp_path_factory.mktemp("store") / "repo")
    old = "benchmarks/TDVRPTW/Fam"
    for base, cost in (("n=20/A-1", 100.0), ("n=20/A-2", 50.5), ("n=50/A-1", 300.0)):
        history.put(f"{old}/{base}.vrp.json", f'{{"instance_name": "A-1", "seed": "{base}"}}')
        history.bks(f"{old}/{base}", cost)
    history.bks(f"{old}/n=20/A-1", 7.0, objective="FleetCostDuration")
    commits = {"first": history.commit("02-01", tag="v1")}
    history.bks(f"{old}/n=20/A-1", 90.0, authors="B. Better", proven=90.0)
    history.bks(f"{old}/n=20/A-2", 50.5, proven=50.5)
    commits["certified"] = history.commit("03-01")
    history.bks(f"{old}/n=20/A-2", 50.5)
    commits["retracted"] = history.commit("04-01")
    history.put(f"{old}/n=50/A-1.vrp.json", '{"instance_name": "A-1", "seed": "again"}')
    history.bks(f"{old}/n=50/A-1", 333.0)
    commits["regenerated"] = history.commit("05-01")
    git(history.folder, "mv", "benchmarks", "data")
    (history.folder / "data/families").mkdir()
    git(history.folder, "mv", "data/TDVRPTW/Fam", "data/families/Fam")
    history.bks("data/families/Fam/n=20/A-3", 12.0)
    commits["renamed"] = history.commit("06-01", tag="v2")
    return history.folder, commits


def at(store, commit, **options):
    folder, commits = store
    revision = commits.get(commit, commit)
    return freeze_snapshot(f"mamut:{folder}@{revision}", name=commit, objective="Duration", **options)


def values(snapshot):
    return {instance: entry.value for instance, entry in snapshot.values.items()}


def test_every_commit_is_read_as_it_was(store):
    first = {"n=20/A-1": 100.0, "n=20/A-2": 50.5, "n=50/A-1": 300.0}
    assert values(at(store, "first")) == first
    assert values(at(store, "certified")) == first | {"n=20/A-1": 90.0}
    assert values(at(store, "regenerated")) == first | {"n=20/A-1": 90.0, "n=50/A-1": 333.0}
    assert values(at(store, "renamed")) == first | {"n=20/A-1": 90.0, "n=50/A-1": 333.0, "n=20/A-3": 12.0}


def test_certificates_appear_and_are_retracted(store):
    certified = [
        [name for name, entry in at(store, commit).values.items() if entry.certified]
        for commit in ("first", "certified", "retracted")
    ]
    assert certified == [[], ["n=20/A-1", "n=20/A-2"], ["n=20/A-1"]]
    diff = diff_snapshots(at(store, "certified"), at(store, "retracted"))
    assert [d.instance for d in diff.withdrawn] == ["n=20/A-2"]
    assert at(store, "certified").values["n=20/A-1"].more["certificate"]["prover"] == "exact"


def test_a_regenerated_instance_is_not_compared(store):
    diff = diff_snapshots(at(store, "retracted"), at(store, "regenerated"))
    assert [(d.instance, d.old, d.new) for d in diff.instance_changed] == [("n=50/A-1", 300.0, 333.0)]
    assert not diff.worsened
    assert at(store, "first").values["n=50/A-1"].instance_digest == sha('{"instance_name": "A-1", "seed": "n=50/A-1"}')


def test_a_renamed_folder_keeps_the_keys(store):
    diff = diff_snapshots(at(store, "regenerated"), at(store, "renamed"))
    assert [d.instance for d in diff.added] == ["n=20/A-3"]
    assert (diff.common, diff.unchanged) == (3, 3)
    assert not diff.removed


def test_the_store_says_version_date_and_swhid(store):
    _, commits = store
    snapshot = at(store, "first")
    assert snapshot.store.version == commits["first"]
    assert snapshot.store.swhid == f"swh:1:rev:{commits['first']}"
    assert snapshot.store.name == "mamut:Fam"
    assert snapshot.as_of == "2026-02-01T10:00:00Z"
    assert snapshot.objective == "Duration"
    assert snapshot.values["n=20/A-1"].source.startswith("A. Author, 2026-01-01")
    assert snapshot.values["n=20/A-1"].more["provenance"]["authors"] == "A. Author"


@pytest.mark.parametrize("as_of", ["2026-01-31", "2026-02-01T09:59:59Z", "2026-02-01T10:59:59+01:00"])
def test_a_date_before_the_commit_is_refused(store, as_of):
    folder, commits = store
    source = f"mamut:{folder}@{commits['first']}"
    with pytest.raises(UsageError, match=f"not before commit {commits['first'][:12]} of 2026-02-01T10:00:00Z"):
        freeze_snapshot(source, name="x", objective="Duration", as_of=as_of)
    for later in ("2026-02-01", "2026-02-01T10:00:00Z", "2026-05-01"):
        assert freeze_snapshot(source, name="x", objective="Duration", as_of=later).as_of == later


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


def test_a_folder_inside_the_repository_is_the_family(store):
    folder, _ = store
    inside = freeze_snapshot(f"mamut:{folder}/data/families/Fam@v2", name="x", objective="Duration")
    assert inside.digest == freeze_snapshot(f"mamut:{folder}@v2", name="x", objective="Duration").digest
    sized = freeze_snapshot(f"mamut:{folder}@v2", name="x", objective="Duration", family="n=50")
    assert list(sized.values) == ["A-1"]


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


def test_several_objectives_need_a_name(store):
    folder, _ = store
    with pytest.raises(UsageError, match=r"expected one objective, got Duration \(3\), FleetCostDuration \(1\)"):
        freeze_snapshot(f"mamut:{folder}@v1", name="x")
    with pytest.raises(UsageError, match="did you mean 'Duration'"):
        freeze_snapshot(f"mamut:{folder}@v1", name="x", objective="Durations")
    fleet = freeze(f"mamut:{folder}@v1", name="x", objective="FleetCostDuration")
    assert values(fleet.snapshot) == {"n=20/A-1": 7.0}
    assert "instances without a solution for this objective: 2" in fleet.notes[0]


@pytest.mark.parametrize("revision", ["nothing", "--all", "v1..v2", "^v1", "", "v1:benchmarks"])
def test_what_is_no_commit_is_refused(store, revision):
    folder, _ = store
    with pytest.raises(SnapshotError, match="expected a commit or tag"):
        freeze_snapshot(f"mamut:{folder}@{revision}", name="x", objective="Duration")


def test_several_families_need_a_name(tmp_path):
    history = History(tmp_path / "repo")
    history.bks("TDVRPTW/One/n=5/A", 1.0)
    history.bks("TDVRPTW/Two/n=5/A", 2.0)
    history.commit("01-01")
    with pytest.raises(UsageError, match="expected one family, got 2: TDVRPTW/One, TDVRPTW/Two"):
        freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x")
    assert values(freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x", family="Two")) == {"n=5/A": 2.0}
    both = freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x", family="TDVRPTW")
    assert values(both) == {"One/n=5/A": 1.0, "Two/n=5/A": 2.0}
    whole = freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x", family=".")
    assert list(whole.values) == ["TDVRPTW/One/n=5/A", "TDVRPTW/Two/n=5/A"]
    with pytest.raises(UsageError, match="--family TDVRPTW takes them all"):
        freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x")
    with pytest.raises(UsageError, match="expected one folder 'Three', got none"):
        freeze_snapshot(f"mamut:{tmp_path}/repo@main", name="x", family="Three")


def test_strange_names_large_file_pointers_and_broken_solutions(tmp_path):
    history = History(tmp_path / "repo")
    history.bks('F/n=5/ü "q"', 1.0)
    history.put('F/n=5/ü "q".vrp.json', f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 9\n")
    history.put("F/n=5/B.bks.Duration.json", "{not json")
    history.bks("F/n=5/C", None)
    history.bks("F/n=5/D", 4.0, proven=5.0)
    history.commit("01-01")
    frozen = freeze(f"mamut:{tmp_path}/repo@main", name="x")
    entries = frozen.snapshot.values
    assert entries['n=5/ü "q"'].instance_digest == "sha256:" + "ab" * 32
    assert entries["n=5/B"].value is None
    assert entries["n=5/B"].more["stated"].startswith("not a solution")
    assert entries["n=5/C"].more["stated"] == "no cost"
    assert any(note.startswith("solutions without a usable value: 2 (n=5/B, n=5/C)") for note in frozen.notes)
    assert any(
        note.startswith("solutions without their instance in the clone, so without its digest: 3")
        for note in frozen.notes
    )
    assert [(a.kind, a.certificate.value, a.other.value) for a in find_alarms(frozen.snapshot)] == [
        (AlarmKind.INSIDE, 5.0, 4.0)
    ]


def test_sidecars_count_where_the_instance_does_not_pin_them(tmp_path):
    history = History(tmp_path / "repo")
    for name, pin in (("A", ""), ("B", ', "atf_sha256": "00"')):
        history.put(f"F/n=5/{name}.vrp.json", f'{{"td": {{"atf_path": "{name}.atf.json"{pin}}}}}')
        history.put(f"F/n=5/{name}.atf.json", "one")
        history.bks(f"F/n=5/{name}", 1.0)
    first = history.commit("01-01")
    for name in "AB":
        history.put(f"F/n=5/{name}.atf.json", "two")
    second = history.commit("01-02")
    old, new = (freeze_snapshot(f"mamut:{tmp_path}/repo@{commit}", name="x") for commit in (first, second))
    assert [d.instance for d in diff_snapshots(old, new).instance_changed] == ["n=5/A"]


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
