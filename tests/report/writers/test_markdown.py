import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gapline.report.facts import make_statements
from gapline.report.tables.means import arm_table
from gapline.report.writers import markdown
from gapline.report.writers.markdown import plain, to_markdown
from report.report_studies import hostile


def test_markdown_keeps_its_columns_whatever_the_names():
    study = hostile()
    text = to_markdown(arm_table(study.summary, make_statements(study).order))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in lines}
    assert len(bars) == 1
    assert "<img" not in text.replace("\\<", "")
    assert "\x1b" not in text


@given(st.text(alphabet="abw09 .,:()+/=?!-_%&@", max_size=20))
@example("www.0")
@example("a@b")
def test_plain_cells_come_out_as_if_every_letter_had_been_looked_at(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "_PLAIN", re.compile("(?!)"))
        looked_at = plain(text)
    assert plain(text) == looked_at
