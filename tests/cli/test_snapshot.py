import json

import pytest

from gapline.cli.app import run

REFERENCES = "instance,value,certified,source\ni1,10,false,paper A\ni2,20,true,proof B\n"
TRACES = (
    "arm,instance,seed,time,objective,valid,horizon\n"
    "a,i1,1,1,12,true,30\na,i1,1,5,9,true,30\na,i1,1,35,8,true,30\na,i2,1,5,20,true,30\n"
)


@pytest.fixture
def study(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text(REFERENCES)
    (tmp_path / "traces.csv").write_text(TRACES)
    assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "before", "-o", "r/before.json"]) == 0
    capsys.readouterr()
    return tmp_path


def answer(capsys, *arguments, code=0):
    assert run(["snapshot", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_freeze_fold_diff_verify_show(study, capsys):
    before = (study / "r/before.json").read_bytes()
    fold = answer(capsys, "fold", "r/before.json", "traces.csv", "--name", "after", "-o", "r/after.json")
    assert [(c["instance"], c["old"], c["new"], c["run"]) for c in fold["changes"]] == [("i1", 10.0, 9.0, "a/i1/1")]
    diff = answer(capsys, "diff", "r/before.json", "r/after.json")
    assert {"common", "improved", "worsened", "added", "removed", "certified", "withdrawn", "instance_changed"} <= set(
        diff
    )
    assert diff["common"] == 2
    assert [(d["instance"], d["old"], d["new"]) for d in diff["improved"]] == [("i1", 10.0, 9.0)]
    verify = answer(capsys, "verify", "r/before.json", "r/after.json")
    assert [file["parent_file"] for file in verify["files"]] == [None, "r/before.json"]
    show = answer(capsys, "show", "r/after.json", "--instance", "i1")
    assert list(show["values"]) == ["i1"]
    assert show["parent"] == json.loads(before)["digest"]
    assert (study / "r/before.json").read_bytes() == before


@pytest.mark.usefixtures("study")
def test_late_candidates_are_folded_when_asked_for(capsys):
    options = ("--include-late", "--name", "late", "-o", "r/late.json")
    assert answer(capsys, "fold", "r/before.json", "traces.csv", *options)["changes"][0]["new"] == 8.0


def test_an_alarm_is_exit_code_1_and_the_file_is_written(study, capsys):
    (study / "traces.csv").write_text(TRACES.replace("i2,1,5,20", "i2,1,5,19"))
    fold = answer(capsys, "fold", "r/before.json", "traces.csv", "--name", "after", "-o", "r/after.json", code=1)
    (alarm,) = fold["alarms"]
    assert (alarm["certificate"]["value"], alarm["other"]["value"]) == (20.0, 19.0)
    assert "proof B" in alarm["certificate"]["source"]
    assert (study / "r/after.json").exists()
    assert fold["summary"] == "1 value beaten or added; 1 certified value is contradicted: see ALARM"


def test_nothing_was_beaten_is_not_said_above_an_alarm(study, capsys):
    (study / "traces.csv").write_text(TRACES.replace("i2,1,5,20", "i2,1,5,19").replace("i1,1,5,9", "i1,1,5,11"))
    assert run(["snapshot", "fold", "r/before.json", "traces.csv", "--name", "x", "-o", "r/x.json"]) == 1
    said = capsys.readouterr().out
    assert "nothing was beaten" not in said
    assert "no uncertified value was beaten; 1 certified value is contradicted: see ALARM" in said
    assert "ALARM" in said.splitlines()[-1]


def test_a_diff_says_at_once_that_a_certificate_is_contradicted(study, capsys):
    (study / "other.csv").write_text(REFERENCES.replace("i2,20,true,proof B", "i2,19,false,run"))
    assert run(["snapshot", "freeze", "csv:other.csv", "--name", "other", "-o", "r/other.json"]) == 0
    capsys.readouterr()
    assert run(["snapshot", "diff", "r/before.json", "r/other.json"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "2 instances in both, 1 of them unchanged; 1 certificate contradicted: see ALARM"


def test_contradicting_certificates_are_exit_code_1(study, capsys):
    (study / "refs.csv").write_text(REFERENCES.replace("20,true", "21,true"))
    assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "other", "-o", "r/other.json"]) == 0
    capsys.readouterr()
    for command in ("diff", "verify"):
        (alarm,) = answer(capsys, command, "r/before.json", "r/other.json", code=1)["alarms"]
        assert alarm["kind"] == "two snapshots certify different optima"


def test_verify_reports_every_file(study, capsys):
    file = study / "r/bad.json"
    file.write_text((study / "r/before.json").read_text().replace("10.0", "9.5"))
    assert run(["snapshot", "verify", "r/bad.json", "r/before.json", "r/none.json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("BROKEN r/bad.json: the file was changed")
    assert "i1: 10.0 (paper A) there, 9.5 (paper A) here" in lines[1]
    assert lines[2].startswith("whole r/before.json")
    assert lines[3] == "BROKEN r/none.json: expected a snapshot file, got no such file"


def test_an_existing_snapshot_is_not_overwritten(study, capsys):
    (study / "refs.csv").write_text(REFERENCES.replace("10", "11"))
    assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "before", "-o", "r/before.json"]) == 1
    assert "a snapshot never changes" in capsys.readouterr().err


def test_exit_codes_of_wrong_use(study, capsys):
    assert run(["snapshot", "freeze", "cvs:refs.csv", "--name", "x", "-o", "x.json"]) == 2
    assert "did you mean 'csv'" in capsys.readouterr().err
    assert run(["snapshot", "freeze", "csv:refs.csv", "-o", "x.json"]) == 2
    assert run(["snapshot", "diff", "r/before.json", "refs.csv"]) == 1
    assert not (study / "x.json").exists()


def test_names_cannot_drive_the_terminal(study, capsys):
    (study / "refs.csv").write_text("instance,value\n\x1b[31mred\u202e,10\n")
    assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "x", "-o", "r/x.json"]) == 0
    assert run(["snapshot", "show", "r/x.json"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\u001b[31mred\\u202e" in out


@pytest.mark.parametrize("command", ["freeze", "fold", "diff", "verify", "show"])
def test_help_has_an_example(command, capsys):
    assert run(["snapshot", command, "--help"]) == 0
    assert f"gapline snapshot {command}" in " ".join(capsys.readouterr().out.split())


def test_several_stores_become_one_snapshot(study, capsys):
    (study / "more.solu").write_text("=opt= i3 7\n")
    assert run(["snapshot", "freeze", "csv:refs.csv", "solu:more.solu", "--name", "all", "-o", "r/all.json"]) == 0
    out = capsys.readouterr().out
    assert "store name     csv:refs.csv + solu:more.solu\nstore 1        csv:refs.csv\nstore 2        solu:" in out
    shown = answer(capsys, "show", "r/all.json")
    assert {name: entry["store"]["name"] for name, entry in shown["values"].items()} == {
        "i1": "csv:refs.csv", "i2": "csv:refs.csv", "i3": "solu:more.solu",
    }  # fmt: skip


def test_a_history_is_frozen_as_of_a_day(study, capsys):
    (study / "best.csv").write_text("date,instance,value\n2020-01-01,i1,12\n2021-01-01,i1,10\n")
    facts = ["freeze", "history:best.csv", "--name", "old", "--as-of", "2020-12-31", "-o", "r/old.json"]
    assert answer(capsys, *facts)["as_of"] == "2020-12-31"
    assert answer(capsys, "show", "r/old.json")["values"]["i1"]["value"] == 12.0


def test_a_diff_names_files_that_were_rewritten(study, capsys):
    for name, digest in (("one", "sha256:aa"), ("two", "sha256:bb")):
        (study / "refs.csv").write_text(f"instance,value,instance_digest,problem_digest\ni1,10,{digest},sha256:p\n")
        assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "x", "-o", f"r/{name}.json"]) == 0
    capsys.readouterr()
    diff = answer(capsys, "diff", "r/one.json", "r/two.json")
    assert (diff["unchanged"], diff["instance_changed"]) == (1, [])
    assert diff["notes"][0].startswith("files of 1 instances were rewritten")
    assert run(["snapshot", "diff", "r/one.json", "r/two.json"]) == 0
    assert "note: files of 1 instances were rewritten" in capsys.readouterr().out
