"""`gapline score` as a user meets it: what it prints, and what it counts."""

from pathlib import Path

import pytest

import gapline as gl
from cli.worked_traces import TRACES, as_json
from gapline.cli.app import run
from gapline.native.compilation import VARIABLE
from gapline.scoring.kernels import PAPER_KERNELS


def test_score_json_has_the_published_shape(worked, capsys):
    code, document = as_json(capsys, "score", *worked, "--kernel", "squeezed", "--kernel", "dimacs:1.1", "--per-run")
    assert code == 0
    assert document["reference"]["policy"] == "given"
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


@pytest.mark.parametrize("weight", ["uniform", "early-log:0.5", "end-log:0.5", "steps:0=3,5=1"])
def test_a_small_campaign_is_scored_to_the_last_bit_as_a_large_one(worked, capsys, monkeypatch, weight):
    """Without compiled code, and with it."""
    said = []
    for way in ("never", "always"):
        monkeypatch.setenv(VARIABLE, way)
        kernels = [word for name in (*PAPER_KERNELS, "raw") for word in ("--kernel", name)]
        assert run(["score", *worked, *kernels, "--weight", weight, "--goal", "0.1", "--per-run", "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert '"squeezed": 0.' in said[0]
    assert said[0] == said[1]


def test_a_raw_score_that_does_not_exist_is_null(worked, capsys):
    _, document = as_json(capsys, "score", *worked, "--kernel", "raw", "--per-run")
    values = [run["scores"]["raw"] for run in document["runs"]]
    assert values[:2] == [None, None]
    assert values[2] == pytest.approx(-0.16, abs=1e-15)


def test_the_table_names_reference_weight_and_horizon(worked, capsys):
    assert run(["score", *worked]) == 0
    out = capsys.readouterr().out
    assert "against refs (given, sha256:" in out
    assert "weight uniform; panel-equal; horizon 30 s (given); valid as the source declares; 3 runs" in " ".join(
        out.split()
    )
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
    assert "2 problems while reading: " in capsys.readouterr().out


def test_missing_references_are_listed_all_at_once(worked, capsys):
    Path("traces.csv").write_text("arm,instance,seed,time,objective\na,x,1,1,12\na,y,1,1,12\na,worked,1,1,12\n")
    assert run(["score", *worked]) == 1
    assert "x (missing), y (missing)" in capsys.readouterr().err


def test_a_table_with_other_names_and_decimal_commas_is_scored_as_it_is(tmp_path, capsys):
    table = tmp_path / "mine.csv"
    table.write_text("Solver;Problem;Elapsed;Cost\nx;i;2,5;20\nx;i;5;10,0\n")
    refs = tmp_path / "refs.csv"
    refs.write_text("instance,value\ni,10\n")
    options = ["--references", str(refs), "--horizon", "10"]
    assert run(["score", str(table), *options]) == 1
    hint = capsys.readouterr().err
    assert f"gapline score {table} --columns arm=Solver,instance=Problem,time=Elapsed,objective=Cost" in hint.replace(
        "\n", ""
    )
    columns = ["--columns", "arm=Solver,instance=Problem,time=Elapsed,objective=Cost", "--decimal", ","]
    code, document = as_json(capsys, "score", str(table), *options, *columns)
    # Squeezed: 1 until 2.5, then 1/3 (20 against 10), 0 from 5 on.
    assert code == 0
    assert document["arms"][0]["scores"]["squeezed"] == pytest.approx((2.5 + 2.5 / 3) / 10)
    study = gl.open_study(table, references=refs, horizon=10, columns=columns[1], decimal=",")
    assert study.summary.frame["squeezed"].to_list() == [document["arms"][0]["scores"]["squeezed"]]


def test_a_filtered_score_does_not_repeat_the_notes_of_runs_that_it_left_out(tmp_path, capsys):
    logs = tmp_path / "logs"
    logs.mkdir()
    head = "arm,instance,seed,time,objective,valid,horizon\n"
    (logs / "a.csv").write_text(head + "a,i,1,1,12,true,10\n")
    (logs / "b.csv").write_text("arm,instance,time,objective,horizon\nb,i,1,13,10\n")
    assert run(["import", str(logs), "-o", str(tmp_path / "c")]) == 0
    told = capsys.readouterr().out
    assert "no `seed` column: one run per arm and instance, seed 0 (1 of 2 runs)" in told
    gl.Snapshot.from_values({"i": 10.0}, name="r").save(tmp_path / "r.json")
    for arm, says in (("b", True), ("a", False)):
        _, document = as_json(
            capsys, "score", str(tmp_path / "c"), "--snapshot", str(tmp_path / "r.json"), "--arm", arm
        )
        assert any("seed" in note for note in document["notes"]) is says
        assert any("the solver said so" in note for note in document["notes"]) is says
