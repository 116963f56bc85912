from gapline.report.statements import make_statements
from gapline.report.tables.means import arm_table
from gapline.report.writers.markdown import to_markdown
from report.report_studies import hostile


def test_markdown_keeps_its_columns_whatever_the_names():
    study = hostile()
    text = to_markdown(arm_table(study.summary, make_statements(study).order))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in lines}
    assert len(bars) == 1
    assert "<img" not in text.replace("\\<", "")
    assert "\x1b" not in text
