"""The page of 80 arms, and of arms, instances and panels with the names that every object of JavaScript has."""

import pytest

import gapline as gl
from gapline.report.looks import COLOURS, looks_of
from gapline.report.page.build import write_page
from gapline.scoring.endpoints import attainment_name
from report.page_reader import number
from report.report_studies import INHERITED, crowd, inherited

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    return {
        make.__name__: (make(), write_page(make(), folder / f"{make.__name__}.html")) for make in (inherited, crowd)
    }


@pytest.fixture(params=["inherited", "crowd"])
def written(request, pages):
    return pages[request.param]


def test_every_number_is_the_one_of_the_tables(open_page, written):
    study, path = written
    page = open_page(path)
    means = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    ranking = page.table("ranking")
    assert [row["arm"] for row in ranking] == study.summary.frame.sort("squeezed")["arm"].to_list()
    for row in ranking:
        mine = means[row["arm"]]
        assert number(row["mean squeezed"]) == pytest.approx(mine["squeezed"], abs=5.1e-6)
        assert number(row["≤ 20 %"]) == pytest.approx(mine[attainment_name(0.2)], abs=5.1e-4)
        assert (row["runs"], row["empty"], row["failed"]) == (str(mine["runs"]), "0", "0")
    spans = {row["arm"]: (row["low"], row["high"]) for row in study.intervals.frame.iter_rows(named=True)}
    for row in ranking:
        ends = [number(part) for part in row["95 % interval"].split(" to ")]
        assert ends == pytest.approx(spans[row["arm"]], abs=5.1e-6)
    by_panel = gl.summarise(study.scores[0], by=["arm", "panel"]).frame.iter_rows(named=True)
    by_panel = {(row["panel"], row["arm"]): row["squeezed"] for row in by_panel}
    shown = {row["panel"]: row for row in page.table("panel-table")}
    assert {(panel, arm) for panel in shown for arm in means} == set(by_panel)
    for (panel, arm), value in by_panel.items():
        assert number(shown[panel][arm]) == pytest.approx(value, abs=5.1e-6)
    by_instance = gl.summarise(study.scores[0], by=["arm", "instance"], weighting="run").frame.iter_rows(named=True)
    instances = {row["instance"]: row for row in page.table("instance-table")}
    for row in by_instance:
        assert number(instances[row["instance"]][row["arm"]]) == pytest.approx(row["squeezed"], abs=5.1e-6)
    differences = {(row["a"], row["b"]): row["difference"] for row in study.contrasts.frame.iter_rows(named=True)}
    contrasts = page.table("contrast-table")
    assert len(contrasts) == len(differences)
    for row in contrasts:
        assert number(row["a − b"]) == pytest.approx(differences[row["arm a"], row["arm b"]], abs=5.1e-6)


def test_every_chart_is_drawn(open_page, written):
    study, path = written
    page = open_page(path)
    arms, panels = study.summary.frame.height, study.campaign.runs["panel"].n_unique()
    for name in ("mean-chart", "attainment-chart"):
        assert page.page.locator(f"#{name} .mark-line path").count() == arms
    assert page.page.locator("#panel-chart .mark-symbol path").count() == arms * panels
    assert page.page.locator("#instance-chart .mark-line path").count() == 2 * arms


def test_a_link_names_the_arms_and_instances_that_every_object_has(open_page, pages):
    _, path = pages["inherited"]
    page = open_page(path)
    for arm in ("__proto__", "constructor", "toString"):
        page.change(page.page.locator(f'.arm[data-arm="{arm}"]').click)
    page.change(page.page.locator("#instance-table button.link", has_text="valueOf 2").click)
    page.change(page.page.locator("#run-table button.link", has_text="hasOwnProperty").first.click)
    again = open_page(path, hash="#" + page.page.url.split("#")[1])
    for name in ("ranking", "panel-table", "run-table", "candidate-table"):
        assert again.table(name) == page.table(name)
    assert {row["arm"] for row in again.table("ranking")} == set(INHERITED) - {"__proto__", "constructor", "toString"}
    assert again.text("#run-name").strip() == "hasOwnProperty · valueOf 2 · seed 1"


def test_of_many_arms_the_best_are_in_colour_and_others_when_they_are_shown_alone(open_page, pages):
    page = open_page(pages["crowd"][1])

    study = pages["crowd"][0]
    best = study.summary.frame.sort("squeezed")["arm"].to_list()

    def drawn(row: int) -> tuple[str, tuple[int, ...], str]:
        swatch = page.page.locator(f"#ranking tbody tr:nth-child({row}) .swatch")
        dash = swatch.locator("line").get_attribute("stroke-dasharray").split()
        stroke = swatch.locator("line").get_attribute("stroke")
        return stroke, tuple(map(int, dash)), swatch.locator("path").get_attribute("d")

    looks, grey = looks_of(best, study.arms), drawn(80)[0]
    assert [drawn(row) for row in range(1, 9)] == [looks[arm][:3] for arm in best[:8]]
    assert drawn(9) == (grey, *looks[best[8]][1:3])
    assert grey not in COLOURS
    assert "In colour: the best 8 of the 80 arms shown" in page.text("#mean-caption")
    assert "Bands are drawn of at most 8 arms" in page.text("#mean-caption")
    page.page.locator("#mean-chart").focus()
    page.page.keyboard.press("End")
    assert page.page.locator("#tip div").count() == 1 + 16 + 1
    assert "and 64 higher arms" in page.text("#tip")
    page.page.keyboard.press("Escape")
    page.page.locator('.arm[data-arm="solver 79"]').focus()
    page.change(lambda: page.page.keyboard.press("Shift+Enter"))
    assert drawn(1) == looks_of(["solver 79"], study.arms)["solver 79"][:3]
    assert "In colour" not in page.text("#mean-caption")
    assert page.page.locator("#mean-chart .mark-area path").count() == 1


@pytest.mark.parametrize("width", [1280, 400])
def test_controls_and_tables_of_many_arms_leave_room_for_the_results(open_page, pages, width):
    page = open_page(pages["crowd"][1], width=width)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") == width
    assert page.page.evaluate("() => document.querySelector('.controls').offsetHeight") < 450
    assert page.page.evaluate("() => document.querySelector('#headline').getBoundingClientRect().top") < 600
    for name in ("#panel-table", "#instance-table"):
        box = page.page.locator(name).locator("xpath=..")
        box.evaluate("box => (box.scrollLeft = 3000)")
        left = page.page.evaluate(f"() => document.querySelector('{name} tbody td').getBoundingClientRect().left")
        assert 0 <= left < width / 3, "the name of the line stays in sight"
