"""A study directory is read as its contract declares, and an option given rules over the contract."""

import json
from pathlib import Path

import pytest

import gapline as gl
from cli.worked_traces import TRACES, as_json
from gapline.cli.app import run

CONTRACT = """seeds = [1]
[study]
name = "tiny"
[objective]
name = "cost"
validation = "checker"
checker = "cvrp"
transform = "shift:5"
[time]
horizon = 10
[reference]
policy = "{policy}"
snapshot = "references/frozen.json"
[score]
kernel = ["maxform", "dimacs:1.1"]
weight = "early-log:0.5"
goals = [0.25]
[aggregate]
weighting = "run"
[[instances]]
path = "instances/i.vrp"
[[arms]]
name = "a"
solver = "command"
command = ["true"]
"""


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "tiny"
    (folder / "references").mkdir(parents=True)
    (folder / "study.toml").write_text(CONTRACT.format(policy="frozen"))
    gl.Snapshot.from_values({"i": 5.0}, name="frozen", as_of="2026-01-01").save(folder / "references/frozen.json")
    trace = [(1.0, 15.0, True), (4.0, 7.0, True), (5.0, 6.0, None)]
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "started": "2026-02-01T08:00:00Z", "trace": trace}
    gl.Campaign.from_runs([run]).save(folder / "campaign")
    return folder


def scored(capsys, *arguments):
    code = run(["score", *map(str, arguments), "--json"])
    out = capsys.readouterr()
    assert code == 0, out.err
    return json.loads(out.out)


def test_the_contract_gives_the_choices(study, capsys):
    document = scored(capsys, study, "--allow-unchecked")
    assert document["kernels"] == ["maxform", "dimacs:1.1"]
    assert (document["weight"], document["weighting"], document["transform"]) == ("early-log:0.5", "run", "shift:5")
    # The journal has no register, so that it is frozen on the word of its date alone.
    assert document["reference"]["policy"] == "given"
    assert document["arms"][0]["attainment"] == {"0.25": 1.0}
    # z + 5 against 5 + 5: the gap ends at (12 - 10) / 10 on the raw scale.
    assert document["arms"][0]["final_gap"] == pytest.approx(0.2)


def test_an_option_rules_over_the_contract(study, capsys):
    document = scored(
        capsys, study, "--allow-unchecked", "--kernel", "squeezed", "--weight", "uniform", "--goal", "0.1"
    )
    assert document["kernels"] == ["squeezed"]
    assert document["weight"] == "uniform"
    assert document["arms"][0]["attainment"] == {"0.1": 0.0}


def test_a_contract_that_says_frozen_and_is_not_is_refused(study, capsys):
    later = gl.Snapshot.from_values({"i": 5.0}, name="later", as_of="2026-03-01")
    Path(study / "references/frozen.json").unlink()
    later.save(study / "references/frozen.json")
    assert run(["score", str(study), "--allow-unchecked"]) == 1
    assert "known before the first run" in capsys.readouterr().err
    (study / "study.toml").write_text(CONTRACT.format(policy="analysis"))
    assert scored(capsys, study, "--allow-unchecked")["reference"]["policy"] == "analysis"


def test_unchecked_candidates_of_a_study_are_refused_as_everywhere(study, capsys):
    assert run(["score", str(study)]) == 1
    assert "gapline check" in capsys.readouterr().err


def test_coarse_stamps_are_said_with_the_score(tmp_path, capsys):
    trace = [(2.0, 30.0, True), (4.0, 10.0, True)]
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10.0, "resolution": 1.0, "trace": trace}
    gl.Campaign.from_runs([run]).save(tmp_path / "campaign")
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    document = scored(capsys, tmp_path / "campaign", "--references", tmp_path / "refs.csv")
    assert any("may be off by at most 0.1, their mean by 0.1" in note for note in document["notes"])


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


@pytest.mark.parametrize("command", ["score", "curve", "analyse"])
def test_references_may_be_any_store(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("traces.csv").write_text(TRACES)
    Path("lib.solu").write_text("=best= worked 10\n=inf= other\n")
    for given in ("lib.solu", "solu:lib.solu"):
        code, found = as_json(capsys, command, "traces.csv", "--references", given, "--horizon", "30")
        assert code == 0
        assert "lib: the date of these values is not stated" in found["notes"]
        assert any("instances without a primal value: 1 (other)" in note for note in found["notes"])
