"""Two arms against each other: verdicts, and what is refused."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import GaplineError, MixedScoresError, UsageError
from gapline.report.facts import make_statements
from gapline.study.comparison import Side, compare, compare_sides, find_arm

SNAPSHOT = gl.Snapshot.from_values({f"{p}{k}": 10.0 for p in "pq" for k in range(8)}, name="mine")


def side(
    shift=0.0,
    *,
    source="study",
    arm="a",
    horizon=10.0,
    snapshot=SNAPSHOT,
    instances=8,
    machine=None,
    facts=None,
    **choices,
):
    rng = np.random.default_rng(1)
    runs = []
    for panel in "pq":
        for k in range(instances):
            for seed in range(2):
                run = {"arm": arm, "panel": panel, "instance": f"{panel}{k}", "seed": seed, "horizon": horizon}
                if machine:
                    run["machine"] = machine
                runs.append(run | {"trace": [(rng.random() * 2 + shift * (1 + 0.005 * (k - 3.5)), 30.0)]})
    campaign = gl.Campaign.from_runs(runs)
    if facts:
        from dataclasses import replace

        campaign = replace(campaign, facts=facts)
    return Side(source, arm, gl.open_study(campaign, snapshots=[snapshot], **({"draws": 200} | choices)))


def test_later_is_worse_earlier_is_better_and_equal_shows_nothing():
    old = side()
    assert compare_sides(old, side(1.0, source="new")).verdict == "worse"
    assert compare_sides(side(1.0, source="new"), old).verdict == "better"
    assert compare_sides(old, side(0.0, source="new")).verdict == "no difference shown"


def test_an_interval_without_zero_is_no_verdict_where_p_shows_nothing():
    """The percentile bootstrap of a skew difference; headline and contrasts ask for p too."""
    late = {f"p{k}": 0.2 for k in range(8)} | {"q0": 6.0}
    runs = [
        {"arm": arm, "instance": name, "seed": 1, "horizon": 10.0, "trace": [(1.0 + delay * (arm == "b"), 11.0)]}
        for arm in "ab"
        for name, delay in late.items()
    ]
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[SNAPSHOT], interval="percentile", draws=2000)
    found = compare_sides(Side("study", "a", study), Side("study", "b", study))
    assert found.low > 0
    assert found.p > 0.05
    assert found.verdict == "no difference shown"
    assert make_statements(study).headline.text.startswith("No significant difference between a and b")


def test_an_integrity_alarm_lets_nothing_be_called_better_or_worse():
    proven = gl.Snapshot.from_values(dict.fromkeys(SNAPSHOT.values, 10.0) | {"p0": 40.0}, name="mine", certified=["p0"])
    found = compare_sides(side(snapshot=proven), side(1.0, source="new", snapshot=proven))
    assert found.alarms
    assert found.low > 0
    assert found.verdict == "no verdict under an integrity alarm"


def test_the_difference_is_second_minus_first_in_score_units():
    found = compare_sides(side(), side(1.0, source="new"))
    assert found.difference == pytest.approx(0.05)
    assert 0.049 < found.low < 0.05 < found.high < 0.051
    assert found.frame["difference"].to_list() == pytest.approx([0.05, 0.05])
    assert found.frame["losses"].to_list() == [8, 8]
    assert found.means[1] - found.means[0] == pytest.approx(0.05)


def test_failing_needs_the_whole_interval_beyond_the_limit():
    found = compare_sides(side(), side(1.0, source="new"))
    assert found.gate(0.049).because == "worse by more than 0.049"
    assert found.gate(0.051).because is None
    assert compare_sides(side(), side(0.0, source="new")).gate(0.002).because is None


def test_two_snapshots_are_refused_by_name():
    other = gl.Snapshot.from_values({f"{p}{k}": 9.0 for p in "pq" for k in range(8)}, name="newer")
    with pytest.raises(MixedScoresError, match=r"snapshots differ: study:a is judged against mine .*newer"):
        compare_sides(side(), side(source="new", snapshot=other))


def test_two_horizons_are_refused_by_instance():
    with pytest.raises(MixedScoresError, match=r"horizons differ on 16 instances: p0 \(10 s and 12 s\)"):
        compare_sides(side(), side(source="new", horizon=12.0))


def test_two_checkers_are_refused_and_a_silent_one_is_noted():
    one, other = side(facts={"checker": "ref 1.0"}), side(source="new", facts={"checker": "ref 1.1"})
    with pytest.raises(MixedScoresError, match=r"checkers differ: study:a by ref 1.0, new:a by ref 1.1"):
        compare_sides(one, other)
    assert any("only one side names its checker" in note for note in compare_sides(one, side(source="new")).notes)


def test_a_differing_machine_is_flagged_on_every_line():
    found = compare_sides(side(machine="old box"), side(source="new", machine="new box"))
    assert found.machine_differs
    assert found.frame["machine_differs"].all()
    assert not compare_sides(side(machine="box"), side(source="new", machine="box")).machine_differs
    by_facts = compare_sides(side(facts={"machine": "x"}), side(source="new", facts={"machine": "y"}))
    assert by_facts.machine_differs


def test_only_common_instances_are_compared_and_it_says_so():
    found = compare_sides(side(), side(1.0, source="new", instances=5))
    assert found.instances == 10
    assert any("compared on the 10 instances that both ran; 6 others" in note for note in found.notes)


def test_one_instance_has_a_reason_and_cannot_pass_a_gate():
    found = compare_sides(side(instances=1), side(1.0, source="new", instances=1))
    assert (found.verdict, found.low) == ("no difference shown", None)
    assert found.reason.startswith("every panel has one instance")
    with pytest.raises(GaplineError, match="expected an interval"):
        found.gate(0.002)


def test_berthold_beyond_its_envelope_says_nothing_of_two_arms_and_passes_no_gate():
    """Only runs of the two count: the reference that a third arm beats is none of their matter."""
    ends = {"a": (12.0, 13.0), "b": (9.5, 12.5), "c": (12.5, 14.0)}
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 10.0, "trace": [(1.0, end + 0.1 * k)]}
        for arm, pair in ends.items()
        for k, end in enumerate((*pair, 12.0, 14.0))
    ]
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(4)}, name="mine")
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], kernels=["berthold"], draws=50)
    sides = {arm: Side("study", arm, study) for arm in ends}
    found = compare_sides(sides["a"], sides["b"])
    why = "berthold counts beating the reference as a loss, and 1 run beat it: shown, not ranked"
    assert (found.verdict, found.reason, found.p, found.low, found.high) == ("no difference shown", why, *[None] * 3)
    assert set(found.frame["reason"]) == {why}
    assert found.difference is not None
    with pytest.raises(GaplineError, match="berthold counts beating the reference as a loss"):
        found.gate(0.1)
    assert compare_sides(sides["a"], sides["c"]).p is not None
    assert found.reading.instance_set.arms == ("study:a", "study:b")
    assert found.reading.instance_set.instances == 4


def test_the_same_arm_twice_and_unknown_arms_are_refused():
    with pytest.raises(UsageError, match="twice"):
        compare_sides(side(), side())
    with pytest.raises(UsageError, match="expected an arm of it"):
        find_arm(side().study, "study", "zz")
    assert find_arm(side().study, "study", None) == "a"


def test_a_gate_fails_on_missing_runs_unless_it_is_told_not_to():
    found = compare_sides(side(), side(source="new", instances=5))
    assert len(found.absent) == 12
    gate = found.gate(0.002)
    assert gate.failed
    assert gate.because.startswith("12 runs are missing: new:a p5/0 (not there)")
    assert not found.gate(0.002, allow_missing=True).failed


def test_solutions_of_instances_that_one_arm_alone_ran_let_no_gate_pass():
    """Both found nothing on the two instances that both ran: that is no tie of two arms that work."""
    runs = [
        {"arm": arm, "instance": f"p{k}", "seed": 1, "horizon": 10.0, "trace": trace}
        for arm, instances in {"a": (0, 1, 2, 3), "b": (0, 1)}.items()
        for k in instances
        for trace in ([(1.0, 30.0)] if k > 1 else [],)
    ]
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[SNAPSHOT])
    found = compare_sides(Side("study", "a", study), Side("study", "b", study))
    assert (found.instances, found.empty) == (2, True)
    assert found.gate(0.1, allow_missing=True).because == "no run found a solution"


def test_tier_two_is_never_compared():
    with pytest.raises(UsageError, match="study:a of tier 2"):
        compare_sides(side(tier_two=["a"]), side(source="new"))


def test_declared_choices_that_differ_are_refused_by_name():
    with pytest.raises(MixedScoresError, match="contracts differ in weight: study declares uniform, new declares"):
        compare_sides(side(), side(source="new", weight="early-log:0.5"))
    with pytest.raises(UsageError, match="one folded from each"):
        compare_sides(side(policy="analysis"), side(1.0, source="new", policy="analysis"))


def test_a_bound_of_one_source_that_a_solution_of_the_other_refutes_rings(tmp_path):
    """Both sources have a run of the same name; alone neither contradicts itself."""
    rows = {"arm": "s", "instance": ["i", "j", "k"], "seed": 1, "horizon": 9.0, "time": 1.0}
    for name, objective, bound in (("old", [12.0, 12.0, 13.0], [11.0, 9.0, 9.0]), ("new", [10.0, 11.0, 12.5], None)):
        pl.DataFrame(rows | {"objective": objective, "bound": bound or [None] * 3}).write_csv(tmp_path / f"{name}.csv")
    refs = gl.Snapshot.from_values({"i": 12.0, "j": 9.0, "k": 9.0}, name="refs")
    old, new = (str(tmp_path / f"{name}.csv") for name in ("old", "new"))
    found = compare(old, new, snapshots=[refs])
    assert len(found.alarms) == 1
    assert str(found.alarms[0]).startswith("i: ")
    assert f"bound 11.0 ({old}: run s/i/1" in str(found.alarms[0])
    assert f"got 10.0 ({new}: run s/i/1" in str(found.alarms[0])
    assert [alarm.instance for alarm in compare(new, old, snapshots=[refs]).alarms] == ["i"]
