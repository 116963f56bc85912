"""A bound, an optimum or an infeasibility that the solution of another run refutes; nothing else rings."""

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline as gl
from gapline.cli.app import run
from gapline.errors import UsageError
from gapline.references.alarms import AlarmKind
from gapline.references.contradictions import find_contradictions, find_stored_contradictions
from gapline.references.snapshot import Snapshot

COLUMNS = ("arm", "instance", "seed", "time", "objective", "valid", "bound", "claim", "horizon")


def campaign_of(*rows, **carried):
    """Build from (arm, instance, seed, time, objective, bound, claim) with horizon 10; objectives are valid."""
    table = [(a, i, s, t, z, None if z is None else True, b, c, 10.0) for a, i, s, t, z, b, c in rows]
    schema = dict(zip(COLUMNS, [pl.String, pl.String, pl.Int64, *[pl.Float64] * 2, pl.Boolean, pl.Float64, pl.String,
                                pl.Float64], strict=True))  # fmt: skip
    return gl.read(pl.DataFrame(table, schema=schema, orient="row").with_columns(**carried), allow_empty=True)


def alarms_of(*rows, tolerance=1e-9, transform=None, sense=None, signed=False, **carried):
    campaign = campaign_of(*rows, **carried)
    envelopes = gl.build_envelopes(campaign, transform=transform, sense=sense, signed=signed)
    return find_contradictions(campaign, envelopes, tolerance=tolerance)


def test_a_bound_that_another_arm_beats_names_both_sides():
    (alarm,) = alarms_of(("a", "i", 1, 1.0, 12.0, 11.0, None), ("b", "i", 2, 2.0, 10.0, None, None))
    assert alarm.kind is AlarmKind.BOUND
    assert str(alarm) == (
        "i: a run has a better solution than the dual bound of another allows: "
        "bound 11.0 (run a/i/1 at 1 s), got 10.0 (run b/i/2 at 2 s, valid by declared)"
    )
    assert alarm.document()["certificate"] == {
        "value": 11.0, "certified": False, "source": "run a/i/1 at 1 s", "arm": "a"
    }  # fmt: skip
    assert alarm.arms == {"a", "b"}


@pytest.mark.parametrize("transform", [None, "reciprocal:1", "negate-shift:100"])
@pytest.mark.parametrize(("bound", "rings"), [(11.0, True), (12.0, False), (13.0, False), (-3.0, True)])
def test_an_upper_bound_of_what_is_maximised(transform, bound, rings):
    rows = ("a", "i", 1, 1.0, None, bound, None), ("b", "i", 1, 2.0, 12.0, None, None)
    assert len(alarms_of(*rows, transform=transform, sense="max")) == rings


def test_a_bound_after_the_horizon_counts_and_a_late_or_rejected_solution_does_not():
    late = ("a", "i", 1, 11.0, None, 11.0, None)
    assert len(alarms_of(("a", "i", 1, 1.0, 12.0, None, None), late, ("b", "i", 1, 2.0, 10.0, None, None))) == 1
    assert alarms_of(late, ("b", "i", 1, 10.5, 10.0, None, None)) == []
    assert alarms_of(late, ("b", "i", 1, 2.0, 10.0, None, None), valid=pl.lit(False)) == []


def test_the_strongest_bound_counts_whatever_came_after_it():
    rows = [("a", "i", 1, float(k), None, bound, None) for k, bound in enumerate((8.0, 11.0, 9.0, 1e20, -1e30))]
    (alarm,) = alarms_of(*rows, ("b", "i", 1, 2.0, 10.0, None, None))
    assert (alarm.certificate.value, alarm.certificate.source) == (11.0, "run a/i/1 at 1 s")


