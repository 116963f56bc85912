"""`gapline plan` as a user meets it."""

import gapline as gl
from cli.two_arms import write_study
from cli.worked_traces import as_json
from gapline.cli.app import run


def test_plan_says_what_a_campaign_would_need(two_arms, capsys):
    asked = ["plan", "traces.csv", *two_arms, "--detect", "0.005", "--power", "0.9", "--seeds", "1", "--seeds", "5"]
    code, document = as_json(capsys, *asked)
    assert code == 0
    assert [(row["a"], row["b"], row["delta"], row["seeds"]) for row in document["plan"]] == [
        ("mine", "theirs", 0.005, 1), ("mine", "theirs", 0.005, 5),
    ]  # fmt: skip
    for row in document["plan"]:
        assert row["instances"] >= 4
        assert row["runs"] == 2 * row["seeds"] * row["instances"]
        assert abs(row["hours"] - row["runs"] * 20 / 3600) < 1e-9
    # The same numbers as from Python, and as `analyse` states for these differences.
    study = gl.open_study("traces.csv", references="refs.csv")
    table = gl.power_table(study.scores[0], pairs=[("mine", "theirs")], deltas=[0.005], seeds=[1, 5], power=0.9)
    assert table.frame.to_dicts() == document["plan"]
    assert (document["power"], document["level"]) == (0.9, 0.95)
    assert document["reading"]["kernels"] == ["squeezed"]
    _, analysed = as_json(capsys, "analyse", "traces.csv", *two_arms)
    _, planned = as_json(capsys, "plan", "traces.csv", *two_arms, "--detect", "0.005", "--seeds", "5")
    assert planned["plan"][0] in analysed["power"]


def test_plan_prints_a_table_and_the_sentences(two_arms, capsys):
    assert run(["plan", "traces.csv", *two_arms, "--detect", "0.001"]) == 0
    out = capsys.readouterr().out
    assert "Instances that show a difference in 80% of campaigns" in out
    assert "mine - theirs: with what you have (8 instances, 2 seeds)" in out
    assert "doubling the seeds shortens the interval by" in out
    assert "95% between" in out
    assert "hours" in out


def test_a_pilot_with_one_instance_in_a_panel_says_why_nothing_can_be_said(two_arms, capsys):
    assert run(["plan", "traces.csv", *two_arms, "--instance", "small-*", "--instance", "large-4"]) == 0
    out = capsys.readouterr().out
    assert "nothing can be said: large has one instance: the spread of such a panel cannot be seen" in out


def test_plan_asks_about_declared_contrasts_or_the_pairs_that_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "study")
    code, document = as_json(capsys, "plan", "study", "--detect", "0.01")
    assert (code, {(row["a"], row["b"]) for row in document["plan"]}) == (0, {("mine", "theirs")})
    assert as_json(capsys, "plan", "study", "--pair", "theirs", "mine")[1]["pilot"][0]["a"] == "theirs"
    assert run(["plan", "study", "--pair", "mine", "coarse"]) == 2
    assert "got 'coarse' of tier 2, which is descriptive" in capsys.readouterr().err
    assert run(["plan", "study", "--pair", "mine", "their"]) == 2
    assert "did you mean 'theirs'?" in capsys.readouterr().err
    assert run(["plan", "study", "--arm", "mine"]) == 2
    assert "expected two arms of tier 1, got mine" in capsys.readouterr().err


def test_plan_says_why_there_is_no_pair_to_ask_about(tmp_path, capsys):
    trace = tmp_path / "t.csv"
    trace.write_text("arm,instance,seed,time,objective,horizon\na,i,1,,,9\nb,i,1,,,9\n")
    (tmp_path / "refs.csv").write_text("instance,value\ni,1\n")
    assert run(["plan", str(trace), "--references", str(tmp_path / "refs.csv")]) == 2
    assert "expected two ranked arms, got a, b: no run found a solution" in capsys.readouterr().err


def test_plan_refuses_what_is_no_difference_and_no_share(two_arms, capsys):
    for wrong in (["--detect", "0"], ["--detect", "-1"], ["--power", "1"], ["--power", "nan"], ["--seeds", "0"]):
        assert run(["plan", "traces.csv", *two_arms, *wrong]) == 2
        assert wrong[0].strip("-") in capsys.readouterr().err
