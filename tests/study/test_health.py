"""Health of a campaign: every count is what was planted or written by hand."""

import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.study.health import completeness, health, ladder_columns
from planted import EXPECTED as WANT
from study.edge_runs import CASES, run


def test_health_counts_what_was_planted(document):
    rows = {row["arm"]: row for row in document["health"]}
    for count in ("rejected", "terminal_invalid", "empty", "late", "crashed"):
        assert {arm: row[count] for arm, row in rows.items()} == WANT[count]
    assert all(row["runs"] == 1760 and row["captured"] == 12 * 1760 and row["unchecked"] == 0 for row in rows.values())
    assert rows["gamma"]["rejected_by_reason"] == {"declared invalid": 109}


def test_no_cell_is_missing(document):
    assert len(document["completeness"]) == 50
    assert all(row["missing"] == 0 for row in document["completeness"])
    assert sum(row["present"] for row in document["completeness"]) == WANT["runs"]


def test_health_follows_a_ladder():
    # A column of earlier versions says something of the machine: it is no setting.
    facts = [{"slices": 24 * (s % 2 + 1), "calibration": 1.0 + s % 2} for s in range(4)]
    rows = [run("a", "i", s, [(1, 5.0, s % 2 == 0)], **facts[s]) for s in range(4)]
    campaign = gl.Campaign.from_runs(rows)
    envelopes = gl.build_envelopes(campaign)
    assert ladder_columns(envelopes.runs) == ["slices"]
    frame = health(campaign, envelopes, by=["arm", "slices"]).frame
    assert frame.select("slices", "runs", "rejected", "terminal_invalid", "empty").rows() == [
        (24, 2, 0, 0, 0), (48, 2, 2, 2, 2),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="columns of the runs table"):
        health(campaign, envelopes, by="colour")


def test_health_counts_rejections_by_reason_also_after_a_filter():
    from gapline.campaign.assembly import RunTrace, campaign_from_traces

    traces = [
        RunTrace(
            [1.0, 2.0],
            [5.0, 4.0],
            verdict=[0, 0],
            horizon=9.0,
            reason=["capacity", "time window"],
            arm="a",
            instance="i",
            seed=1,
        ),
        RunTrace(
            [1.0, 2.0], [5.0, 4.0], verdict=[0, 1], horizon=9.0, reason=["capacity", ""], arm="a", instance="j", seed=1
        ),
        RunTrace([1.0], [5.0], verdict=[1], horizon=9.0, arm="b", instance="i", seed=1),
    ]
    whole = campaign_from_traces(traces)
    found = health(whole, gl.build_envelopes(whole))
    assert found.reasons.rows() == [("a", "capacity", 2), ("a", "time window", 1)]
    part = whole.filter(instance="j")
    assert health(part, gl.build_envelopes(part)).reasons.rows() == [("a", "capacity", 1)]
    with pytest.raises(UsageError, match="other runs"):
        health(whole, gl.build_envelopes(part))


def test_completeness_names_the_missing_cells():
    campaign = gl.Campaign.from_runs(CASES["unbalanced"])
    study = gl.open_study(campaign, policy="analysis")
    frame = completeness(study.cells, study.envelopes.runs)
    rows = {(row["arm"], row["panel"]): row for row in frame.to_dicts()}
    assert (rows["a", "p"]["expected"], rows["a", "p"]["present"]) == (3, 3)
    assert (rows["b", "p"]["present"], rows["b", "p"]["missing"]) == (1, 2)
    assert (rows["a", "q"]["present"], rows["a", "q"]["missing"]) == (0, 1)