def test_an_arm_is_named_once_per_instance_with_its_strongest_claim():
    rows = [("a", "i", seed, 1.0, None, 10.0 + seed, None) for seed in (1, 2, 3)]
    rows += [("b", "i", 1, 1.0, 9.0, 9.5, None), ("c", "i", 1, 1.0, None, None, "infeasible")]
    found = alarms_of(*rows)
    # b's own solution is below its bound, but that of no other run.
    assert [(one.kind, one.certificate.source) for one in found] == [
        (AlarmKind.BOUND, "run a/i/3 at 1 s"), (AlarmKind.INFEASIBLE, "run c/i/1"),
        (AlarmKind.OWN_BOUND, "run b/i/1 at 1 s"),
    ]  # fmt: skip


def test_another_seed_of_the_same_arm_is_another_run():
    (alarm,) = alarms_of(("a", "i", 1, 1.0, None, 11.0, None), ("a", "i", 2, 1.0, 10.0, None, None))
    assert alarm.other.source.startswith("run a/i/2")
    # The best of all is the claimant's own: the second best speaks.
    alarm, own = alarms_of(("a", "i", 1, 1.0, 9.0, 11.0, None), ("a", "i", 2, 1.0, 10.0, None, None))
    assert (alarm.certificate.source, alarm.other.value) == ("run a/i/1 at 1 s", 10.0)
    assert (own.kind, own.certificate.source, own.other.value) == (AlarmKind.OWN_BOUND, "run a/i/1 at 1 s", 9.0)


@pytest.mark.parametrize(
    ("objective", "bound", "sense", "rings"),
    [
        (100.0, 101.0, "min", True),
        (100.0, 99.0, "min", False),
        (100.0, 99.0, "max", True),
        (100.0, 101.0, "max", False),
        # Solvers stop within a millionth, on either side.
        (100.0, 100.00009, "min", False),
        (100.0, 100.00011, "min", True),
        (100.0, 99.99991, "max", False),
        (100.0, 99.99989, "max", True),
    ],
)
def test_a_run_that_contradicts_itself_rings(objective, bound, sense, rings):
    """Its dual bound is beyond its own incumbent, whichever of the two it printed first."""
    for times in ((1.0, 2.0), (2.0, 1.0)):
        rows = ("a", "i", 1, times[0], objective, None, None), ("a", "i", 1, times[1], None, bound, None)
        found = alarms_of(*rows, sense=sense)
        assert [alarm.kind for alarm in found] == [AlarmKind.OWN_BOUND] * rings
    # The digits that a log does not print are no contradiction.
    assert alarms_of(*rows, sense=sense, bound_resolution=pl.lit(3.0)) == []


