"""What is said of a judged comparison: the sentences of the terminal, and the test cases made of them."""

import pytest

import gapline as gl
from cli.two_arms import write_traces
from gapline.errors import TraceError
from gapline.report.statements.comparison import (
    gate_name,
    judged_cases,
    judged_lines,
    outcome,
    refused_cases,
    to_pull_request,
)
from gapline.study.comparison import judge_pair


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_traces(tmp_path / "old.csv", arms=("mine",))
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    names = gl.read("old.csv").runs["instance"].unique().to_list()

    def judge(new="new.csv", value=100.0, **asked):
        snapshot = gl.Snapshot.from_values(dict.fromkeys(names, value), name="known", certified=names)
        return judge_pair("old.csv", new, snapshots=[snapshot], **asked)

    return judge


def test_a_failed_gate_is_told_in_order(judge):
    judged = judge(fail_if_worse=0.002, suggest=True)
    lines = judged_lines(judged)
    heads = [line.split(" ")[0] for line in lines]
    assert heads == ["note:", "new.csv:mine:", "gate:", "gate:", "suggestion:", "these", "failed:"]
    assert lines[5].startswith(f"these runs show a true difference of {judged.detectable:.2g} in 80% of comparisons")
    assert outcome(judged) == lines[-1] == "failed: worse by more than 0.002"
    assert gate_name(judged) == "--fail-if-worse 0.002"


def test_a_passed_gate_and_none_are_told_apart(judge):
    assert outcome(judge(fail_unless_non_inferior=0.5)) == "passed: --fail-unless-non-inferior 0.5"
    assert outcome(judge()) == "worse"
    assert gate_name(judge()) is None


def test_cases_fail_exactly_where_the_command_does(judge):
    for asked in ({}, {"fail_if_worse": 0.002}, {"fail_if_worse": 0.9}, {"value": 130.0}):
        judged = judge(**asked)
        cases = judged_cases(judged)
        assert any(case.failure is not None for case in cases) == judged.failed
        assert not any(case.error for case in cases)
    gate, alarms = judged_cases(judge(fail_if_worse=0.002))
    assert gate.name == "--fail-if-worse 0.002: new.csv:mine against old.csv:mine"
    assert gate.failure.endswith("against old.csv:mine; worse by more than 0.002")
    assert alarms.failure is None
    assert judged_cases(judge(value=130.0))[1].failure.count("\n") + 1 == len(judge(value=130.0).comparison.alarms)


def test_missing_runs_are_in_the_sentences(judge, tmp_path):
    rows = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(row for row in rows if ",small-0,1," not in row) + "\n")
    lines = judged_lines(judge("part.csv", fail_if_worse=0.9))
    assert "note: 1 runs are missing on one side" in lines
    assert lines[-1] == "failed: 1 runs are missing: part.csv:mine small-0/1 (not there)"


def test_a_refused_comparison_is_an_error():
    (case,) = refused_cases("old", "new", TraceError("new: expected a file, got none", hint="look"))
    assert (case.failure, case.error) == (None, "new: expected a file, got none\nHint: look")


def same(arm, shift=0.0, *, solved=True):
    """Two runs on each of four instances; a shift is the same on every one."""
    return [
        {"arm": arm, "instance": f"i{k}", "seed": seed, "horizon": 10,
         "trace": [(1.0 + k + shift, 120.0)] if solved else []}
        for k in range(4) for seed in (1, 2)
    ]  # fmt: skip


GATES = {"fail_if_worse": 0.001, "fail_unless_non_inferior": 0.001, "fail_unless_superior": 0.001}
TIED = "identical in all 4 cells; no interval, no error rate"
LOSS = "a difference of +0.045455 without spread over all 4 cells; no interval, no error rate"


@pytest.mark.parametrize(
    ("old", "new", "outcomes", "said"),
    [
        (same("a", solved=False), same("a", solved=False), ["failed: no run found a solution"] * 3,
         "no difference shown (no run found a solution)"),
        (same("a"), same("a"), ["passed: --fail-if-worse 0.001", "passed: --fail-unless-non-inferior 0.001",
                                f"failed: not shown to be better: {TIED}"], f"no difference shown ({TIED})"),
        (same("a"), same("a", 0.5), ["failed: worse by more than 0.001", *[f"failed: undecidable: {LOSS}"] * 2],
         f"no difference shown ({LOSS}, p = 0.125)"),
    ],
    ids=["all empty", "all tied", "the same loss everywhere"],
)  # fmt: skip
def test_gates_without_spread_say_the_same_in_every_form(tmp_path, monkeypatch, old, new, outcomes, said):
    monkeypatch.chdir(tmp_path)
    snapshot = gl.Snapshot.from_values({f"i{k}": 100.0 for k in range(4)}, name="known")
    for name, runs in (("old", old), ("new", new)):
        gl.Campaign.from_runs(runs).save(name)
    for (question, limit), expected in zip(GATES.items(), outcomes, strict=True):
        judged = judge_pair("old", "new", snapshots=[snapshot], **{question: limit})
        gate, _ = judged_cases(judged)
        text, lines = to_pull_request(judged), "\n".join(judged_lines(judged))
        assert outcome(judged) == expected
        assert judged.failed == (gate.failure is not None) == expected.startswith("failed")
        assert text.startswith(f"### {expected[:1].upper()}{expected[1:]}")
        assert said in lines
        assert "80%" not in lines + text
        assert " interval +" not in lines + text
        assert "| interval | none: " in text
