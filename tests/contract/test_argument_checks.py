"""What a caller hands over by mistake is named in our words, with the call that makes the one of the other."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.contract.argument_checks import expect, several
from gapline.errors import UsageError

RUNS = [
    {"arm": arm, "instance": instance, "seed": seed, "horizon": 10.0, "trace": [(1.0 + shift, 12.0), (3.0, 11.0)]}
    for shift, arm in enumerate("ab")
    for instance in ("i", "j")
    for seed in (1, 2)
]
CAMPAIGN = gl.Campaign.from_runs(RUNS)
ENVELOPES = gl.build_envelopes(CAMPAIGN)
VALUES = {"i": 10.0, "j": 10.0}
SNAPSHOT = gl.Snapshot.from_values(VALUES, name="given")
SCORES = gl.score(ENVELOPES, SNAPSHOT)


@pytest.mark.parametrize(
    ("call", "said", "hint"),
    [
        (
            lambda: gl.score(CAMPAIGN, SNAPSHOT),
            "score: expected Envelopes, got Campaign",
            "gl.build_envelopes(campaign)",
        ),
        (lambda: gl.score("a.csv", SNAPSHOT), "score: expected Envelopes, got str", "gl.build_envelopes(gl.read(…))"),
        (lambda: gl.score(ENVELOPES, None), "references: expected Snapshot, got nothing", None),
        (lambda: gl.score(ENVELOPES, {}), "references: expected a value by instance, got none", None),
        (lambda: gl.score(ENVELOPES, SNAPSHOT, kernels=3), "kernel: expected a name such as squeezed, got 3", None),
        (lambda: gl.mean_curve(CAMPAIGN, SNAPSHOT), "mean_curve: expected Envelopes, got Campaign", "gl.build_env"),
        (lambda: gl.attainment_curve(CAMPAIGN, SNAPSHOT), "attainment_curve: expected Envelopes", "gl.build_env"),
        (lambda: gl.curve_bands(CAMPAIGN, SNAPSHOT), "curve_bands: expected Envelopes, got Campaign", "gl.build_env"),
        (lambda: gl.complementarity(CAMPAIGN, SNAPSHOT), "complementarity: expected Envelopes", "gl.build_env"),
        (lambda: gl.horizon_sweep(CAMPAIGN, SNAPSHOT), "horizon_sweep: expected Envelopes", "gl.build_env"),
        (lambda: gl.analysis_snapshot(SNAPSHOT, CAMPAIGN), "analysis_snapshot: expected Envelopes", "gl.build_env"),
        (
            lambda: gl.summarise(ENVELOPES),
            "summarise: expected Scores, got Envelopes",
            "gl.score(envelopes, references)",
        ),
        (lambda: gl.summarise([SCORES, CAMPAIGN]), "summarise: expected Scores, got Campaign", "gl.score(gl.build"),
        (lambda: gl.contrasts(ENVELOPES), "expected Scores, got Envelopes", "gl.score(envelopes, references)"),
        (lambda: gl.ranking(SCORES.frame), "expected Scores, got DataFrame", "gl.score(gl.build_envelopes(gl.read(…))"),
        (lambda: gl.power_table(ENVELOPES, pairs=[("a", "b")]), "power_table: expected Scores", "gl.score(env"),
        (lambda: gl.build_envelopes("a.csv"), "build_envelopes: expected Campaign, got str", "gl.read(…)"),
        (lambda: gl.merge([SCORES]), "merge: expected Campaign, got Scores", None),
        (
            lambda: gl.analyse(CAMPAIGN),
            "analyse: expected Study, got Campaign",
            "gl.open_study(camp",
        ),
        (lambda: gl.write_report(ENVELOPES, "x"), "write_report: expected Study, got Envelopes", "gl.open_study(camp"),
        (lambda: gl.compare(CAMPAIGN, CAMPAIGN), "compare: expected SOURCE:ARM, got Campaign", "gl.contrasts(scores)"),
        (lambda: gl.read(ENVELOPES), "read: expected traces, got Envelopes, which is made of them", None),
    ],
)
def test_a_wrong_kind_is_named_with_the_way_to_the_right_one(call, said, hint):
    with pytest.raises(UsageError) as caught:
        call()
    assert said in caught.value.message
    assert (caught.value.hint is None) if hint is None else (caught.value.hint or "").startswith(hint)


def test_one_kernel_or_goal_needs_no_list():
    assert gl.score(ENVELOPES, VALUES, kernels="dimacs:1.1", goals=0.05).reading.kernels == ("dimacs:1.1",)
    assert gl.attainment_curve(ENVELOPES, VALUES, goals=0.05).reading.goals == (0.05,)
    study = gl.open_study(CAMPAIGN, references=VALUES, kernels="maxform", goals=0.2, tier_two="b")
    assert (study.kernels, study.goals, study.tier_two) == (("maxform",), (0.2,), ("b",))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("ab", ["ab"]), (0.5, [0.5]), (np.float64(0.5), [0.5]), (np.array([1.0, 2.0]), [1.0, 2.0]), ((), []),
        (pl.Series(["a"]), ["a"]), ({"i": 1.0}, [{"i": 1.0}]), (SNAPSHOT, [SNAPSHOT]), (iter("ab"), ["a", "b"]),
    ],
)  # fmt: skip
def test_one_or_several(given, wanted):
    assert several(given) == wanted


def test_what_is_right_comes_back():
    assert expect(SCORES, gl.Scores, "x") is SCORES
