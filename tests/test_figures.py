import json

from gapline import figures
from gapline.report.drawing import style
from report.report_studies import synthetic


def test_charts_compose_and_are_styled_as_a_whole():
    study = synthetic()
    snapshot = study.references[0].snapshot
    one = figures.mean_convergence(study.envelopes, snapshot, bands=True)
    other = figures.attainment(study.envelopes, snapshot, goals=[0.01, 0.05])
    specification = style((one | other) & figures.final_gaps(study.scores[0])).to_dict()
    assert "config" in specification
    assert specification["vconcat"][0]["hconcat"][0]["layer"]
    assert "config" not in json.dumps(specification["vconcat"])
