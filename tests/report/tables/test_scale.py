from gapline.report.tables.kernels import scale_reports
from gapline.scoring.convert import scale_table


def test_scores_and_raw_gaps_stand_in_tables_of_their_own():
    tables = scale_reports(scale_table([1.0, 0.1], [2.0], kernels=["squeezed", "berthold", "dimacs:1.1"]))
    assert [table.name for table in tables] == ["scale-scores", "scale-raw-gaps"]
    cells = [[cell.text for cell in row] for row in tables[0].rows]
    assert cells == [["1.0", "–", "–", "–"], ["0.1", "22.22 %", "11.11 % or -10.00 %", "≥ 10 %"]]
    assert "squeezed, berthold: a score of 1 is an empty run: no raw gap is so large." in tables[0].notes
    assert [cell.text for cell in tables[1].rows[0]] == ["200 %", "0.50000", "0.66667", "0.10000 (saturated)"]
