"""A kernel that exists in Python alone, on the page: the numbers are Python's under every choice."""

import numpy as np
import pytest

import gapline as gl
from gapline.report.page.build import write_page
from report.page.test_switches import check_tables
from report.page_study import GOALS, make_study

NAME = "page-log"


@pytest.fixture(scope="module")
def study():
    gl.register_kernel(NAME, lambda z, reference: 7 * np.log(z / reference), before=8.0)
    return make_study(kernels=(NAME, "squeezed"), weight="steps:0=2,10=1")


@pytest.fixture(scope="module")
def path(study, tmp_path_factory):
    return write_page(study, tmp_path_factory.mktemp("own") / "page.html")


@pytest.mark.parametrize(
    "choice",
    [{}, {"snapshot": 1}, {"horizon": 12.5}, {"snapshot": 1, "horizon": 7.25, "goal": GOALS[2], "weighting": "run"}],
)
def test_every_switch_gives_what_python_computes(choice, study, path, open_page):
    page = open_page(path)
    page.choose(**choice)
    check_tables(page, study, {"kernel": NAME, **choice})


def test_a_reader_can_look_at_another_kernel_and_at_one_run(study, path, open_page):
    page = open_page(path)
    page.choose(kernel="squeezed")
    check_tables(page, study, {"kernel": "squeezed"})
    page.choose(kernel=NAME)
    assert page.text("#mean-title") == f"Mean convergence: {NAME} gap"
    assert f"is the mean of the {NAME} gap" in page.text("#run-caption")
