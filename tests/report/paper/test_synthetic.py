from gapline.report.paper.sensitivity import synthetic_campaign, synthetic_snapshot


def test_the_built_in_campaign_is_the_same_everywhere():
    """The digest covers every number: a change of it changes the published figures."""
    assert synthetic_campaign().digest() == synthetic_campaign().digest()
    assert synthetic_snapshot().digest == "sha256:1848bee3a0100eec5a8a4c8187742eacbfe56a66e84a3416a01fdd40a70c7e60"
