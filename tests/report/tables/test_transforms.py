import gapline as gl
from gapline.report.analysis_tables import analysis_tables, study_tables
from gapline.report.facts import make_statements
from gapline.report.tables.sensitivity import transform_table
from gapline.report.write import results_document
from study.edge_runs import run


def test_each_transform_is_a_part_and_what_reverses_is_named():
    campaign = gl.Campaign.from_runs([run("early", "i", 1, [(0, 20.0)]), run("late", "i", 1, [(5, 0.0)])])
    snapshot = gl.Snapshot.from_values({"i": 0.0}, name="zero")
    study = gl.open_study(campaign, snapshots=[snapshot], transform="shift:30")
    analysis = gl.analyse(study, transforms=["shift:5", "shift:0"])
    table = transform_table(analysis)
    assert [heading for heading, _ in table.parts] == [
        "shift:30 (declared)", "shift:5: 1 of 1 panel orderings reverse",
    ]  # fmt: skip
    assert [cell.text for cell in table.rows[2]] == ["early", "0.66667", "2", "+0.41667"]
    assert [cell.bold for cell in table.rows[3]] == [False, True, False, False]
    assert "shift:5: early and late change order in p." in table.notes
    assert any(note.startswith("Cannot be scored under shift:0: 1 of 1 instances") for note in table.notes)
    assert "transforms" in [one.name for one in analysis_tables(analysis)]
    said = make_statements(study)
    assert "transforms" in [one.name for one in study_tables(study, analysis, said)]
    assert results_document(study, analysis, said)["transform_sensitivity"]["base"] == "shift:30"
