from gapline.report.table import Text
from gapline.report.tables.sensitivity import pooled_table
from report.report_studies import rows_of, synthetic_analyses


def pooled():
    return pooled_table(synthetic_analyses())


def test_berthold_under_a_beaten_reference_is_shown_and_not_ranked():
    table = pooled()
    frozen, _, analysis, _ = (rows for _, rows in table.parts)
    column = [c.head for c in table.columns].index("berthold")
    assert not any(row[column].bold for row in frozen)
    assert any("†" in row[column].text for row in frozen)
    assert sum(row[column].bold for row in analysis) == 1


def test_the_descriptive_arm_stands_in_a_part_of_its_own():
    table = pooled()
    assert [heading for heading, _ in table.parts[1::2]] == ["descriptive, not compared"] * 2
    for _, rows in table.parts[1::2]:
        assert [row[0] for row in rows] == [Text("sliced")]
        assert not any(cell.bold for row in rows for cell in row)
    assert all(int(row["empty"].text) > 0 for row in rows_of(table) if row["arm"].text == "sliced")
