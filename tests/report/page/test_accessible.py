"""axe-core finds nothing on the page: at rest and after each switch, light and dark, on a screen and on a phone."""

import pytest

from accessibility import violations
from gapline.report.page.build import write_page
from report.page_study import make_study

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_rest_and_after_each_switch(open_page, page_file, width, scheme):
    page = open_page(page_file, width=width, color_scheme=scheme)
    assert violations(page.page) == []
    switches = (
        lambda: page.choose(kernel="berthold", snapshot=1),
        lambda: page.choose(horizon=12.5, weighting="run", goal=0.2, scale="log"),
        lambda: page.change(page.page.locator('.arm[data-arm="gamma"]').click),
        lambda: page.change(page.page.locator("#instance-table button.link").last.click),
        lambda: page.change(page.page.locator("#run-table button.link").last.click),
        lambda: (
            page.page.fill("#find-instance-table", "s"),
            page.page.locator("#panel-table th button").first.click(),
        ),
        lambda: (page.page.locator("#mean-chart").focus(), page.page.keyboard.press("End")),
    )
    for switch in switches:
        switch()
        assert violations(page.page) == []


def test_axe_finds_nothing_where_arms_are_descriptive_and_raw_has_no_mean(open_page, tmp_path):
    page = open_page(write_page(make_study(tier_two=("beta",), contrasts=()), tmp_path / "page.html"))
    page.choose(kernel="raw")
    assert violations(page.page) == []
