"""An umbrella repository mounts its families as submodules; their objects lie in clones."""

import pytest

from gapline.errors import GaplineError, SnapshotError, UsageError
from gapline.references.freeze import freeze, freeze_snapshot
from references.history import History, git, values

MODULES = """[submodule "one"]
\tpath = benchmarks/TDVRPTW/Town
\turl = git@example.org:keepers/store-Town.git
[submodule "two"]
\tpath = benchmarks/TDVRPTW/Field
\turl = ../store-Field.git
[submodule "tools"]
\tpath = tools
\turl = https://example.org/keepers/tools.git
"""


@pytest.fixture(scope="module")
def umbrella(tmp_path_factory):
    """Two families in repositories of their own, each moved on since it was mounted."""
    root = tmp_path_factory.mktemp("umbrella")
    commits = {}
    for family, cost, day in (("Town", 100.0, "03-01"), ("Field", 70.0, "02-01")):
        history = History(root / "clones" / f"store-{family}")
        history.put("n=20/A-1.vrp.json", {"instance_name": "A-1", "family": family})
        history.bks("n=20/A-1", cost)
        commits[family] = history.commit(day)
        history.bks("n=20/A-1", 1.0)
        history.commit("06-01")
    above = History(root / "store")
    above.put(".gitmodules", MODULES)
    above.bks("benchmarks/VRPTW/Own/n=5/B-1", 5.0)
    git(above.folder, "add", "-A")
    links = {f"benchmarks/TDVRPTW/{family}": commit for family, commit in commits.items()} | {"tools": "0" * 39 + "1"}
    for path, commit in links.items():
        git(above.folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    moment = "2026-02-15T12:00:00Z"
    git(above.folder, "commit", "-q", "-m", "mount", GIT_COMMITTER_DATE=moment, GIT_AUTHOR_DATE=moment)
    return root, commits


def test_submodules_are_read_from_clones_at_the_commit_they_are_mounted_at(umbrella):
    root, commits = umbrella
    frozen = freeze(f"mamut:{root}/store", name="x", family="benchmarks", clones=str(root / "clones"))
    assert values(frozen.snapshot) == {
        "TDVRPTW/Field/n=20/A-1": 70.0, "TDVRPTW/Town/n=20/A-1": 100.0, "VRPTW/Own/n=5/B-1": 5.0,
    }  # fmt: skip
    town = frozen.snapshot.values["TDVRPTW/Town/n=20/A-1"].more["store"]
    assert (town["name"], town["version"]) == ("mamut:Town", commits["Town"])
    assert town["url"] == "https://example.org/keepers/store-Town"
    assert town["swhid"] == f"swh:1:rev:{commits['Town']}"
    # An address relative to that of the umbrella is none of its own.
    assert frozen.snapshot.values["TDVRPTW/Field/n=20/A-1"].more["store"]["url"] is None
    assert "store" not in frozen.snapshot.values["VRPTW/Own/n=5/B-1"].more
    assert any("not read: 1 (tools at 000000000000)" in note for note in frozen.notes)


def test_the_values_are_known_since_the_youngest_commit_they_come_from(umbrella):
    root, _ = umbrella
    options = {"name": "x", "clones": str(root / "clones")}
    assert freeze_snapshot(f"mamut:{root}/store", family="Town", **options).as_of == "2026-03-01T10:00:00Z"
    assert freeze_snapshot(f"mamut:{root}/store", family="Field", **options).as_of == "2026-02-15T12:00:00Z"


def test_a_family_has_the_same_values_mounted_and_by_itself(umbrella):
    root, commits = umbrella
    mounted = freeze_snapshot(f"mamut:{root}/store", name="x", family="Town", clones=str(root / "clones"))
    alone = freeze_snapshot(f"mamut:{root}/clones/store-Town@{commits['Town']}", name="x")
    (one,), (other,) = mounted.values.values(), alone.values.values()
    assert list(mounted.values) == list(alone.values) == ["n=20/A-1"]
    assert (one.value, one.digests()) == (other.value, other.digests())


def test_what_lies_in_a_submodule_without_a_clone_is_asked_for(umbrella, tmp_path):
    root, _ = umbrella
    with pytest.raises(GaplineError) as caught:
        freeze(f"mamut:{root}/store", name="x", family="Town", clones=str(tmp_path))
    assert "expected one folder 'Town', got none" in caught.value.message
    assert "--clones FOLDER names a folder of clones" in caught.value.hint
    note = freeze(f"mamut:{root}/store", name="x").notes[-1]
    assert note.startswith("submodules without a clone that has their commit, so not read: 3")
    with pytest.raises(UsageError, match="nowhere: expected a folder of clones, got"):
        freeze(f"mamut:{root}/store", name="x", clones="nowhere")


def test_a_store_without_any_solution_of_its_own_names_its_submodules(tmp_path):
    above = History(tmp_path / "store")
    above.put("README.md", "nothing")
    git(above.folder, "add", "-A")
    git(above.folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},fam")
    git(above.folder, "commit", "-q", "-m", "mount")
    with pytest.raises(SnapshotError, match=r"(?s)got none among 1.*not read: 1 \(fam at 111111111111\)"):
        freeze(f"mamut:{above.folder}", name="x")


def test_a_checked_out_submodule_needs_no_folder_of_clones(umbrella, tmp_path):
    root, commits = umbrella
    git(tmp_path, "clone", "-q", str(root / "store"), "all")
    place = tmp_path / "all/benchmarks/TDVRPTW/Town"
    place.rmdir()
    git(tmp_path, "clone", "-q", str(root / "clones/store-Town"), str(place))
    snapshot = freeze_snapshot(f"mamut:{tmp_path}/all", name="x", family="Town")
    assert values(snapshot) == {"n=20/A-1": 100.0}
    assert snapshot.values["n=20/A-1"].more["store"]["version"] == commits["Town"]
