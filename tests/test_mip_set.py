"""A MIP set as people have it, from the logs of two solvers to the page: both senses and every sign of the optimum."""

import json
import re
import subprocess
import sys

import pytest

import gapline as gl
from gapline.cli.app import run as main

# Knapsacks whose optimum is moved by a constant: the sign of the optimum is free, the search is the same.
MODEL = """
import random, sys
sense, shift, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
random.seed(7)
size, rows = 30, 4
gain = [random.randint(10, 99) for _ in range(size)]
load = [[random.randint(5, 90) for _ in range(size)] for _ in range(rows)]
sign = 1 if sense == "max" else -1
"""
HIGHS = """
import highspy
solver = highspy.Highs()
solver.setOptionValue("log_to_console", False)
solver.setOptionValue("log_file", path)
solver.setOptionValue("time_limit", 20.0)
take = [solver.addBinary(obj=sign * g) for g in gain]
for weight in load:
    solver.addConstr(sum(w * x for w, x in zip(weight, take)) <= sum(weight) // 3)
solver.changeObjectiveOffset(shift)
if sense == "max":
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
solver.run()
print(solver.getObjectiveValue())
"""
SCIP = """
import pyscipopt
solver = pyscipopt.Model("knapsack")
solver.hideOutput(True)
solver.setLogfile(path)
solver.hideOutput(False)
solver.setParam("limits/time", 20.0)
take = [solver.addVar(vtype="B", obj=sign * g) for g in gain]
if sense == "max":
    solver.setMaximize()
for weight in load:
    solver.addCons(pyscipopt.quicksum(w * x for w, x in zip(weight, take)) <= sum(weight) // 3)
solver.addObjoffset(shift)
solver.optimize()
print(solver.getObjVal())
"""
# The knapsack alone is worth 791: each instance says its sense and the constant that is added.
INSTANCES = {"plus": ("min", 900), "minus": ("min", 0), "zero": ("min", 791), "top": ("max", 9), "below": ("max", -900)}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Let HiGHS and SCIP solve the set; return the folder of the logs and the optimum of each instance."""
    folder, optima = tmp_path_factory.mktemp("set"), {}
    for arm, code in (("highs", HIGHS), ("scip", SCIP)):
        (folder / arm).mkdir()
        for name, (sense, shift) in INSTANCES.items():
            # In a process of its own: the libraries of two solvers do not load side by side.
            command = [sys.executable, "-c", MODEL + code, sense, str(shift), str(folder / arm / f"{name}.log")]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = round(float(done.stdout.split()[-1]), 6) + 0.0
            assert optima.setdefault(name, found) == found
    return folder, optima


@pytest.mark.slow
def test_the_set_has_every_sign_in_both_senses(logs):
    _, optima = logs
    signs = {name: (sense, (optima[name] > 0) - (optima[name] < 0)) for name, (sense, _) in INSTANCES.items()}
    assert signs == {
        "plus": ("min", 1), "minus": ("min", -1), "zero": ("min", 0), "top": ("max", 1), "below": ("max", -1)
    }  # fmt: skip


@pytest.mark.slow
def test_from_logs_to_the_page_with_what_was_left_out_counted(logs, tmp_path, capsys):
    folder, optima = logs
    campaign, references = tmp_path / "campaign", tmp_path / "set.csv"
    references.write_text("instance,value\n" + "".join(f"{name},{value}\n" for name, value in optima.items()))
    code = main(["import", str(folder), "--name", "{arm}/{instance}.log", "--horizon", "20", "-o", str(campaign)])
    assert code == 0
    runs = gl.open(campaign).runs
    assert dict(runs.select("instance", "sense").iter_rows()) == {name: sense for name, (sense, _) in INSTANCES.items()}

    known = ["--references", str(references), "--validation", "solver"]
    assert main(["score", str(campaign), *known]) == 1
    assert "--leave-out-unscorable" in capsys.readouterr().err

    assert main(["score", str(campaign), *known, "--leave-out-unscorable", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert [row["instance"] for row in scored["left_out"]] == ["below", "minus", "zero"]
    assert scored["coverage"]["unscorable"] == 6
    assert sum(arm["runs"] for arm in scored["arms"]) == 4

    assert main(["score", str(campaign), *known, "--kernel", "berthold", "--json", "--per-run"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["left_out"] == []
    assert sum(arm["runs"] for arm in whole["arms"]) == 10
    assert all(0 <= run["scores"]["berthold"] <= 1 for run in whole["runs"])
    # Both solve every instance within the horizon, whatever its sign.
    assert {arm["attainment"]["0.01"] for arm in whole["arms"]} == {1.0}

    report = ["report", str(campaign), *known, "-o", str(tmp_path / "results"), "--format", "svg", "--draws", "100"]
    assert main([*report, "--kernel", "berthold"]) == 0
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert results["reading"]["coverage"]["runs"] == 10
    assert main([*report, "--leave-out-unscorable"]) == 0
    page = (tmp_path / "results" / "report.html").read_text()
    assert "3 instances cannot be scored and are left out" in page


def import_set(folder, target):
    code = main(["import", str(folder), "--name", "{arm}/{instance}.log", "--horizon", "20", "-o", str(target)])
    assert code == 0
    return str(target)


@pytest.fixture
def contradicted(logs, tmp_path):
    """The same logs, in which SCIP's final bound says that the optimum is 5 worse than it is, in both senses."""
    folder, optima = logs
    for name, (sense, _) in INSTANCES.items():
        for arm in ("highs", "scip"):
            text = (folder / arm / f"{name}.log").read_text(encoding="utf-8")
            if arm == "scip":
                bound = optima[name] + (-5 if sense == "max" else 5)
                text, changed = re.subn(r"(?m)^(Dual Bound +: ).*$", rf"\g<1>{bound:+.14e}", text)
                assert changed == 1
            (tmp_path / "logs" / arm).mkdir(parents=True, exist_ok=True)
            (tmp_path / "logs" / arm / f"{name}.log").write_text(text, encoding="utf-8")
    return import_set(tmp_path / "logs", tmp_path / "campaign"), optima


