import xml.etree.ElementTree as ET

import pytest

from gapline import figures
from gapline.report.facts import make_statements
from gapline.report.figures.study import study_figures
from gapline.report.write import for_report
from gapline.study.analyse import analyse
from report.report_studies import hostile, synthetic, synthetic_analyses, synthetic_said
from study.ladder_study import ladder_study

pytestmark = pytest.mark.slow


def test_titles_say_what_and_captions_under_which_choices():
    study = synthetic()
    charts = study_figures(study, synthetic_analyses(), synthetic_said().order)
    assert len(charts) == 16
    for name, chart in charts.items():
        title = chart.to_dict()["title"]
        caption = " ".join(title["subtitle"])
        assert title["text"], name
        assert "gapline" in caption, name
        if name != "health":
            # Complementarity is judged against the analysis reference, everything else against the declared one.
            label = study.folded.label if name == "complementarity" else study.references[0].label
            assert label.digest[:19] in caption, name


def test_curves_are_of_the_campaign_and_say_how_many_runs_of_ladders_stand_apart(tmp_path):
    study = for_report(ladder_study(tmp_path))
    charts = study_figures(study, analyse(study), make_statements(study).order)
    for name in ("mean-convergence", "attainment", "final-gaps"):
        chart = charts[name].to_dict()
        shown = {row["series"] for rows in chart["datasets"].values() for row in rows if "series" in row}
        assert shown == {"mine", "other"}, name
        caption = " ".join(chart["title"]["subtitle"])
        assert "5 runs of ladders stand in tables of their own" in caption, name
    assert "8 of 8 planned runs" in " ".join(charts["mean-convergence"].to_dict()["title"]["subtitle"])


def test_every_figure_of_hostile_names_is_an_image_and_nothing_more(tmp_path):
    study = hostile()
    charts = study_figures(study, analyse(study), make_statements(study).order)
    assert {"mean-convergence", "score-intervals", "contrasts", "health", "gap-area"} <= set(charts)
    for name in ("score-intervals", "gap-area"):
        root = ET.parse(figures.write(charts[name], tmp_path / f"{name}.svg")).getroot()
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "img", "foreignObject", "image", "a"}
        assert any("onerror" in (element.text or "") for element in root.iter()) or name == "gap-area"


def test_facets_that_are_compared_share_a_scale_or_say_that_they_do_not():
    facetted = []
    for name, chart in study_figures(synthetic(), synthetic_analyses(), synthetic_said().order).items():
        spec = chart.to_dict()
        if any(kind in spec for kind in ("hconcat", "vconcat", "concat", "facet")):
            facetted.append(name)
            shared = spec.get("resolve", {}).get("scale", {}).get("y") == "shared"
            said = " ".join(spec["title"]["subtitle"])
            assert shared or "a scale of its own" in said, name
    assert {"health", "cutoff-sweep"} <= set(facetted)
