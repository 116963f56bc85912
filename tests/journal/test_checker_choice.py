"""Whose verdicts count: the contract's checker, else the one asked for; among versions the one that judged most."""

import pytest

from gapline.errors import UsageError
from gapline.journal.checker_choice import choose_judge, find_judges, judge_notes
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import Journal
from gapline.journal.verdicts import Judge, StoredVerdict, write_verdicts

CVRP, MINE = Judge("cvrp", "1.0", "cvrp"), Judge("command:mine", "2", "command:./mine")


def write(attempt, checker, version, checked, *, judged=0, candidates=2, given=None):
    attempt.mkdir(parents=True, exist_ok=True)
    verdicts = [StoredVerdict(k, valid=True) for k in range(judged)]
    journal = Journal(attempt / EVENTS_FILE)
    return write_verdicts(
        journal, Judge(checker, version, given), checked=checked, candidates=candidates, verdicts=verdicts
    ).path


def labels(tmp_path):
    return [judge.label for judge in find_judges(sorted(tmp_path.iterdir()))]


def test_who_judged_most_cells_comes_first_then_who_judged_last(tmp_path):
    for cell in ("a", "b"):
        write(tmp_path / cell / "attempt-001", "mine", "1", "2026-08-01")
        write(tmp_path / cell / "attempt-001", "mine", "2", "2026-08-02")
    # Two attempts at one cell are one cell, and a copy is no attempt.
    for attempt in ("attempt-001", "attempt-002", "attempt-002.bak"):
        write(tmp_path / "a" / attempt, "late", "9", "2026-12-31")
    assert labels(tmp_path) == ["mine 2", "mine 1", "late 9"]
    # A file that was damaged still has its vote: the damage of one run must not decide for the others.
    write(tmp_path / "b" / "attempt-001", "mine", "2", "2026-08-02").write_bytes(b"\xff")
    assert labels(tmp_path) == ["mine 2", "mine 1", "late 9"]
    assert find_judges([]) == []


def test_who_judged_to_the_end_comes_before_who_failed_on_more(tmp_path):
    write(tmp_path / "a" / "attempt-001", "mine", "1", "2026-08-01", judged=2)
    for cell in ("a", "b", "c"):
        write(tmp_path / cell / "attempt-001", "mine", "2", "2026-12-31", judged=1)
    assert labels(tmp_path) == ["mine 1", "mine 2"]


def test_two_checkers_that_call_themselves_alike_are_two(tmp_path):
    for given in ("one", "two"):
        write(tmp_path / "a" / "attempt-001", "mine", "1", "2026-08-01", judged=2, given=given)
    judges = find_judges(sorted(tmp_path.iterdir()))
    assert judges == [Judge("mine", "1", "two"), Judge("mine", "1", "one")]
    assert choose_judge(judges, contract="one") == judges[1]


def test_the_contracts_checker_counts_unless_another_is_asked_for():
    judges = [MINE, CVRP]
    assert choose_judge(judges, contract="cvrp") == CVRP
    assert choose_judge(judges, contract="command:./mine") == MINE
    assert choose_judge(judges, contract=None) == MINE
    assert choose_judge(judges, contract="mip") is None
    for wanted in ("command:mine", "command:mine 2", "command:./mine"):
        assert choose_judge(judges, contract="cvrp", wanted=wanted) == MINE
    with pytest.raises(UsageError, match="got 'mip'") as caught:
        choose_judge(judges, contract="cvrp", wanted="mip")
    assert "there are: command:mine 2, cvrp 1.0" in caught.value.hint


@pytest.mark.parametrize(
    ("judge", "contract", "mine"),
    [
        (Judge("cvrp", "1"), "cvrp", True),
        (Judge("vrptw", "1"), "cvrp", False),
        (Judge("python:judge:check", "1"), "python:judge:check", True),
        (Judge("command:mine", "1"), "command:./mine --fast", True),
        (Judge("command:mine", "1", "command:./other"), "command:./mine --fast", False),
    ],
)
def test_verdicts_from_before_say_by_their_name_whose_they_are(judge, contract, mine):
    assert judge.is_of(contract) is mine


def test_what_is_left_out_is_said():
    assert judge_notes([CVRP], CVRP, contract="cvrp") == []
    assert judge_notes([CVRP, MINE], CVRP, contract="cvrp") == [
        "verdicts of cvrp 1.0; those of command:mine 2 are left out"
    ]
    (note,) = judge_notes([MINE], None, contract="cvrp")
    assert note.startswith("verdicts of command:mine 2 are left out: the contract's checker is cvrp")
