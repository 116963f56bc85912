"""`gapline init` from a store or a folder."""

import json

import pytest

from gapline.cli.app import run
from gapline.contract.study_file import load_contract
from gapline.references.snapshot import Snapshot
from generate.file_trees import cvrp, solomon
from generated_stores import put_instance, write_store


def lay(folder, *trees):
    for files in trees:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    return folder


def solve(folder, *names):
    for name in names:
        (folder / f"{name}.sol").write_text("Route #1: 1 2\nCost 500\n")


def init(capsys, study, *arguments):
    """Run the command and return its answer, or what it said and its exit code."""
    code = run(["init", str(study), *map(str, arguments), "--json"])
    said = capsys.readouterr()
    return json.loads(said.out) if code == 0 else (code, said.err)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of two families, with one instance that nobody solved and one whose sidecar is not there."""
    history = write_store(
        tmp_path_factory.mktemp("store") / "repo", families=("Fam/East", "Fam/West"), sizes=(2, 3), names=2
    )
    put_instance(history, "Fam/East/n=3/Open", 3, solved=False)
    put_instance(history, "Fam/East/n=3/Bare", 3)
    (history.folder / "Fam/East/n=3/Bare.atf.json.gz").unlink()
    history.commit("03-01", tag="v1")
    return history.folder


def test_a_store_becomes_a_study_with_a_frozen_snapshot(store, tmp_path, capsys):
    told = init(capsys, tmp_path / "s", "--from", f"mamut:{store}@v1", "--horizon", "9", "--seeds", "2")
    contract = load_contract(tmp_path / "s", files=True)
    assert told["panels"] == {"East/n=2": 2, "East/n=3": 2, "West/n=2": 2, "West/n=3": 2}
    assert (contract.objective.checker, contract.time.horizon, contract.seeds) == ("tdvrptw", 9.0, [1, 2])
    assert contract.reference.policy == "frozen"
    snapshot = Snapshot.load(tmp_path / "s" / contract.reference.snapshot)
    assert snapshot.digest == told["snapshot"]["digest"]
    assert (snapshot.objective, snapshot.as_of, len(snapshot)) == ("Duration", "2026-03-01T10:00:00Z", 9)
    assert {one.name for one in contract.instances} <= set(snapshot.values)
    assert told["left_out"] == [
        {"reason": "without a sidecar that they name", "instances": ["East/n=3/Bare"]},
        {"reason": "without a best-known value", "instances": ["East/n=3/Open"]},
    ]
    # One pattern for each family, and no instance by itself.
    assert (tmp_path / "s/study.toml").read_text().count("[[instances]]") == 2
    assert not (tmp_path / "s/instances.csv").exists()


def test_a_family_and_a_subset_of_it(store, tmp_path, capsys):
    chosen = ["--family", "West", "--exclude", "n=2/*", "--most", "1"]
    told = init(capsys, tmp_path / "s", "--from", f"mamut:{store}@v1", *chosen)
    assert (told["panels"], told["passed_over"], told["left_out"]) == ({"n=3": 1}, 3, [])
    # Whatever is chosen, what is frozen is the family, as `snapshot freeze` would freeze it.
    assert told["snapshot"]["values"] == 4


def test_the_terminal_says_what_was_left_out_and_what_was_frozen(store, tmp_path, capsys):
    assert run(["init", str(tmp_path / "s"), "--from", f"mamut:{store}@v1", "--include", "East/*"]) == 0
    out = capsys.readouterr().out
    assert "left out: 1 instance without a sidecar that they name (East/n=3/Bare)" in out
    assert "not chosen by --include, --exclude and --most: 4" in out
    assert f"references frozen: {tmp_path}/s/references/mamut-" in out
    assert "9 values known since 2026-03-01T10:00:00Z, sha256:" in out
    assert out.endswith(f"      gapline run {tmp_path}/s\n")


def test_a_folder_of_cvrplib_files(tmp_path, capsys):
    folder = lay(tmp_path / "X", cvrp("a", 3), cvrp("b", 4), cvrp("c", 4))
    solve(folder, "a", "b")
    told = init(capsys, tmp_path / "s", "--from", f"cvrplib:{folder}")
    assert (told["problem"], told["arms"], told["panels"]) == ("cvrp", ["pyvrp", "ortools"], {"n=3": 1, "n=4": 1})
    assert told["left_out"] == [{"reason": "without a best-known value", "instances": ["c"]}]
    snapshot = Snapshot.load(tmp_path / "s/references/cvrplib.json")
    assert {name: entry.value for name, entry in snapshot.values.items()} == {"a": 500.0, "b": 500.0}


def test_solomon_files_with_solutions(tmp_path, capsys):
    folder = lay(tmp_path / "Solomon", solomon("C/c1", 3), solomon("R/r1", 3))
    solve(folder, "C/c1", "R/r1")
    told = init(capsys, tmp_path / "s", "--from", f"cvrplib:{folder}")
    assert (told["problem"], told["panels"]) == ("vrptw", {"C/n=3": 1, "R/n=3": 1})
    one = init(capsys, tmp_path / "t", "--from", f"cvrplib:{folder}", "--family", "R")
    assert (one["panels"], one["snapshot"]["values"]) == ({"n=3": 1}, 1)


def test_any_folder_has_no_references_unless_some_are_given(tmp_path, capsys):
    folder = lay(tmp_path / "mine", cvrp("a", 3), cvrp("b", 3))
    assert run(["init", str(tmp_path / "s"), "--instances", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "no references: scores are against the best of the campaign itself (policy analysis)" in out
    assert f"gapline snapshot freeze csv:FILE --name known -o {tmp_path}/s/references/known.json" in out
    assert load_contract(tmp_path / "s").reference.policy == "analysis"
    (tmp_path / "refs.csv").write_text("instance,value\na,10\n")
    told = init(capsys, tmp_path / "t", "--instances", folder, "--references", tmp_path / "refs.csv")
    assert (told["instances"], told["snapshot"]["name"], told["notes"]) == (1, "refs", [])
    assert load_contract(tmp_path / "t").reference.snapshot == "references/refs.json"
    (tmp_path / "lib.solu").write_text("=opt= b 9\n")
    told = init(capsys, tmp_path / "u", "--instances", folder, "--references", tmp_path / "lib.solu")
    # That they are not frozen, as a command that scores would say, is not so here.
    assert (told["instances"], told["notes"]) == (1, [])


def test_instances_that_lie_in_the_study_are_not_copied(tmp_path, capsys, monkeypatch):
    lay(tmp_path / "data", cvrp("a", 3), cvrp("b", 3))
    monkeypatch.chdir(tmp_path)
    assert init(capsys, ".", "--instances", "data")["instances"] == 2
    assert [one.path for one in load_contract(tmp_path).instances] == ["data/a.vrp", "data/b.vrp"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "study.toml"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--from", "mamt:x"], 2, "did you mean 'mamut'?"),
        (["--from", "mamut:"], 2, "--from: expected mamut:PATH@COMMIT or cvrplib:DIR, got 'mamut:'"),
        (["--from", "solu:lib.solu"], 2, "--instances FOLDER --references solu:lib.solu"),
        (["--from", "cvrplib:X", "--instances", "X"], 2, "expected --from or --instances, got both"),
        (["--from", "cvrplib:X", "--references", "r.csv"], 2, "expected --from or --references, got both"),
        (["--from", "cvrplib:X"], 1, "expected .sol files, got none"),
        (["--from", "cvrplib:nowhere"], 2, "expected a folder of instances, got no such file"),
        (["--from", "mamut:X"], 1, "expected a git repository"),
        (["--instances", "X", "--problem", "mip"], 2, "X: expected instances of mip, got cvrp (1)"),
        (["--instances", "X", "--references", "refs.csv"], 2, "names differ: refs has 'A1' for 'a1'"),
        (["--instances", "X", "--references", "no.csv"], 1, "no.csv: expected a references CSV"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path, capsys, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    lay(tmp_path / "X", cvrp("a1", 3))
    (tmp_path / "refs.csv").write_text("instance,value\nA1,10\n")
    got, said = init(capsys, "s", *arguments)
    assert got == code
    assert words in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X", "refs.csv"]


def test_a_store_of_other_objectives_alone_is_refused(tmp_path, capsys):
    history = write_store(tmp_path / "repo", sizes=(2,), names=1)
    file = history.folder / "n=2/Demo-1.bks.Duration.json"
    file.rename(file.with_name("Demo-1.bks.Fleet.json"))
    history.commit("03-01")
    code, said = init(capsys, tmp_path / "s", "--from", f"mamut:{history.folder}")
    assert (code, "expected objective 'Duration', got Fleet (1)" in said) == (2, True)
    assert not (tmp_path / "s").exists()
