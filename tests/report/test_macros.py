from gapline.report.facts import make_statements
from gapline.report.macros import study_macros
from gapline.study.analyse import analyse
from report.report_studies import by_columns, by_hand, synthetic, synthetic_analyses, synthetic_said


def macros_of(study, analysis=None, said=None):
    said = said or make_statements(study)
    found = study_macros(analysis or analyse(study), said)
    return {(macro.owner, macro.statistic): macro.value for macro in found}


def test_macros_by_hand():
    """Means of a: (1/6 + 1/2 + 0 + 1/2) / 4 = 0.29167; b ends at 20 % on i and at -5 and 0 % on j: (20 - 2.5) / 2."""
    found = macros_of(by_hand())
    assert found["a", "score"] == found["a", "squeezed score"] == "0.29167"
    assert (found["a", "rank"], found["b", "rank"]) == ("1", "2")
    assert (found["b", "runs"], found["b", "empty"], found["b", "final gap"]) == ("4", "1", "8.75 %")
    assert (found["study", "runs"], found["study", "rejected"]) == ("8", "1")
    assert found["study", "headline"] == make_statements(by_hand()).headline.text
    assert found["study", "headline detail"] == make_statements(by_hand()).headline.detail


def test_a_descriptive_arm_has_no_rank_and_is_in_no_contrast():
    found = macros_of(synthetic(), synthetic_analyses(), synthetic_said())
    assert (found["sliced", "tier"], found["sliced", "rank"]) == ("2", "–")
    assert not any("sliced" in owner for owner, statistic in found if statistic == "difference")
    assert ("early against late", "difference") in found


def test_what_nobody_knows_has_no_macro():
    known = macros_of(by_columns(status=["crashed", "finished"], solver=["s", "s"]))
    assert (known["a", "crashed"], known["b", "crashed"], known["a", "solver"]) == ("1", "0", "s")
    unknown = macros_of(by_hand())
    assert not {("a", "crashed"), ("a", "solver"), ("study", "checker")} & set(unknown)


def test_saturated_runs_signs_and_ratios_have_macros_by_kernel_and_reference():
    """Of a 20 falls to 10, 30 and 60 stay above 11 and 22, 20 is at 20; of b 12 and an empty run stay above 11."""
    found = macros_of(by_hand())
    assert found["study", "campaign runs"] == "8"
    assert (found["a", "saturated dimacs:1.1 given"], found["b", "saturated dimacs:1.1 given"]) == ("2", "2")
    assert found["study", "saturated dimacs:1.1 given"] == "4"
    # 19 against 20 all the time; the fold makes it the reference.
    assert (found["b", "negative squeezed given"], found["study", "negative squeezed analysis"]) == ("1", "0")
    scores = {arm: float(found[arm, "squeezed score"]) for arm in "ab"}
    assert float(found["b over a", "squeezed given"]) == round(scores["b"] / scores["a"], 2)
    assert ("a", "saturated squeezed given") not in found
