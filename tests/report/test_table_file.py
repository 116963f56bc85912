"""Tables as files: the format follows the name."""

import json
from pathlib import Path

import polars as pl
import pytest

from gapline.errors import UsageError
from gapline.report.table import frame_table
from gapline.report.table_file import FORMS, form_of, joined, write_tables


def table(name="scores", note="against one"):
    return frame_table(name, "Two", pl.DataFrame({"arm": ["a_b", "c"], "score": [0.5, 1 / 3]}), notes=[note])


@pytest.mark.parametrize(
    ("form", "held"),
    [
        ("csv", '"c",0.3333333333333333'),
        ("md", "| a\\_b | 0.50000 |"),
        ("tex", "a\\_b & 0.50000"),
        ("json", '"all": 3'),
        ("txt", "a_b  0.50000"),
    ],
)
def test_the_name_says_the_format(tmp_path, form, held):
    write_tables([table()], tmp_path / f"t.{form}", {"all": 3})
    assert held in (tmp_path / f"t.{form}").read_text(encoding="utf-8")


def test_the_json_is_the_document(tmp_path):
    write_tables([table()], tmp_path / "t.json", {"all": [1.5, "ä"]})
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8")) == {"all": [1.5, "ä"]}


def test_a_name_without_a_format_is_refused():
    with pytest.raises(UsageError, match=r"expected a name ending in \.csv, \.md, \.tex, \.json or \.txt, got svg"):
        form_of(Path("x.svg"))
    assert [form_of(Path(f"x.{form.upper()}")) for form in FORMS] == list(FORMS)


def test_several_readings_of_one_table_are_one_csv_and_several_tables_are_refused(tmp_path):
    both = joined([table(note="against one"), table(note="against two")])
    assert both["reading"].to_list() == ["against one"] * 2 + ["against two"] * 2
    with pytest.raises(UsageError, match="expected one table, got scores, runs"):
        joined([table(), table("runs")])
    write_tables([table(), table("runs")], tmp_path / "t.txt", None)
    assert (tmp_path / "t.txt").read_text().count("Two\n") == 2
