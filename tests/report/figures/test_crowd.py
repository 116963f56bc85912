"""Every figure of a study with 80 arms, and of one whose names every object of JavaScript has."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import polars as pl
import pytest

from gapline import figures
from gapline.report.classical_curves import classical_curve
from gapline.report.curves import study_curves, write_curves
from gapline.report.drawing import printable_chart
from gapline.report.facts import make_statements
from gapline.report.figures.study import study_figures
from gapline.report.looks import LEADERS
from gapline.report.numbers import number
from gapline.study.analyse import analyse
from report.report_studies import INHERITED, crowd, inherited


@pytest.fixture(scope="module", params=[inherited, crowd], ids=["inherited", "crowd"])
def drawn(request, tmp_path_factory):
    """The study, its charts, and the words of each figure's SVG in their order."""
    study = request.param()
    charts = study_figures(study, analyse(study), make_statements(study).order)
    folder = tmp_path_factory.mktemp("figures")
    words = {}
    for name, chart in charts.items():
        root = ET.parse(figures.write(figures.style(chart), folder / f"{name}.svg")).getroot()
        words[name] = [(node.text or "").strip() for node in root.iter() if node.tag.endswith("}text")]
    return study, charts, words


@pytest.mark.slow
def test_every_figure_is_drawn_and_forests_list_every_arm_with_its_number(drawn):
    study, charts, words = drawn
    assert {"mean-convergence", "score-intervals", "contrasts", "health", "reference-shift", "ratings"} <= set(charts)
    best = study.summary.frame.sort("squeezed")
    shown = [word for word in words["score-intervals"] if word in set(best["arm"])]
    assert shown == best["arm"].to_list(), "best first"
    means = [number(value) for value in best["squeezed"]]
    assert [word for word in words["score-intervals"] if word in set(means)] == means
    for name in ("health", "reference-shift", "ratings"):
        assert set(best["arm"]) <= set(words[name]), name


@pytest.mark.slow
def test_a_legend_names_all_curves_or_the_best_and_says_so(drawn):
    study, charts, words = drawn
    arms = study.summary.frame.sort("squeezed")["arm"].to_list()
    for name in ("mean-convergence", "attainment", "final-gaps", "horizon-sweep", "metric-sensitivity"):
        named = [word for word in words[name] if word in set(arms)]
        caption = " ".join(charts[name].to_dict()["title"]["subtitle"])
        many = len(arms) > 24
        assert (set(named) == set(arms[:LEADERS])) if many else sorted(named) == sorted(arms), name
        assert (f"the best {LEADERS} of 80" in caption) == many, name
        assert not any("entries" in word for word in words[name]), name


def test_a_curve_is_one_line_whatever_its_name(drawn, tmp_path):
    study, charts, _ = drawn
    path = figures.write(charts["horizon-sweep"], tmp_path / "sweep.svg")
    lines = [node for node in ET.parse(path).getroot().iter() if node.get("aria-roledescription") == "line mark"]
    assert len(lines) == study.summary.frame.height


def test_contrasts_are_as_many_as_are_read_the_declared_ones_first_and_the_rest_is_counted(drawn):
    study, charts, words = drawn
    title = charts["contrasts"].to_dict()["title"]
    pairs = [word for word in words["contrasts"] if " − " in word and "differ" not in word and "(a" not in word]
    assert len(pairs) == 40
    declared = study.contrasts.frame.filter("declared").sort("difference")
    assert pairs[:2] == [f"{a} − {b}" for a, b in declared.select("a", "b").iter_rows()]
    left = study.contrasts.frame.filter(pl.col("difference").is_not_null()).height - 40
    assert f"{left:,} smaller ones in the table" in " ".join(title["subtitle"])


def test_the_ranks_on_the_axis_do_not_touch_and_hold_every_arm(drawn):
    study, _, words = drawn
    said = words["critical-difference"]
    ticks = [int(word) for word in said if re.fullmatch(r"\d+", word)]
    means = [float(found[1]) for word in said if (found := re.search(r"\((\d+\.\d\d)\)$", word))]
    assert len(means) == study.summary.frame.height
    # From the whole rank before the first arm on: ranks that no arm is near would take the room of the others.
    assert ticks[0] <= min(means) < ticks[0] + 1
    assert len(ticks) <= 16
    steps = {b - a for a, b in pairwise(ticks[1:])}
    assert len(steps) == 1
    assert ticks[1] - ticks[0] >= min(4, *steps)
    assert ticks[-1] + steps.pop() > max(means)


@pytest.mark.slow
def test_the_curves_of_gapline_curve_are_one_line_each(drawn, tmp_path):
    study, _, _ = drawn
    pair, arms = tuple(study.declared[0]), study.summary.frame.height
    found = {
        "mean": (study_curves(study, by=["arm"], bands=True), 2 * arms),
        "target-ecdf": (classical_curve(study, "target-ecdf"), arms),
        "eaf-difference": (classical_curve(study, "eaf-difference", pair), 0),
    }
    for name, (curves, lines) in found.items():
        write_curves(curves, tmp_path / f"{name}.svg")
        marks = [node.get("aria-roledescription") for node in ET.parse(tmp_path / f"{name}.svg").getroot().iter()]
        assert marks.count("line mark") == lines, name


def test_no_text_of_a_drawing_is_one_that_every_object_has_and_no_two_names_become_one():
    names = [*INHERITED, *(f"{name} " for name in INHERITED), *(f"{name}\N{NO-BREAK SPACE}" for name in INHERITED)]
    found = printable_chart(names)
    assert not set(found) & set(INHERITED)
    assert len(set(found)) == len(names)