def test_a_run_that_contradicts_itself_is_an_alarm_of_the_study(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,horizon,bound\na,i,1,1,100,9,\na,i,1,2,,9,105\n")
    assert run(["score", str(tmp_path / "t.csv"), "--policy", "analysis"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "i: a run has a better solution than its own dual bound allows: bound 105.0 (run a/i/1 at 2 s)" in shown


def test_infeasible_is_contradicted_by_any_accepted_solution():
    claim = ("a", "i", 1, None, None, None, "infeasible")
    (alarm,) = alarms_of(claim, ("b", "i", 1, 1.0, 10.0, None, None))
    assert str(alarm) == (
        "i: a run has a solution of what another calls infeasible: infeasible (run a/i/1), "
        "got 10.0 (run b/i/1 at 1 s, valid by declared)"
    )
    assert alarm.document()["certificate"]["value"] is None
    assert alarms_of(claim, ("b", "j", 1, 1.0, 10.0, None, None)) == []
    assert alarms_of(claim, ("b", "i", 1, 11.0, 10.0, None, None)) == []


def test_a_claimed_optimum_is_contradicted_unless_its_bound_leaves_room():
    better = ("b", "i", 1, 1.0, 10.0, None, None)
    (alarm,) = alarms_of(("a", "i", 1, 1.0, 10.5, None, "optimal"), better)
    assert (alarm.kind, alarm.certificate.value) == (AlarmKind.OPTIMUM, 10.5)
    # Solvers stop within a gap and call that optimal: their bound says what they have proven.
    assert alarms_of(("a", "i", 1, 1.0, 10.5, 9.9, "optimal"), better) == []
    (alarm,) = alarms_of(("a", "i", 1, 1.0, 10.5, 10.2, "optimal"), better)
    assert (alarm.kind, alarm.certificate.value) == (AlarmKind.BOUND, 10.2)
    assert alarms_of(("a", "i", 1, 1.0, 10.5, None, "finished"), better) == []
    assert alarms_of(("a", "i", 1, None, None, None, "optimal"), better) == []


def test_a_rejected_candidate_is_still_what_its_solver_claims():
    """The checker refused 8, so that nothing says whether 10 contradicts it."""
    rows = ("a", "i", 1, 1.0, 8.0, None, "optimal"), ("b", "i", 1, 1.0, 10.0, None, None)
    assert alarms_of(*rows, valid=pl.col("arm") == "b") == []


def test_the_word_of_a_solver_rings_too_and_says_whose_it_is():
    rows = ("a", "i", 1, 1.0, 12.0, 11.0, None), ("b", "i", 1, 2.0, 10.0, None, None)
    (alarm,) = alarms_of(*rows, validation=pl.lit("solver"))
    assert alarm.other.source.endswith("valid by solver")


@pytest.mark.parametrize(("unit", "rings"), [(0.0, True), (1.0, True), (3.0, False)])
@pytest.mark.parametrize("name", ["bound_resolution", "value_resolution"])
def test_digits_that_are_not_printed_are_no_contradiction(name, unit, rings):
    rows = ("a", "i", 1, 1.0, 12.0, 11.0, None), ("b", "i", 2, 2.0, 10.0, None, None)
    assert len(alarms_of(*rows, **{name: pl.lit(unit)})) == rings


@pytest.mark.parametrize(
    ("excess", "unit", "tolerance", "rings"),
    [
        # Relative to a bound of 10: solvers agree within 1e-6, whatever the contract calls equal objectives.
        (5e-6, None, 1e-9, False), (2e-5, None, 1e-9, True), (2e-5, None, 1e-5, False), (2e-4, None, 1e-5, True),
        # The larger of tolerance and print counts, not their sum; of the print, half a unit of each number.
        (2e-5, 1e-3, 1e-9, False), (1.5e-3, 1e-3, 1e-9, True), (1.5e-5, 1.2e-5, 1e-9, True),
        (1.5e-5, 1.2e-5, 1e-5, False),
    ],
)  # fmt: skip
def test_a_contradiction_exceeds_the_tolerance_of_solvers_and_the_printed_digits(excess, unit, tolerance, rings):
    rows = ("a", "i", 1, 1.0, None, 10.0, None), ("b", "i", 1, 2.0, 10.0 - excess, None, None)
    digits = {name: pl.lit(unit, pl.Float64) for name in ("bound_resolution", "value_resolution")}
    assert len(alarms_of(*rows, tolerance=tolerance, **digits)) == rings


def test_signed_scales_and_two_levels():
    rows = ("a", "i", 1, 1.0, None, -3.0, None), ("b", "i", 1, 2.0, -5.0, None, None)
    assert len(alarms_of(*rows, signed=True)) == 1
    assert alarms_of(rows[1], ("a", "i", 1, 1.0, None, -6.0, None), signed=True) == []
    # Zero is where a relative tolerance ends, and rounding does not.
    noise = ("a", "i", 1, 1.0, None, 0.0, None), ("b", "i", 1, 2.0, -1e-13, None, None)
    assert alarms_of(*noise, signed=True) == []
    assert len(alarms_of(noise[0], ("b", "i", 1, 2.0, -1e-5, None, None), signed=True)) == 1
    levels = {"primary": pl.lit(2.0), "secondary": pl.lit(3.0)}
    two = ("a", "i", 1, 1.0, 50.0, 1e6, None), ("b", "i", 1, 1.0, 10.0, None, None)
    assert alarms_of(*two, transform="hierarchical:10", **levels) == []
    claims = alarms_of(*two, ("c", "i", 1, 1.0, None, None, "infeasible"), transform="hierarchical:10", **levels)
    assert [alarm.kind for alarm in claims] == [AlarmKind.INFEASIBLE]


def test_envelopes_of_other_runs_are_refused():
    campaign = campaign_of(("a", "i", 1, 1.0, 12.0, 11.0, None), ("b", "i", 1, 2.0, 10.0, None, None))
    part = gl.build_envelopes(campaign).select(pl.col("arm") == "a")
    with pytest.raises(UsageError, match="the campaign the envelopes were built from"):
        find_contradictions(campaign, part)
    assert len(gl.open_study(campaign, policy="analysis").alarms) == 1


def printed(value: float, digits: int) -> tuple[float, float]:
    """Round to significant digits as a log does; return the print and the unit of its last digit."""
    text = f"{value:.{digits - 1}e}"
    unit = 10.0 ** (int(text.partition("e")[2]) - digits + 1)
    return float(text), unit


@st.composite
def consistent(draw):
    """Draw optima, and runs whose solutions and bounds lie on their sides of them, all rounded to some digits."""
    sense = draw(st.sampled_from(["min", "max"]))
    digits = draw(st.sampled_from([3, 5, 7, 12]))
    sign = -1.0 if sense == "max" else 1.0
    rows, units = [], []
    for instance in "ijk":
        optimum = draw(st.floats(1.0, 1e6))
        for arm in "abc":
            worse = draw(st.floats(0.0, 0.4)) * optimum
            weaker = draw(st.floats(0.0, 0.4) | st.just(0.0)) * optimum
            (value, unit), (bound, coarse) = (
                printed(optimum + side * sign * by, digits) for side, by in ((1, worse), (-1, weaker))
            )
            claim = "optimal" if worse == 0 and draw(st.booleans()) else None
            has_bound = draw(st.booleans())
            if draw(st.booleans()):
                rows.append((arm, instance, 1, 1.0, value, bound if has_bound else None, claim))
                units.append((unit, coarse))
            elif has_bound:
                rows.append((arm, instance, 1, 11.0, None, bound, None))
                units.append((unit, coarse))
    return sense, rows, units


ROUNDED_UP = [("a", "i", 1, 1.0, 1.24, 1.24, "optimal"), ("b", "i", 1, 1.0, 1.2351, None, None)]


@example(("min", ROUNDED_UP, [(0.01, 0.01)] * 2))
@given(consistent())
def test_consistent_runs_ring_no_alarm_however_they_are_rounded(drawn):
    sense, rows, units = drawn
    if not rows:
        return
    resolutions = {
        name: pl.Series([pair[place] for pair in units])
        for place, name in enumerate(("value_resolution", "bound_resolution"))
    }
    for transform in (None, "shift:5") if sense == "min" else (None, "reciprocal:3"):
        assert alarms_of(*rows, sense=sense, transform=transform, **resolutions) == []


values = st.integers(5, 15).map(float)


@st.composite
def any_rows(draw):
    rows = []
    for arm in "ab":
        for seed in (1, 2):
            for instance in "ij":
                value, bound = draw(st.none() | values), draw(st.none() | values)
                claim = draw(st.sampled_from([None, None, "optimal", "infeasible"]))
                time = None if value is None and bound is None else 1.0
                rows.append((arm, instance, seed, time, value, bound, claim))
    return rows


@given(any_rows(), st.sampled_from(["min", "max"]))
def test_it_rings_where_the_definition_says_so(rows, sense):
    """By every pair of runs, in fractions: no cleverness about which solution or which claim comes first."""
    turn = -1 if sense == "max" else 1
    expected, own = set(), set()
    for a, i, s, _, z, b, c in rows:
        if None not in (z, b) and c != "infeasible" and turn * z < turn * b:
            own.add((i, a))
        for a2, i2, s2, _, z2, _, _ in rows:
            if i2 != i or (a2, s2) == (a, s) or z2 is None:
                continue
            limit = b if b is not None else z if c == "optimal" else None
            if c == "infeasible" or (limit is not None and turn * Fraction(z2) < turn * Fraction(limit)):
                expected.add((i, a))
    found = alarms_of(*rows, sense=sense)
    named = [(one.kind is AlarmKind.OWN_BOUND, one.instance, one.certificate.source[4:5]) for one in found]
    assert set(named) == {(False, *one) for one in expected} | {(True, *one) for one in own}
    assert len(found) == len(expected) + len(own)
    assert all(math.isfinite(one.other.value) for one in found)


def stored(values, **options):
    return Snapshot.from_values(values, name="stored", **options)


def bound_alarms(rows, snapshot, **options):
    table = pl.DataFrame(
        [
            {"arm": arm, "instance": "i", "seed": 1, "horizon": 9.0, "time": 1.0, "objective": value, "bound": bound}
            for arm, value, bound in rows
        ],
        schema_overrides={"bound": pl.Float64},
    )
    campaign = gl.read(table)
    return find_stored_contradictions(campaign, gl.build_envelopes(campaign), [snapshot], **options)


@pytest.mark.parametrize(
    ("value", "bound", "rings"),
    [
        (20.0, 22.0, True), (20.0, 20.0, False), (20.0, 19.0, False),
        # A whole number may stand for half a unit more, 524.61 for 524.615: what is inside of that is the print.
        (20.0, 20.4, False), (20.0, 20.6, True), (524.61, 524.614, False), (524.61, 524.616, True),
    ],
)  # fmt: skip
def test_a_bound_is_held_against_stored_values(value, bound, rings):
    for certified in ([], ["i"]):
        found = bound_alarms([("a", 600.0, bound)], stored({"i": value}, certified=certified))
        assert [alarm.kind for alarm in found] == [AlarmKind.STORED_BOUND] * rings
        for alarm in found:
            assert (alarm.certificate.value, alarm.other.value) == (bound, value)
            assert alarm.other.certified is bool(certified)


def test_the_strongest_bound_of_each_arm_rings_once():
    found = bound_alarms([("a", 600.0, 22.0), ("b", 600.0, 30.0), ("c", 600.0, None)], stored({"i": 20.0}))
    assert [alarm.certificate.source for alarm in found] == ["run a/i/1 at 1 s", "run b/i/1 at 1 s"]


def test_claims_are_held_against_stored_values_too():
    runs = [
        {
            "arm": "a",
            "instance": "i",
            "seed": 1,
            "horizon": 9.0,
            "time": None,
            "objective": None,
            "claim": "infeasible",
        },
        {"arm": "b", "instance": "i", "seed": 1, "horizon": 9.0, "time": 1.0, "objective": 25.0, "claim": "optimal"},
    ]
    campaign = gl.read(pl.DataFrame(runs))
    envelopes = gl.build_envelopes(campaign)
    found = find_stored_contradictions(campaign, envelopes, [stored({"i": 20.0, "other": 1.0})])
    assert [alarm.kind for alarm in found] == [AlarmKind.STORED_INFEASIBLE, AlarmKind.STORED_OPTIMUM]
    assert find_stored_contradictions(campaign, envelopes, [stored({"other": 1.0})]) == []


def test_what_is_maximised_turns_round():
    table = pl.DataFrame(
        {"arm": ["a"], "instance": "i", "seed": 1, "horizon": 9.0, "time": 1.0, "objective": 10.0, "bound": 15.0,
         "sense": "max"}
    )  # fmt: skip
    campaign = gl.read(table)
    envelopes = gl.build_envelopes(campaign)
    assert find_stored_contradictions(campaign, envelopes, [stored({"i": 15.0})]) == []
    (alarm,) = find_stored_contradictions(campaign, envelopes, [stored({"i": 17.0})])
    assert (alarm.certificate.value, alarm.other.value) == (15.0, 17.0)
