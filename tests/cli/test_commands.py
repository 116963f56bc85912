"""The command line as a user meets it: what it prints, what it writes, how it fails."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import COMMANDS, run

TRACES = """arm,instance,seed,time,objective,valid
run 1,worked,1,,,
run 2,worked,1,5,30,true
run 2,worked,1,7,29,true
run 2,worked,1,11,22,true
run 2,worked,1,14,18,true
run 2,worked,1,19,15,true
run 2,worked,1,24,14,true
run 2,worked,1,27,13,true
run 3,worked,1,0,14,true
run 3,worked,1,2,12,true
run 3,worked,1,3,11,true
run 3,worked,1,5,10,true
run 3,worked,1,8,9,true
run 3,worked,1,15,8,true
run 3,worked,1,18,7,true
run 3,worked,1,23,6,true
run 3,worked,1,26,5,true
run 3,worked,1,27,4,false
run 3,worked,1,31,3,true
"""


@pytest.fixture
def worked(tmp_path, monkeypatch):
    (tmp_path / "traces.csv").write_text(TRACES)
    (tmp_path / "refs.csv").write_text("instance,value\nworked,10\n")
    monkeypatch.chdir(tmp_path)
    return ["traces.csv", "--references", "refs.csv", "--horizon", "30"]


def as_json(capsys, *arguments):
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_score_json_has_the_published_shape(worked, capsys):
    code, document = as_json(capsys, "score", *worked, "--kernel", "squeezed", "--kernel", "dimacs:1.1", "--per-run")
    assert code == 0
    assert document["reference"]["policy"] == "frozen, declared"
    assert document["reference"]["name"] == "refs"
    assert document["reference"]["digest"].startswith("sha256:")
    assert (document["weight"], document["weighting"], document["validation"]) == ("uniform", "panel", "declared")
    assert document["kernels"] == ["squeezed", "dimacs:1.1"]
    first, second, third = document["arms"]
    assert (first["arm"], first["runs"], first["empty"], first["final_gap"]) == ("run 1", 1, 1, None)
    assert second["scores"]["squeezed"] == pytest.approx(0.41311979083718214, abs=1e-15)
    assert (third["rejected"], third["late"], third["attainment"]) == (1, 1, {"0.01": 1.0})
    assert third["scores"]["dimacs:1.1"] == pytest.approx(-0.18333333333333332, abs=1e-15)
    row = document["runs"][2]
    assert {"arm", "instance", "panel", "seed", "horizon", "scores", "final_gap", "first_time", "steps"} <= set(row)
    assert (row["first_time"], row["steps"], row["rejected"], row["late"], row["status"]) == (0.0, 9, 1, 1, "unknown")


def test_a_raw_score_that_does_not_exist_is_null(worked, capsys):
    _, document = as_json(capsys, "score", *worked, "--kernel", "raw", "--per-run")
    values = [run["scores"]["raw"] for run in document["runs"]]
    assert values[:2] == [None, None]
    assert values[2] == pytest.approx(-0.16, abs=1e-15)


def test_the_table_names_reference_weight_and_horizon(worked, capsys):
    assert run(["score", *worked]) == 0
    out = capsys.readouterr().out
    assert "against refs (frozen, declared, sha256:" in out
    assert "weight uniform; panel-equal; horizon 30 s; valid as the source declares; 3 runs" in out
    assert out.index("run 3") < out.index("run 2") < out.index("run 1")


@pytest.mark.usefixtures("worked")
def test_two_snapshots_stand_side_by_side(capsys):
    gl.Snapshot.from_values({"worked": 10.0}, name="old").save("old.json")
    gl.Snapshot.from_values({"worked": 5.0}, name="new").save("new.json")
    arguments = ["traces.csv", "--horizon", "30", "--snapshot", "old.json", "--snapshot", "new.json"]
    _, document = as_json(capsys, "score", *arguments)
    assert [reading["reference"]["name"] for reading in document["readings"]] == ["old", "new"]
    old, new = ([arm["scores"]["squeezed"] for arm in reading["arms"]] for reading in document["readings"])
    assert all(weak <= strong for weak, strong in zip(old, new, strict=True))


@pytest.mark.usefixtures("worked")
def test_the_analysis_policy_gives_no_negative_score(capsys):
    _, document = as_json(capsys, "score", "traces.csv", "--horizon", "30", "--policy", "analysis", "--per-run")
    assert document["reference"]["policy"] == "analysis"
    assert min(run["scores"]["squeezed"] for run in document["runs"]) >= 0


def test_a_beaten_certificate_rings_an_alarm_and_exits_1(worked, capsys):
    Path("refs.csv").write_text("instance,value,certified,source\nworked,10,true,a proof\n")
    code, document = as_json(capsys, "score", *worked)
    assert code == 1
    assert len(document["arms"]) == 3
    (alarm,) = document["alarms"]
    assert (alarm["certificate"]["value"], alarm["other"]["value"]) == (10.0, 5.0)
    assert run(["score", *worked]) == 1
    assert "ALARM" in capsys.readouterr().out


def test_filters_keep_what_matches(worked, capsys):
    _, document = as_json(capsys, "score", *worked, "--arm", "run [23]")
    assert [arm["arm"] for arm in document["arms"]] == ["run 2", "run 3"]


def test_unchecked_candidates_are_refused_until_somebody_decides(worked, capsys):
    Path("traces.csv").write_text(TRACES + "run 2,worked,1,28,12,\n")
    assert run(["score", *worked]) == 1
    assert "1 unchecked in 1 runs" in capsys.readouterr().err
    _, trusting = as_json(capsys, "score", *worked, "--validation", "solver")
    assert any("count as valid because the solver said so" in note for note in trusting["notes"])
    _, strict = as_json(capsys, "score", *worked, "--allow-unchecked")
    assert any("1 unchecked candidates were left out" in note for note in strict["notes"])
    assert trusting["arms"][1]["final_gap"] == pytest.approx(0.2)
    assert strict["arms"][1]["final_gap"] == pytest.approx(0.3)


def test_a_file_without_verdicts_says_who_vouches(worked, capsys):
    Path("traces.csv").write_text("arm,instance,seed,time,objective\na,worked,1,1,12\n")
    _, document = as_json(capsys, "score", *worked)
    assert document["validation"] == "solver"
    assert run(["score", *worked]) == 0
    assert "validated by solver" in capsys.readouterr().out


def test_unusable_cells_are_counted_and_shown(worked, capsys):
    Path("traces.csv").write_text(TRACES + 'run 2,worked,1,28,inf,true\nrun 2,worked,1,28,"1,5",true\n')
    _, document = as_json(capsys, "score", *worked)
    assert document["unreadable"]["count"] == 2
    assert document["unreadable"]["problems"][0].startswith("traces.csv:")
    assert document["arms"][1]["rejected"] == 2
    assert run(["score", *worked]) == 0
    assert "2 candidates could not be read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["score", "nothing.csv", "--references", "refs.csv"], 1, "nothing.csv: expected a trace file"),
        (["score", "traces.csv", "--horizon", "30"], 2, "expected a reference"),
        (["score", "traces.csv", "--references", "refs.csv"], 1, "expected a horizon for every run"),
        (["score", "traces.csv", "--references", "no.csv", "--horizon", "30"], 1, "no.csv"),
        (
            ["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--kernel", "squeezd"],
            2,
            "'squeezed'",
        ),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--weight", "early-log"], 2, "cutoff"),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "0"], 2, "positive finite seconds"),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--arm", "rnu 1"], 2, "'run 1'"),
        (["curve", "traces.csv", "--references", "refs.csv", "--horizon", "30", "-o", "x.bmp"], 2, ".svg"),
        (["scor"], 2, "Did you mean 'score'"),
        (["score", "traces.csv", "--kernl", "raw"], 2, "--kernel"),
        (["merge", "traces.csv", "traces.csv", "-o", "both"], 1, "3 in more than one source"),
    ],
)
def test_mistakes_get_one_message_and_an_exit_code(worked, capsys, arguments, code, words):
    assert worked
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err + captured.out


def test_missing_references_are_listed_all_at_once(worked, capsys):
    Path("traces.csv").write_text("arm,instance,seed,time,objective\na,x,1,1,12\na,y,1,1,12\na,worked,1,1,12\n")
    assert run(["score", *worked]) == 1
    assert "x (missing), y (missing)" in capsys.readouterr().err


def test_debug_shows_the_traceback(worked):
    assert worked
    with pytest.raises(gl.GaplineError):
        run(["score", "nothing.csv", "--debug"])


def test_curve_writes_numbers_and_drawings(worked, capsys):
    outputs = ["c.csv", "c.json", "c.svg", "c.png", "c.pdf"]
    assert run(["curve", *worked, "--bands", *(word for name in outputs for word in ("-o", name))]) == 0
    assert capsys.readouterr().out.count("wrote ") == 5
    table = pl.read_csv("c.csv")
    assert set(table["curve"]) == {"mean", "attainment", "mean band", "attainment band"}
    mean = table.filter((pl.col("curve") == "mean") & (pl.col("arm") == "run 2"))
    assert mean["time"].to_list() == [0, 5, 7, 11, 14, 19, 24, 27]
    document = json.loads(Path("c.json").read_text())
    assert document["mean"][1]["value"] == mean["value"].to_list()
    heads = {"c.svg": b"<svg", "c.png": b"\x89PNG", "c.pdf": b"%PDF"}
    assert all(Path(name).read_bytes().startswith(head) for name, head in heads.items())


def test_curve_plots_on_the_terminal(worked, capsys):
    assert run(["curve", *worked]) == 0
    out = capsys.readouterr().out
    assert "mean squeezed gap" in out
    assert "share of runs within 1 % of the reference" in out
    assert "━ run 1" in out


def test_export_and_merge_keep_the_content(worked, capsys):
    assert run(["merge", "traces.csv", "-o", "campaign"]) == 0
    for form in ("csv", "jsonl", "parquet"):
        assert run(["export", "campaign", "-o", f"again.{form}"]) == 0
        assert gl.read(f"again.{form}").digest() == gl.open("campaign").digest()
    capsys.readouterr()
    _, from_file = as_json(capsys, "score", *worked)
    _, from_campaign = as_json(capsys, "score", "campaign", *worked[1:])
    assert from_file["arms"] == from_campaign["arms"]


def test_hostile_names_are_shown_not_obeyed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "\x1b[31m[bold]=cmd()\u202e"
    campaign = gl.Campaign.from_runs([{"arm": name, "instance": "i", "seed": 1, "horizon": 9.0, "trace": [(1, 2.0)]}])
    campaign.save("campaign")
    Path("refs.csv").write_text("instance,value\ni,1\n")
    assert run(["score", "campaign", "--references", "refs.csv"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[31m" not in out
    assert "\\u001b[31m[bold]=cmd()\\u202e" in out
    assert run(["export", "campaign", "-o", "out.csv"]) == 0
    assert gl.read("out.csv").runs["arm"].to_list() == [name]


def test_every_command_has_help_with_an_example(capsys):
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        assert "Example: gapline " in " ".join(capsys.readouterr().out.split()), name


def test_doctor_and_version():
    gapline = Path(sys.executable).with_name("gapline")
    version = subprocess.run([gapline, "--version"], capture_output=True, text=True, check=True).stdout
    assert version == f"gapline {gl.__version__}\n"
    facts = json.loads(subprocess.run([gapline, "doctor", "--json"], capture_output=True, check=True).stdout)
    assert facts["gapline"] == gl.__version__
    assert facts["numba"] != "missing"
