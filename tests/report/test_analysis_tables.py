"""The tables of an analysis: known by name, each with its reading and one number of decimals in a column."""

import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.report.analysis_tables import TABLES, analysis_table, analysis_tables
from gapline.study.analyse import analyse
from report.report_studies import by_hand, hierarchical, synthetic_analyses
from terminal_laws import ragged


@pytest.fixture(scope="module")
def tables():
    return analysis_tables(synthetic_analyses())


@pytest.mark.slow
def test_every_table_is_known_by_its_name_and_stands_in_that_order(tables):
    names = [table.name for table in tables]
    assert names == [name for name in TABLES if name in names]
    assert len(names) > 15


def test_one_table_is_that_of_all(tables):
    for table in tables[:4]:
        found = analysis_table(synthetic_analyses(), table.name)
        assert (found.caption, found.parts, found.notes) == (table.caption, table.parts, table.notes)


def test_every_table_names_its_reading(tables):
    reference = synthetic_analyses().study.snapshot.name
    folded = synthetic_analyses().study.folded.snapshot.name
    for table in tables:
        notes = " ".join(table.notes).replace("Against", "against")
        assert f"against {reference}" in notes or f"against {folded}" in notes, table.name


def test_a_table_that_is_not_there_is_told_from_one_that_does_not_exist():
    with pytest.raises(UsageError, match="--table ladder-means: expected a table that there is"):
        analysis_table(analyse(by_hand()), "ladder-means")
    with pytest.raises(UsageError, match=r"--table: expected one of design, health, .*, got 'robust'") as refused:
        analysis_table(analyse(by_hand()), "robust")
    assert "did you mean 'robustness'?" in str(refused.value)


@pytest.mark.parametrize("make", [synthetic_analyses, lambda: analyse(hierarchical()), lambda: analyse(by_hand())])
def test_the_numbers_of_a_column_share_their_decimals(make):
    assert [words for table in analysis_tables(make()) for words in ragged(table)] == []


def test_arms_of_an_integrity_alarm_are_marked_in_the_rows_of_the_ranking_and_not_in_its_data():
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 9, "trace": [(1 + k, 12.0 if arm == "a" else 13.0)]}
        for arm in "ab"
        for k in range(3)
    ]
    known = gl.Snapshot.from_values({"i0": 12.5, "i1": 10.0, "i2": 10.0}, name="known", certified=["i0"])
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[known], draws=50)
    assert study.alarms
    for name, place in (("ranking", 1), ("intervals", 0)):
        table = analysis_table(analyse(study), name)
        assert {row[place].text for row in table.rows} == {"a (alarm)", "b"}
        assert set(table.frame["arm"]) == {"a", "b"}
        assert "(alarm): runs of this arm are part of an integrity alarm." in table.notes
