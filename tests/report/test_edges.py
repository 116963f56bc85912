"""Studies at the edge: whatever there is to show is shown, and what does not exist is left out or said."""

import json

import pytest

import gapline as gl
from gapline.report.analysis_tables import study_tables
from gapline.report.facts import heading, make_statements
from gapline.report.figures.study import study_figures
from gapline.report.macros import study_macros
from gapline.report.paper.write import paper_figures
from gapline.report.statements.methods import methods_latex, methods_markdown
from gapline.report.write import results_document
from gapline.report.writers.latex import to_latex
from gapline.report.writers.latex_text import macro_file
from gapline.report.writers.markdown import to_markdown
from gapline.study.analyse import analyse
from report.report_studies import report_of

pytestmark = pytest.mark.slow


def runs(*rows, horizons=None):
    return [
        {"arm": arm, "instance": instance, "seed": 1, "panel": "p", "horizon": (horizons or {}).get(instance, 10.0),
         "trace": [(*step, True) for step in trace]}
        for arm, instance, trace in rows
    ]  # fmt: skip


def square(a, b):
    return runs(("a", "i", a), ("b", "i", b), ("a", "j", a), ("b", "j", b))


EDGES = {
    "one run": (runs(("a", "i", [(1, 12)])), {}),
    "all empty": (square([], []), {}),
    "all equal": (square([(0, 10)], [(0, 10)]), {}),
    "two horizons": (
        runs(("a", "i", [(1, 12)]), ("b", "i", []), ("a", "j", [(1, 12)]), ("b", "j", [(5, 11)]), horizons={"j": 20.0}),
        {},
    ),
    "raw alone": (square([(0, 12)], [(0, 11)]), {"kernels": ["raw"]}),
    "raw does not exist": (square([(1, 12)], [(0, 11)]), {"kernels": ["raw"]}),
    "unbalanced": (
        runs(("a", "i", [(1, 12)]), ("b", "i", [(0, 11)]), ("a", "j", [(0, 9)])),
        {"kernels": ["dimacs:1.1"], "goals": [0.0], "weight": "early-log:0.1", "weighting": "run"},
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_study_at_the_edge_has_its_report(name):
    rows, choices = EDGES[name]
    campaign = gl.Campaign.from_runs(rows)
    snapshot = gl.Snapshot.from_values(dict.fromkeys(("i", "j"), 10.0), name="mine")
    study = report_of(campaign, snapshot, draws=20, **choices)
    analyses = analyse(study)
    said = make_statements(study)
    charts = study_figures(study, analyses, said.order) | paper_figures(analyses, source=name)
    assert all(chart.to_dict() for chart in charts.values())
    for table in study_tables(study, analyses, said):
        assert "nan" not in to_markdown(table).lower()
        assert to_latex(table).count("\\begin{tabular}") >= 1
    assert macro_file(study_macros(analyses, said), heading(study))
    assert methods_markdown(said)
    assert methods_latex(said)
    json.dumps(results_document(study, analyses, said), allow_nan=False)
