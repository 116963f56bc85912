import pytest

from gapline.report.methods import NOT_DECLARED, methods_clauses, methods_latex, methods_markdown
from report.report_studies import by_hand, synthetic

CONTRACT = """
seeds = [1, 2]
[study]
name = "by hand"
[objective]
name = "50% of the cost_a"
checker = "cvrp"
[time]
horizon = 10
threads = 2
machine = "one core"
[[instances]]
path = "i.vrp"
[[arms]]
name = "a"
solver = "pyvrp"
"""
TOPICS = [
    "objective", "transform", "validation", "clock", "charged work", "horizon", "granularity", "threads", "machine",
    "reference", "kernel", "time weight", "failures", "aggregation", "goals", "uncertainty", "contrasts", "provenance",
]  # fmt: skip


def clauses(study):
    return {clause.topic: clause for clause in methods_clauses(study)}


def test_every_clause_is_there_with_and_without_a_contract():
    for study in (by_hand(), by_hand(contract=CONTRACT), synthetic()):
        assert [clause.topic for clause in methods_clauses(study)] == TOPICS


def test_what_nobody_said_is_marked_and_nothing_else():
    missing = {topic for topic, clause in clauses(by_hand()).items() if not clause.declared}
    assert missing == {
        "objective",
        "validation",
        "clock",
        "charged work",
        "granularity",
        "threads",
        "machine",
        "contrasts",
    }
    declared = clauses(by_hand(contract=CONTRACT))
    assert {topic for topic, clause in declared.items() if not clause.declared} == {"contrasts"}
    for study in (by_hand(), by_hand(contract=CONTRACT)):
        for clause in methods_clauses(study):
            assert (NOT_DECLARED in clause.text) == (not clause.declared)


def test_the_numbers_in_the_text_are_those_of_the_data():
    found = clauses(by_hand(contract=CONTRACT))
    assert "50% of the cost_a, minimised" in found["objective"].text
    assert "2 threads" in found["threads"].text
    assert "8 runs with 9 captured candidates, 1 candidates" in found["failures"].text
    assert "1 run without any valid candidate: such a run scores 1" in found["failures"].text
    assert "2 arms, 2 instances in 1 panel, 2 runs per arm and instance" in found["aggregation"].text
    assert by_hand().snapshots[0].snapshot.digest in found["reference"].text
    assert by_hand(contract=CONTRACT).campaign.digest() in found["provenance"].text


def test_a_policy_is_said_in_words_for_every_snapshot():
    text = clauses(synthetic())["reference"].text
    assert "declared to be frozen" in text
    assert "analysis-time reference" in text
    assert all(entry.snapshot.digest in text for entry in synthetic().snapshots)


@pytest.mark.parametrize(
    ("write", "expected"), [(methods_markdown, "50% of the cost\\_a"), (methods_latex, "50\\% of the cost\\_a")]
)
def test_both_forms_escape_the_contract(write, expected):
    assert expected in write(by_hand(contract=CONTRACT))
