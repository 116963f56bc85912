import json

import pytest

from gapline.errors import UsageError
from gapline.references.alarms import AlarmKind, find_alarms
from gapline.references.diff import diff_snapshots
from gapline.references.freeze import freeze, freeze_snapshot
from references.history import History, at, sha, values


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


def test_a_folder_inside_the_repository_is_the_family(store):
    folder, _ = store
    inside = freeze_snapshot(f"mamut:{folder}/data/families/Fam@v2", name="x", objective="Duration")
    assert inside.digest == freeze_snapshot(f"mamut:{folder}@v2", name="x", objective="Duration").digest
    sized = freeze_snapshot(f"mamut:{folder}@v2", name="x", objective="Duration", family="n=50")
    assert list(sized.values) == ["A-1"]


def test_several_objectives_need_a_name(store):
    folder, _ = store
    with pytest.raises(UsageError, match=r"expected one objective, got Duration \(3\), FleetCostDuration \(1\)"):
        freeze_snapshot(f"mamut:{folder}@v1", name="x")
    with pytest.raises(UsageError, match="did you mean 'Duration'"):
        freeze_snapshot(f"mamut:{folder}@v1", name="x", objective="Durations")
    fleet = freeze(f"mamut:{folder}@v1", name="x", objective="FleetCostDuration")
    assert values(fleet.snapshot) == {"n=20/A-1": 7.0}
    assert "instances without a solution for this objective: 2" in fleet.notes[0]


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


def test_the_checker_that_priced_a_value_is_kept(tmp_path):
    """A store re-prices what its checker prices otherwise under new rules, and leaves the rest as it was."""
    history = History(tmp_path / "repo")
    history.bks("n=5/A-1", 10.0)
    history.bks("n=5/A-2", 20.0)
    file = history.folder / "n=5/A-1.bks.Duration.json"
    document = json.loads(file.read_text())
    repriced = {"previous_cost": 11.0, "contract": "td-fold/2", "checker": "referee 2", "date": "2026-09-01"}
    document["metadata"]["repriced"] = repriced | {"history": [1]}
    file.write_text(json.dumps(document))
    history.commit("02-01")
    frozen = freeze(f"mamut:{history.folder}", name="x")
    first, second = frozen.snapshot.values.values()
    assert (first.more["checker"], first.more["repriced"]) == ("td-fold/2", repriced)
    assert "checker" not in second.more
    assert "values re-priced in the store, by td-fold/2 (1), of 2" in frozen.notes


def test_a_changed_picture_is_not_another_instance(tmp_path):
    """Sidecars that are only drawn are pinned in the metadata; those that are read stand under `td`."""
    history = History(tmp_path / "repo")

    def put(picture, road="r1"):
        metadata = {"sidecars": {"geo": {"path": "A-1.geo.json", "sha256": picture}}}
        history.put("n=5/A-1.vrp.json", {"demands": [0, 1], "td": {"path": "A-1.road.json"}, "metadata": metadata})
        history.put("n=5/A-1.geo.json", picture)
        history.put("n=5/A-1.road.json", road)
        history.bks("n=5/A-1", 10.0)

    put("one")
    commits = [history.commit("02-01")]
    put("two")
    commits.append(history.commit("03-01"))
    put("two", road="r2")
    commits.append(history.commit("04-01"))
    first, drawn, built = (freeze_snapshot(f"mamut:{history.folder}@{commit}", name="x") for commit in commits)
    assert first.values["n=5/A-1"].instance_digest != drawn.values["n=5/A-1"].instance_digest
    assert diff_snapshots(first, drawn).unchanged == 1
    assert len(diff_snapshots(drawn, built).instance_changed) == 1
