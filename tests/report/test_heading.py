from gapline.contract.version import VERSION
from gapline.report.facts import heading
from report.report_studies import synthetic


def test_a_file_names_version_campaign_and_every_reference():
    study = synthetic()
    first, *rest = heading(study)
    assert first == f"gapline {VERSION}; campaign {study.campaign_digest}"
    assert [line.rpartition(": ")[2] for line in rest] == [entry.snapshot.digest for entry in study.references]
    assert len(rest) == 2
