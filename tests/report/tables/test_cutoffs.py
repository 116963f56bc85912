import gapline as gl
from gapline.report.analysis_tables import analysis_tables, study_tables
from gapline.report.facts import make_statements
from gapline.report.tables.sensitivity import cutoff_table
from gapline.report.write import results_document
from study.test_cutoff_sweep import analysed


def test_arms_by_cutoffs_with_the_best_of_each_in_bold_and_the_swaps_in_words():
    analysis = analysed(cutoffs=[0.1, 2.0])
    table = cutoff_table(analysis)
    assert [column.head for column in table.columns] == ["arm", "uniform", "0.1 s", "2 s"]
    assert [cell.text for cell in table.rows[0]] == ["early", "0.55000", "0.75000", "0.50000"]
    assert [cell.bold for cell in table.rows[0]] == [False, False, True, False]
    assert [cell.bold for cell in table.rows[1]] == [False, True, False, True]
    assert any("swap at 1.6 s (early better below, late above)" in note for note in table.notes)
    assert any("swap at 4 s (late better below, early above); exact, from 0.1 s" in note for note in table.notes)
    assert "cutoffs" in [one.name for one in analysis_tables(analysis)]
    said = make_statements(analysis.study)
    assert "cutoffs" in [one.name for one in study_tables(analysis.study, analysis, said)]
    assert results_document(analysis.study, analysis, said)["cutoff_sweep"]["cutoffs"] == [0.1, 2.0]


def test_a_descriptive_arm_is_never_bold_and_never_swaps():
    analysis = analysed(cutoffs=[0.1])
    study = gl.open_study(analysis.study.campaign, snapshots=[analysis.study.snapshot], tier_two=["early"])
    analysis = gl.analyse(study)
    table = cutoff_table(analysis)
    assert not any(cell.bold for cell in table.rows[0])
    assert table.notes[-1] == "Descriptive, not compared: early."
    assert analysis.cutoffs.swaps == ()


def test_where_horizons_differ_the_grid_speaks():
    notes = cutoff_table(analysed(horizons=(10.0, 20.0), cutoffs=[0.1])).notes
    assert "early-log: in another order than under uniform are early and late at 0.1 s." in notes
    assert "end-log: no two arms are in another order than under uniform at these cutoffs." in notes
