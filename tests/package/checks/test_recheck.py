"""The checker asked again; a verdict that was forged with everything is in `tests/package/test_verify.py`."""

import pytest

from gapline.contract.layout import PackageDocument, PackedInstance
from gapline.journal.verdicts import Judge
from gapline.package.checks.recheck import check_candidates
from gapline.package.checks.rows import CheckOutcome
from gapline.package.checks.subject import Subject
from package import forging
from package.checks.found import look_at

JUDGE = Judge("cvrp", "dimacs-1", "cvrp")


def look(folder, *, package=None, recheck=True, **choices):
    told = []
    subject = Subject(folder, "x", recheck=recheck, say=told.append, **choices)
    subject.package, subject.index.judge = package, JUDGE
    return look_at(check_candidates, subject), told


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [None, 2])
def test_it_says_first_what_it_runs_and_each_verdict_is_the_same_again(copied, jobs):
    findings, told = look(copied, jobs=jobs)
    assert findings.differences == ()
    (row,) = findings.rows
    assert (row.outcome, row.how) == (CheckOutcome.SHOWN, "cvrp dimacs-1 asked again")
    assert row.number >= 8
    assert told[:2] == [
        "--recheck runs the checker cvrp on the candidates of 8 runs",
        "it is cvrp dimacs-1; the verdicts are of cvrp dimacs-1",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"objective": 1.0}, {"valid": False, "objective": None, "reason": "no"}])
def test_a_verdict_that_the_checker_does_not_give_is_named_by_its_line(copied, change):
    file = next(forging.attempt_of(copied).glob("verdicts-*.jsonl"))
    forging.reseal(file, lambda body: body.update(change), which=lambda body: body.get("valid"))
    findings, _ = look(copied)
    (one,) = findings.differences
    assert (one.member, one.line) == (str(file.relative_to(copied)), 2)
    got = "valid at 1.0" if "valid" not in change else "invalid (no)"
    assert one.said.endswith(f", got {got}")


@pytest.mark.slow
def test_an_instance_that_is_not_there_is_said_to_be_the_reason(copied):
    (copied / "instances" / "small-n30-1.vrp").unlink()
    findings, _ = look(copied)
    assert "expected the instance that was solved" in findings.rows[1].why
    absent = PackageDocument("s", "c", instances={"small-n30-1": PackedInstance("p", "d", included=False)})
    findings, _ = look(copied, package=absent)
    assert [row.outcome for row in findings.rows] == [CheckOutcome.SHOWN, CheckOutcome.NOT_SHOWN]
    assert findings.rows[1].why == "1 instance not included"


@pytest.mark.parametrize("checker", ["command:no-such-checker", "python:no_such_module:check"])
def test_a_checker_that_cannot_run_here_leaves_the_row(copied, checker):
    path = copied / "study.toml"
    path.write_text(path.read_text().replace('checker = "cvrp"', f'checker = "{checker}"'))
    (row,) = look(copied)[0].rows
    assert row.outcome is CheckOutcome.NOT_SHOWN
    assert row.why.startswith("the checker cannot run here: ")


def test_who_takes_the_word_of_the_solver_has_nobody_to_ask(copied):
    path = copied / "study.toml"
    path.write_text(path.read_text().replace('checker = "cvrp"', 'validation = "solver"'))
    findings, told = look(copied)
    assert (findings.rows[0].outcome, told) == (CheckOutcome.NOT_SHOWN, [])
    findings, _ = look(copied, recheck=False)
    assert findings.rows[0].why == "the solver's word only: no checker looked at them"
