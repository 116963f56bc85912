from itertools import pairwise

from gapline.report.figures.distributions import profile_figure
from report.report_studies import synthetic, synthetic_analyses


def test_a_profile_rises_and_keeps_every_instance_in_its_denominator():
    study, analyses = synthetic(), synthetic_analyses()
    profile = profile_figure(analyses.profile, study.scores[0].reference)
    assert profile.data["value"].max() <= 1.0
    assert all(a <= b for part in profile.data.partition_by("series") for a, b in pairwise(part["value"]))
