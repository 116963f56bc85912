from gapline.report.tables.sensitivity import grid_table, pairs_table
from report.report_studies import synthetic_analyses


def test_the_grid_is_the_papers_layout_and_its_middle_is_bold():
    found = synthetic_analyses().complementarity
    table = grid_table(synthetic_analyses())
    assert [len(rows) for _, rows in table.parts] == [3, 3, 3]
    assert [cell.text for row in table.rows for cell in row if cell.bold] == [str(found.contrasts.height)]


def test_a_descriptive_arm_is_marked_in_the_screen():
    found = synthetic_analyses().complementarity
    table = pairs_table(synthetic_analyses())
    assert len(table.rows) == found.contrasts.height
    named = {cell.text for row in table.rows for cell in row[1:3]}
    assert "sliced" not in named
    assert any("Descriptive, not compared: sliced" in note for note in table.notes)
    assert any(f"against {synthetic_analyses().study.folded.label}" in note for note in table.notes)
