"""The page of the study that tests/test_one_answer.py takes through every command."""

import pytest

import gapline as gl
from report.page_reader import number as read_number
from test_one_answer import KERNEL, quiet, whole_study  # noqa: F401 (a fixture)

pytestmark = pytest.mark.slow


def test_the_page_says_what_python_says(study, tmp_path, capsys, open_page):
    opened = gl.open_study(study)
    means = dict(opened.summary.frame.select("arm", KERNEL).iter_rows())
    quiet(capsys, "report", study, "-o", tmp_path, "--format", "svg")
    page = open_page(tmp_path / "report.html")
    ranking = {row["arm"].split(" ")[0]: row for row in page.table("ranking")}
    assert {arm: row[f"mean {KERNEL}"] for arm, row in ranking.items()} == {
        arm: f"{mean:.5f}" for arm, mean in means.items()
    }
    assert ranking["coarse"]["rank"] == "–"
    assert page.text("#headline") == "10 of 12 planned runs: no arm is called better"
    assert not any("coarse" in (row["arm a"], row["arm b"]) for row in page.table("contrast-table"))
    contrast = opened.contrasts.frame.row(0, named=True)
    (row,) = [row for row in page.table("contrast-table") if {row["arm a"], row["arm b"]} == {"swift", "solid"}]
    assert read_number(row["a − b"]) == pytest.approx(contrast["difference"], abs=5e-6)
