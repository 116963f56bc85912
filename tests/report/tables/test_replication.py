"""The tables of a replication."""

import pytest

from gapline.report.tables.replication import conclusion_table, condition_table, shift_table
from gapline.report.writers.terminal import to_text
from gapline.study.replication import Agreement, Conclusion, Condition, Measured, Shift
from study.test_replication import found


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_each_pair_stands_twice_and_what_is_told_apart_is_bold():
    told = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
    open_ = Measured(instances=8, difference=0.1, low=-0.3, high=0.5)
    one = Conclusion(
        a="a", b="b", declared=False, old=told, new=open_, order_agrees=False, agreement=Agreement.OTHER_SIGN
    )
    table = conclusion_table(found(conclusions=(one,)))
    assert texts(table) == [
        ["a − b †", "there", "−0.20000", "[-0.30000, -0.10000]"],
        ["differs in sign, not told apart", "here", "+0.10000", "[-0.30000, 0.50000]"],
    ]
    assert [row[2].bold for row in table.rows] == [True, False]
    assert table.notes[-1] == "† exploratory: not declared there."
    assert table.frame.select("a", "b", "agreement", "difference_old", "difference_new").row(0) == (
        "a", "b", "differs in sign, not told apart", -0.2, 0.1,
    )  # fmt: skip


def shift(arm, panel, **more):
    return Shift(arm=arm, panel=panel, instances=4, old=0.1, new=0.2, shift=0.1, **{"tier": 1} | more)


def test_shifts_stand_under_their_arm_and_one_panel_is_not_repeated():
    several = [shift("a", None, low=0.05, high=0.2, verdict="worse"), shift("a", "p", reason="few"), shift("a", "q")]
    table = shift_table(found(shifts=(*several, shift("b", None, tier=2), shift("b", "p", tier=2))))
    assert [heading for heading, _ in table.parts] == ["a", "b"]
    assert texts(table) == [
        ["all panels", "0.10000", "0.20000", "+0.10000", "[0.05000, 0.20000]", "worse"],
        ["p", "0.10000", "0.20000", "+0.10000", "–", "–"],
        ["q", "0.10000", "0.20000", "+0.10000", "–", "–"],
        ["all panels", "0.10000", "0.20000", "+0.10000", "–", "tier 2"],
    ]
    assert table.frame.height == 5


CONDITIONS = (
    Condition(kind="machine", what="cores", old="2", new="4"),
    Condition(kind="versions", what="python", old="3.11", new="3.11"),
    Condition(kind="versions", what="checker", old="", new="cvrp 1"),
    Condition(kind="fairness", what="disturbed runs", old="0 of 8", new="0 of 8"),
)


@pytest.mark.parametrize(
    ("alike", "parts"),
    [
        (True, [("differs", 1), ("alike", 2), ("known of one alone", 1)]),
        (False, [(None, 2)]),
    ],
)
def test_what_differs_comes_first_and_disturbed_runs_are_always_told(alike, parts):
    table = condition_table(found(conditions=CONDITIONS), alike=alike)
    assert [(heading, len(rows)) for heading, rows in table.parts] == parts
    assert table.frame["differs"].to_list() == [True, False, False, False]


def test_the_tables_fit_eighty_columns():
    told = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
    one = Conclusion(
        a="kayros-ils",
        b="kayros-aco",
        declared=False,
        old=told,
        new=told,
        order_agrees=True,
        agreement=Agreement.SAME_SIGN,
    )
    shifts = (
        shift("ortools-mean", None, tier=2),
        shift("ortools-mean", "demo-n25-large", tier=2),
        shift("ortools-mean", "q"),
    )
    table = found(conclusions=(one,), shifts=shifts)
    for text in (conclusion_table(table), shift_table(table)):
        assert max(len(line) for line in to_text(text).splitlines() if not line.endswith(".")) <= 80
