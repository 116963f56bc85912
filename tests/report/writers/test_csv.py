import csv
import io

from gapline.report.statements import make_statements
from gapline.report.tables.instances import instance_frame
from gapline.report.writers.csv import to_csv
from report.report_studies import HOSTILE, hostile


def test_text_in_csv_is_quoted_and_numbers_are_not():
    text = to_csv(instance_frame(hostile(), make_statements(hostile()).order)).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert HOSTILE[2] in {row[2] for row in rows}
    lines = text.splitlines()
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    assert lines[1].rsplit(",", 1)[1].replace(".", "").isdigit()
