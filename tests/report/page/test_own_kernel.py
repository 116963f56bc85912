"""A kernel that exists in Python alone, on the page: the numbers are Python's under every choice."""

import numpy as np
import pytest

import gapline as gl
from gapline.report.page.build import write_page
from report.page.test_switches import check_tables
from report.page_study import GOALS, make_study

NAME = "seven logs"


@pytest.fixture(scope="module")
def study():
    gl.register_kernel(NAME, lambda z, reference: 7 * np.log(z / reference), before=8.0, replace=True)
    return make_study(kernels=(NAME, "squeezed"), weight="steps:0=2,10=1")


@pytest.fixture(scope="module")
def path(study, tmp_path_factory):
    return write_page(study, tmp_path_factory.mktemp("own") / "page.html")


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [{}, {"snapshot": 1}, {"horizon": 12.5}, {"horizon": 7.25, "goal": GOALS[2], "weighting": "run"}],
)
def test_every_switch_gives_what_python_computes(choice, study, path, open_page):
    page = open_page(path)
    page.choose(**choice)
    check_tables(page, study, {"kernel": NAME, **choice})


def test_a_reference_that_is_folded_anew_leaves_it_without_a_score(study, path, open_page):
    """The page cannot ask the function about another reference, and shows no number of an older one."""
    page = open_page(path)
    page.choose(snapshot=1, horizon=12.5)
    assert {row[f"mean {NAME}"] for row in page.table("ranking")} == {"–"}
    assert "a function in Python" in page.text("#subline")
    page.choose(kernel="squeezed")
    check_tables(page, study, {"snapshot": 1, "horizon": 12.5})


def test_a_scale_of_time_stands_in_the_captions_and_in_saved_numbers(tmp_path, open_page):
    runs = [
        {"arm": arm, "instance": f"i{i}", "seed": 1, "horizon": 9.0, "host": host, "trace": [(1 + i, 12.0)]}
        for arm, host in (("a", "x"), ("b", "y"))
        for i in range(3)
    ]
    known = gl.Snapshot.from_values({f"i{i}": 10.0 for i in range(3)}, name="known")
    scaled = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[known], time_scale="y=2", draws=20)
    page = open_page(write_page(scaled, tmp_path / "page.html"))
    said = "y × 2, other hosts × 1 (declared)"
    assert f"time scaled: {said}" in page.text("#ranking-caption")
    means = dict(scaled.summary.frame.select("arm", "squeezed").iter_rows())
    saved = page.saved("arms")
    assert {row["arm"]: float(row["mean"]) for row in saved} == pytest.approx(means)
    assert {row["time_scale"] for row in saved} == {said}


def test_a_reader_can_look_at_another_kernel_and_at_one_run(study, path, open_page):
    page = open_page(path)
    page.choose(kernel="squeezed")
    check_tables(page, study, {"kernel": "squeezed"})
    page.choose(kernel=NAME)
    assert page.text("#mean-title") == f"Mean convergence: {NAME} gap"
    assert f"is the mean of the {NAME} gap" in page.text("#run-caption")
