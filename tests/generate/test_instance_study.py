"""A study of instances that were found."""

import pytest

from gapline.errors import TraceError, UsageError
from gapline.generate.instance_files import FolderFiles, find_instances
from gapline.generate.instance_study import write_collected_study
from generate.file_trees import Tree, cvrp, mamut, solomon


def collect(folder, files, **choices):
    found = find_instances(files, where="here")
    return write_collected_study(folder, files, found, origin="here", **choices)


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_instances_are_laid_out_with_their_sidecars_and_no_more(tmp_path):
    files = Tree({**mamut("F/n=3/A", 3), **mamut("F/n=4/A", 4), "F/n=3/A.geo.json": b"picture"}, "F")
    contract = collect(tmp_path / "s", files, horizon=9, seeds=2, name="mine")
    assert (contract.study.name, contract.time.horizon, contract.seeds) == ("mine", 9.0, [1, 2])
    assert [(one.name, one.panel, one.size) for one in contract.instances] == [
        ("n=3/A", "n=3", 3), ("n=4/A", "n=4", 4),
    ]  # fmt: skip
    assert contract.objective.checker == "tdvrptw"
    assert files_in(tmp_path / "s") == [
        "instances/n=3/A.atf.json.gz", "instances/n=3/A.vrp.json",
        "instances/n=4/A.atf.json.gz", "instances/n=4/A.vrp.json", "study.toml",
    ]  # fmt: skip
    assert (tmp_path / "s/instances/n=3/A.atf.json.gz").read_bytes() == b"functions"


def test_at_most_so_many_of_each_panel(tmp_path):
    files = {name: data for k in range(6) for name, data in cvrp(f"x{k}", 3 + k % 2).items()}
    contract = collect(tmp_path / "s", Tree(files), most=2)
    assert {one.name: one.panel for one in contract.instances} == {"x0": "n=3", "x2": "n=3", "x1": "n=4", "x3": "n=4"}
    assert contract.study.name == "s"


def test_references_are_part_of_the_whole(tmp_path):
    def write(study):
        (study / "references").mkdir()
        (study / "references/k.json").write_text("{}")
        return "references/k.json", "known."

    contract = collect(tmp_path / "s", Tree(cvrp("x", 3)), references=write)
    assert (contract.reference.policy, contract.reference.snapshot) == ("frozen", "references/k.json")

    def fail(_study):
        raise TraceError("no")

    with pytest.raises(TraceError, match="no"):
        collect(tmp_path / "t", Tree(cvrp("x", 3)), references=fail)
    assert not (tmp_path / "t").exists()


def test_a_path_that_leads_out_of_the_collection_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected a path inside the collection"):
        collect(tmp_path / "s", Tree(cvrp("../../x", 3)))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_goes_away_leaves_nothing_behind(tmp_path):
    files = Tree(cvrp("x", 3) | cvrp("y", 3))
    found = find_instances(files, where="here")
    files.files["y.vrp"] = None
    with pytest.raises(TraceError, match=r"y\.vrp: expected the file, got none"):
        write_collected_study(tmp_path / "s", files, found, origin="here")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", [False, True])
def test_instances_inside_the_study_stay_where_they_are(tmp_path, other):
    data = tmp_path / "data"
    data.mkdir()
    for name, content in (solomon("a", 3) | solomon("b", 3)).items():
        (data / name).write_bytes(content)
    if other:
        (data / "README.txt").write_text("A pattern would take it for an instance.")
    contract = collect(tmp_path, FolderFiles(data), in_place="data")
    assert [one.path for one in contract.instances] == ["data/a.txt", "data/b.txt"]
    assert (tmp_path / "instances.csv").exists() is other
    assert not (tmp_path / "instances").exists()
