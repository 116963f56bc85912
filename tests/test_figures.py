import json
import re

import polars as pl
import pytest

import gapline as gl
from gapline import figures
from gapline.errors import UsageError
from gapline.report.drawing import alt, style
from gapline.report.looks import COLOURS, DASHES
from report.report_studies import crowd, synthetic, synthetic_analyses

OF_A_STUDY = (
    "mean_convergence", "attainment", "final_gaps", "score_intervals", "contrasts", "metric_sensitivity",
    "reference_shift", "complementarity", "health", "horizon_sweep", "performance_profile",
)  # fmt: skip


@pytest.mark.slow
def test_charts_compose_and_are_styled_as_a_whole():
    study = synthetic()
    snapshot = study.references[0].snapshot
    one = figures.mean_convergence(study.envelopes, snapshot, bands=True, width=12)
    other = figures.attainment(study.envelopes, snapshot, goals=[0.01, 0.05])
    specification = style((one | other) & figures.final_gaps(study.scores[0])).to_dict()
    assert "config" in specification
    assert specification["vconcat"][0]["hconcat"][0]["layer"]
    assert "config" not in json.dumps(specification["vconcat"])


@pytest.mark.slow
def test_every_figure_takes_a_study_or_its_analysis():
    study, analysis = synthetic(), synthetic_analyses()
    for name in OF_A_STUDY:
        draw = getattr(figures, name)
        # Those that need an analysis take the one that is there already: nothing is made twice.
        of = analysis if "Analysis" in str(draw.__annotations__["of"]) else study
        assert draw(of).to_dict(), name
        with pytest.raises(UsageError, match=f"^{name}: expected "):
            draw(gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 1, "trace": []}]))
    row = study.scores[0].frame.row(0, named=True)
    assert figures.gap_area(study, **{key: row[key] for key in ("arm", "instance", "seed")}).to_dict()


def test_a_study_and_its_parts_give_the_same_drawing():
    study = synthetic()
    curves = gl.mean_curve(
        study.envelopes, study.snapshot, weighting=study.weighting, policy=study.references[0].policy
    )
    of_study = figures.mean_convergence(study).to_dict()
    for chart in (figures.mean_convergence(curves), figures.mean_convergence(study.envelopes, study.snapshot)):
        assert chart.to_dict()["datasets"] == of_study["datasets"]


def test_a_wrong_kind_is_told_the_way_and_a_choice_that_would_be_ignored_is_refused():
    study = synthetic()
    with pytest.raises(UsageError) as told:
        figures.mean_convergence(study.campaign, {"i": 1.0})
    assert told.value.message == "mean_convergence: expected Envelopes, got Campaign"
    assert told.value.hint == "gl.build_envelopes(campaign)"
    with pytest.raises(UsageError, match="mean_convergence: expected references, got nothing"):
        figures.mean_convergence(study.envelopes)
    with pytest.raises(UsageError, match="mean_convergence: expected no kernel with Study, which has its own"):
        figures.mean_convergence(study, kernel="raw")


def test_width_and_title_are_those_asked_for(tmp_path):
    study = synthetic()
    narrow = figures.mean_convergence(study, width="column", title="Mine", log_time=True)
    spec = narrow.to_dict()
    assert spec["title"]["text"] == ["Mine"]
    drawing = figures.write(narrow, tmp_path / "a.svg", caption=False).read_text(encoding="utf-8")
    pixels = 8.5 / 2.54 * 96
    assert pixels - 4 <= float(re.search(r'width="([\d.]+)"', drawing)[1]) <= pixels
    assert "title" not in figures.final_gaps(study, title=False).to_dict()
    with pytest.raises(UsageError, match="width: expected column, page or centimetres"):
        figures.final_gaps(study, width="wide")


@pytest.mark.slow
def test_a_file_names_the_digests_of_its_study_and_a_page_needs_no_network(tmp_path, browser):
    study = synthetic()
    chart = figures.score_intervals(study)
    text = figures.write(chart, tmp_path / "a.svg", study=study).read_text(encoding="utf-8")
    assert study.snapshot.digest in text
    assert study.campaign_digest in text
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(figures.write(chart, tmp_path / "a.html").as_uri())
        page.wait_for_selector("svg, canvas")
    finally:
        page.close()
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)


def test_a_chart_shows_itself_without_a_network_unless_somebody_chose_a_renderer():
    with alt.renderers.enable("default"):
        chart = figures.final_gaps(synthetic())
        shown = chart._repr_mimebundle_(None, None)
        assert "http" not in re.sub(r"xmlns[^=]*=.http[^ >]*|http://www.w3.org\S*", "", shown["image/svg+xml"])
        assert shown["image/svg+xml"].startswith("<svg")
        assert shown["text/plain"].startswith("Final gaps")
    with alt.renderers.enable("mimetype"):
        figures.final_gaps(synthetic())
        assert alt.renderers.active == "mimetype"


def test_several_goals_of_an_arm_have_its_colour_and_a_dash_each():
    study = synthetic()
    goals = [0.05, 0.2]
    for arms in (study.arms[:1], study.arms):
        envelopes = study.envelopes.select(pl.col("arm").is_in(list(arms)))
        shown = figures.attainment(envelopes, study.snapshot, goals=goals).to_dict()
        encoding = shown["layer"][-1]["encoding"]
        names = encoding["color"]["scale"]["domain"]
        assert names == [f"{arm} · {goal}" for arm in arms for goal in ("5 %", "20 %")]
        colours, dashes = (encoding[channel]["scale"]["range"] for channel in ("color", "strokeDash"))
        assert dashes == [list(dash) for dash in DASHES[:2]] * len(arms)
        assert colours == [colour for colour in COLOURS[: len(arms)] for _ in goals]
        assert encoding["color"]["legend"]["values"] == names


def test_more_arms_than_colours_have_a_look_for_each_goal():
    study = crowd(10)
    shown = figures.attainment(study.envelopes, study.snapshot, goals=[0.05, 0.2], by="arm").to_dict()
    encoding = shown["layer"][-1]["encoding"]
    looks = list(zip(*(map(str, encoding[name]["scale"]["range"]) for name in ("color", "strokeDash")), strict=True))
    assert len(set(looks)) == len(looks) == 20
