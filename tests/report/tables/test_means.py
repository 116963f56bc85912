import pytest

import gapline as gl
from gapline.report.facts import make_statements
from gapline.report.numbers import number
from gapline.report.order import order_arms
from gapline.report.tables.means import arm_table, group_table, panel_table
from report.report_studies import by_hand, rows_of, synthetic, synthetic_said


def test_means_agree_with_the_summary_and_only_the_best_compared_arm_is_bold():
    study, order = synthetic(), synthetic_said().order
    table = arm_table(study.summary, order, intervals=study.intervals)
    expected = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    for row in rows_of(table):
        arm = row["arm"].text
        assert row["squeezed"].text == number(expected[arm]["squeezed"])
        assert row["empty"].text == str(expected[arm]["empty"])
    best = min((v["squeezed"], arm) for arm, v in expected.items() if arm != "sliced")[1]
    assert [row["arm"].text for row in rows_of(table) if row["squeezed"].bold] == [best]
    assert any("sliced" in note for note in table.notes)


def test_a_descriptive_arm_stands_below_without_a_rank_and_is_never_bold_however_good():
    """Under each kernel the arm that would be first is made descriptive."""
    summary = by_hand().summary
    best = order_arms(summary).compared[0]
    order = order_arms(summary, tier_two=[best])
    table = arm_table(summary, order)
    last = rows_of(table)[-1]
    assert last["arm"].text == best
    assert last["rank"].text == "–"
    assert not any(cell.bold for cell in last.values())
    assert table.parts[-1][0] == "descriptive, not compared"
    assert table.frame["rank"].to_list() == [1, None]
    assert table.frame["tier"].to_list() == [1, 2]


def test_every_table_of_means_prints_its_reading():
    study, order = by_hand(), make_statements(by_hand()).order
    for table in (arm_table(study.summary, order), group_table(study.summary), panel_table(study.scores[0], order)):
        reading = " ".join(table.notes)
        assert study.references[0].snapshot.digest[:19] in reading
        assert "weight uniform" in reading
        assert "horizon 10 s" in reading


def test_every_mean_has_its_empty_count_beside_it():
    study, order = synthetic(), synthetic_said().order
    empty = dict(study.summary.frame.select("arm", "empty").iter_rows())
    assert empty["sliced"] > 0
    table = arm_table(study.summary, order)
    assert {row["arm"].text: int(row["empty"].text) for row in rows_of(table)} == empty
    panels = panel_table(study.scores[0], order)
    counted = [row["sliced"].text.split("(")[1].rstrip(")") for row in rows_of(panels) if "(" in row["sliced"].text]
    assert sum(map(int, counted)) == empty["sliced"]


def test_goals_that_print_alike_have_their_own_columns():
    scores = gl.score(by_hand().envelopes, by_hand().references[0].snapshot, goals=[0.01234567, 0.01234568])
    table = group_table(gl.summarise(scores))
    assert [column.head for column in table.columns][-2:] == ["≤ 1.234567 %", "≤ 1.234568 %"]


def test_groups_are_listed_without_ranks():
    summary = gl.summarise(by_hand().scores[0], by=["instance", "arm"])
    table = group_table(summary)
    assert [column.head for column in table.columns][:2] == ["instance", "arm"]
    assert not any(cell.bold for row in table.rows for cell in row)
    assert [row[0].text for row in table.rows] == [
        row["instance"] for row in summary.frame.sort("squeezed").iter_rows(named=True)
    ]


@pytest.mark.parametrize("kernels", [["berthold", "squeezed"], ["squeezed", "berthold"]])
def test_berthold_below_the_reference_is_shown_and_never_bold(kernels):
    runs = [
        {"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": [(0, z)]}
        for arm, z in (("a", 8.0), ("b", 12.0))
    ]
    scores = gl.score(
        gl.build_envelopes(gl.Campaign.from_runs(runs)), gl.Snapshot.from_values({"i": 10.0}, name="r"), kernels=kernels
    )
    summary = gl.summarise(scores)
    order = order_arms(summary)
    rows = rows_of(arm_table(summary, order))
    assert not any(row["berthold"].bold for row in rows)
    assert sum(row["squeezed"].bold for row in rows) == 1
    assert [row["rank"].text for row in rows] == (["–", "–"] if kernels[0] == "berthold" else ["1", "2"])
