from gapline.report.tables.contrasts import compared_rows, contrast_table
from report.report_studies import HOSTILE, hostile


def test_contrasts_are_bold_where_zero_is_outside_and_declared_ones_come_first():
    study = hostile()
    table = contrast_table(study.contrasts, empties={})
    assert [heading for heading, _ in table.parts] == ["declared", "exploratory"]
    assert len(table.rows) == study.contrasts.frame.height
    for row, data in zip(table.rows, table.frame.iter_rows(named=True), strict=True):
        assert row[4].bold == (data["low"] > 0 or data["high"] < 0)
    assert str(hostile().references[0].label) in table.notes[0]


def test_a_descriptive_arm_is_in_no_contrast():
    study = hostile()
    left = compared_rows(study.contrasts, [HOSTILE[0]])
    assert left.height == 15  # of 7 arms, 6 are compared
    assert HOSTILE[0] not in {*left["a"], *left["b"]}
    table = contrast_table(study.contrasts, empties={}, descriptive=[HOSTILE[0]])
    assert [heading for heading, _ in table.parts] == ["exploratory"]