@pytest.mark.slow
def test_two_solvers_that_agree_ring_no_alarm(logs, tmp_path):
    campaign = import_set(logs[0], tmp_path / "campaign")
    study = gl.open_study(campaign, policy="analysis", kernels=["berthold"])
    assert study.alarms == ()
    assert set(study.campaign.runs["claim"]) == {"optimal"}
    assert study.campaign.bound is not None


@pytest.mark.slow
def test_a_bound_that_the_other_solver_beats_rings_in_every_command(contradicted, tmp_path, capsys):
    campaign, optima = contradicted
    capsys.readouterr()
    choices = ["--policy", "analysis", "--kernel", "berthold"]
    assert main(["score", campaign, *choices, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["alarms"]
    # The run whose bound is wrong also passes it itself wherever it found the optimum.
    alarms = [alarm for alarm in found if alarm["kind"] != "a run has a better solution than its own dual bound allows"]
    assert [(alarm["instance"], alarm["kind"]) for alarm in alarms] == [
        (name, "a run has a better solution than the dual bound of another allows") for name in sorted(INSTANCES)
    ]
    for alarm in alarms:
        wrong = optima[alarm["instance"]] + (-5 if INSTANCES[alarm["instance"]][0] == "max" else 5)
        assert alarm["certificate"]["value"] == pytest.approx(wrong)
        assert alarm["other"]["value"] == pytest.approx(optima[alarm["instance"]], abs=1e-6)
        assert f"run scip/{alarm['instance']}/0" in alarm["certificate"]["source"]
        assert f"run highs/{alarm['instance']}/0" in alarm["other"]["source"]
        assert "valid by solver" in alarm["other"]["source"]
    kind = "a run has a better solution than the dual bound of another allows"
    words = f"ALARM plus: {kind}: bound 114.0 (run scip/plus/0"
    for command in (
        ["score", campaign, *choices],
        ["curve", campaign, *choices],
        ["analyse", campaign, *choices, "--draws", "20"],
        ["report", campaign, *choices, "--draws", "20", "-o", str(tmp_path / "out"), "--format", "svg"],
        ["compare", f"{campaign}:highs", f"{campaign}:scip", *choices, "--draws", "20"],
    ):
        assert main(command) == 1, command
        # The summary of an analysis has room for the first alarms.
        assert words.replace("plus", "below").replace("114", "-114") in (out := capsys.readouterr().out), command
        assert words in out or command[0] == "analyse", command
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {alarm["instance"] for alarm in results["alarms"]} == set(INSTANCES)
    assert "than the dual bound of another allows" in (tmp_path / "out" / "report.html").read_text()


def test_a_program_that_one_solver_calls_infeasible_and_the_other_solves(logs, tmp_path):
    folder, _ = logs
    for arm in ("highs", "scip"):
        (tmp_path / "logs" / arm).mkdir(parents=True)
    (tmp_path / "logs" / "highs" / "plus.log").write_bytes((folder / "highs" / "plus.log").read_bytes())
    # The same model with a row that nothing fulfils, as a wrong reader of the file would solve it.
    code = MODEL + SCIP.replace("solver.optimize()", "solver.addCons(take[0] + take[1] >= 3)\nsolver.optimize()")
    code = code.replace("print(solver.getObjVal())", "")
    command = [sys.executable, "-c", code, "min", "900", str(tmp_path / "logs" / "scip" / "plus.log")]
    subprocess.run(command, capture_output=True, text=True, check=True)
    campaign = import_set(tmp_path / "logs", tmp_path / "campaign")
    (alarm,) = gl.open_study(campaign, policy="analysis").alarms
    assert str(alarm).startswith(
        "plus: a run has a solution of what another calls infeasible: infeasible (run scip/plus/0), got 109.0 (run "
    )
