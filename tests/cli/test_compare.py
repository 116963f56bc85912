"""`gapline compare` as a user meets it."""

from cli.two_arms import write_study, write_traces
from cli.worked_traces import as_json
from gapline.cli.app import run


def test_compare_two_arms_of_one_source(two_arms, capsys):
    code, document = as_json(capsys, "compare", "traces.csv:mine", "traces.csv:theirs", *two_arms)
    assert (code, document["verdict"]) == (0, "worse")
    assert [row["panel"] for row in document["panels"]] == ["large", "small"]
    code, document = as_json(capsys, "compare", "traces.csv:theirs", "traces.csv:mine", *two_arms)
    assert (code, document["verdict"]) == (0, "better")


def test_compare_fails_only_when_worse_beyond_the_limit(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    pair = ["compare", "traces.csv:mine", "new.csv", *two_arms]
    assert run([*pair, "--fail-if-worse", "0.002"]) == 1
    out = capsys.readouterr().out
    assert "new.csv:mine: worse" in out
    assert "failed: worse by more than 0.002" in out
    assert run([*pair, "--fail-if-worse", "0.5"]) == 0
    assert run(["compare", "new.csv", "traces.csv:mine", *two_arms, "--fail-if-worse", "0.002"]) == 0


def test_compare_refuses_other_horizons_and_names_them(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", horizon=30, arms=("mine",))
    assert run(["compare", "traces.csv:mine", "new.csv", *two_arms]) == 1
    assert "horizons differ on 8 instances" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mine", "new.csv", *two_arms, "--horizon", "20"]) == 0
    assert "told different horizons" in capsys.readouterr().out


def test_compare_asks_for_the_arm_where_there_are_several(two_arms, capsys):
    assert run(["compare", "traces.csv", "traces.csv:mine", *two_arms]) == 2
    assert "expected one arm, got mine, theirs" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mime", "traces.csv:mine", *two_arms]) == 2
    assert "did you mean 'mine'?" in capsys.readouterr().err


def test_contracts_that_ask_different_questions_are_not_compared_silently(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "old")
    write_study(tmp_path / "new", kernel="squeezed")
    assert run(["compare", "old:mine", "new:mine"]) == 1
    assert "contracts differ in kernel: old declares maxform, new declares squeezed" in capsys.readouterr().err
    code, document = as_json(capsys, "compare", "old:mine", "new:mine", "--kernel", "squeezed")
    assert (code, document["kernel"], document["draws"]) == (0, "squeezed", 77)
    assert document["difference"] == 0.0
