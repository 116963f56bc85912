"""Folding values from every kind of source, on the command line."""

import json

import pytest

from gapline.cli.app import run
from gapline.references.snapshot import Snapshot
from references.history import History
from references.routed import GOOD, OVERLOADED, put_solution

OLD = "instance,value,certified,source\ni1,10,false,paper A\ni2,20,true,proof B\ni3,30,false,paper C\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text(OLD)
    assert run(["snapshot", "freeze", "old.csv", "--name", "old", "--as-of", "2026-01-31", "-o", "r/old.json"]) == 0
    capsys.readouterr()
    return tmp_path


def fold(capsys, *arguments, code=0):
    assert run(["snapshot", "fold", "r/old.json", *arguments, "--name", "new", "-o", "r/new.json", "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_csv_solu_and_snapshots_are_taken_on_the_users_word(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value,source\ni1,9,letter\ni3,31,letter\ni4,1,letter\n")
    (folder / "lib.solu").write_text("=opt= i1 8.5\n=best= i3 29\n=unkn= i5\n")
    Snapshot.from_values({"i1": 8.75, "i3": 28.0}, name="s", source="friend").save("friend.json")
    word = ("--validation", "solver", "--as-of", "2026-02-28")
    found = fold(capsys, "theirs.csv", "lib.solu", "friend.json", *word)
    assert [(c["instance"], c["old"], c["new"], c["run"]) for c in found["changes"]] == [
        ("i1", 10.0, 8.5, None), ("i3", 30.0, 28.0, None),
    ]  # fmt: skip
    new = Snapshot.load("r/new.json")
    assert new.values["i2"].document() == Snapshot.load("r/old.json").values["i2"].document()
    assert new.values["i1"].source == "=opt=; solu:lib.solu; not checked: taken on the user's word"
    assert new.values["i1"].certified
    assert new.values["i3"].more["taken"]["snapshot"] == Snapshot.load("friend.json").digest
    assert any("considered on the user's word: 7 (" in note for note in found["notes"])
    assert any("not added: 1 (i4)" in note for note in found["notes"])


def test_without_the_word_nothing_is_taken_and_a_hint_says_how(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value\ni1,9\n")
    assert run(["snapshot", "fold", "r/old.json", "theirs.csv", "--name", "new", "-o", "r/new.json"]) == 1
    assert "Hint: `--validation solver` takes them on your word" in capsys.readouterr().err
    assert not (folder / "r/new.json").exists()


def test_solutions_are_checked_first_and_rejected_by_name(folder, capsys):
    pytest.importorskip("vrplib")
    (folder / "old.csv").write_text("instance,value\nfine,25\nheavy,25\nclaims,25\n")
    assert run(["snapshot", "freeze", "old.csv", "--name", "old", "-o", "r/old2.json"]) == 0
    for name, routes, cost in (("fine", GOOD, 20), ("heavy", OVERLOADED, 14), ("claims", GOOD, 15)):
        put_solution(folder / "sols", name, routes, cost)
    capsys.readouterr()
    command = ["snapshot", "fold", "r/old2.json", "cvrplib:sols", "--name", "new", "-o"]
    assert run([*command, "r/new.json"]) == 1
    out = capsys.readouterr().out
    assert "1 value beaten or added; 2 values rejected: the solution fails the check" in out
    assert "beaten: fine: 25.0 -> 20.0 by fine.sol; cvrplib; solution checked by cvrp dimacs-1" in out
    assert "rejected: heavy: stored 14.0, now infeasible (capacity exceeded: route 1 carries 3 of 2)" in out
    assert "rejected: claims: stored 15.0, now 20.0" in out
    assert run([*command, "r/priced.json", "--reprice"]) == 1
    assert "beaten: claims: 25.0 -> 20.0" in capsys.readouterr().out


def test_a_store_is_folded_at_a_commit(folder, capsys):
    history = History(folder / "repo")
    history.bks("F/n=5/A", 10.0)
    first = history.commit("02-01")
    history.bks("F/n=5/A", 9.0, authors="B. Better")
    second = history.commit("03-01")
    store = f"mamut:repo@{first}"
    assert run(["snapshot", "freeze", store, "--name", "one", "-o", "r/one.json"]) == 0
    command = ["snapshot", "fold", "r/one.json", f"mamut:repo@{second}", "--name", "two", "-o", "r/two.json"]
    capsys.readouterr()
    assert run([*command, "--validation", "solver"]) == 0
    two = Snapshot.load("r/two.json")
    assert two.as_of == "2026-03-01T10:00:00Z"
    assert two.values["n=5/A"].more["taken"]["store"]["version"] == second
    assert two.values["n=5/A"].source.startswith("B. Better, 2026-01-01 (F/n=5/A.bks.Duration.json); mamut:F")


def test_values_and_runs_in_one_fold(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value\ni1,9\n")
    (folder / "traces.csv").write_text(
        "arm,instance,seed,time,objective,valid,horizon\na,i1,1,1,9.5,true,30\na,i3,1,1,29,true,30\n"
    )
    found = fold(capsys, "traces.csv", "theirs.csv", "--validation", "solver")
    assert [(c["instance"], c["new"], c["run"]) for c in found["changes"]] == [
        ("i1", 9.0, None),
        ("i3", 29.0, "a/i3/1"),
    ]


def test_a_certificate_below_is_an_alarm_and_exit_code_1(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value\ni2,19\ni1,9\n")
    (alarm,) = fold(capsys, "theirs.csv", "--validation", "solver", code=1)["alarms"]
    assert (alarm["certificate"]["value"], alarm["other"]["value"]) == (20.0, 19.0)
    assert Snapshot.load("r/new.json").values["i2"].value == 20.0


def test_a_bound_that_a_stored_certificate_contradicts_rings(folder, capsys):
    (folder / "traces.csv").write_text("arm,instance,seed,time,objective,valid,horizon,bound\na,i2,1,1,25,true,30,22\n")
    (alarm,) = fold(capsys, "traces.csv", code=1)["alarms"]
    assert alarm["kind"] == "a stored value is better than the dual bound of a run allows"


def test_options_of_runs_need_runs(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value\ni1,9\n")
    command = ["snapshot", "fold", "r/old.json", "theirs.csv", "--name", "new", "-o", "r/new.json", "--horizon", "9"]
    assert run(command) == 2
    assert "expected runs among the sources" in capsys.readouterr().err


def test_another_sense_is_refused(folder, capsys):
    (folder / "theirs.csv").write_text("instance,value\ni1,9\n")
    assert run(["snapshot", "freeze", "old.csv", "--name", "x", "--sense", "max", "-o", "r/max.json"]) == 0
    command = [
        "snapshot",
        "fold",
        "r/max.json",
        "theirs.csv",
        "--name",
        "n",
        "-o",
        "r/n.json",
        "--validation",
        "solver",
    ]
    assert run([*command, "--sense", "min"]) == 1
    assert "expected one sense for each instance" in capsys.readouterr().err
