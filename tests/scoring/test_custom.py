"""Kernels and statistics of the user's own: the same rules as ours, checked against definitions written here."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import UsageError
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.user_functions import load_kernel, run_statistic

MODULE = """
import numpy as np

def log_ratio(z, reference):
    return np.log(z / reference)
log_ratio.before = 3

def squeezed(z, reference):
    return (z - reference) / (z + reference)
squeezed.before = 1.0

def bare(z, reference):
    return z - reference

def endless(z, reference):
    return z - reference
endless.before = float("inf")

def crashes(z, reference):
    raise ValueError("no gap today")
crashes.before = 1.0

def last_improvement(time, objective, reference, horizon):
    return time[-1] if len(time) else horizon

def where_found(time, objective, reference, horizon):
    return time[0] if len(time) else None

def spoils(time, objective, reference, horizon):
    time[:] = 0.0
    objective[:] = reference
    return 0

def infinite(time, objective, reference, horizon):
    return float("inf")

def stumbles(time, objective, reference, horizon):
    return 1 / len(time)
"""


@pytest.fixture(scope="module", autouse=True)
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "gaps_of_tests.py").write_text(MODULE)
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))


def own_name(function):
    return f"python:gaps_of_tests:{function}"


RUNS = [
    {"arm": "a", "instance": "i", "panel": "p", "seed": 1, "horizon": 10.0, "trace": [(1, 30.0), (4, 12.0)]},
    {"arm": "a", "instance": "j", "panel": "q", "seed": 1, "horizon": 10.0, "trace": [(2, 50.0)]},
    {"arm": "a", "instance": "k", "panel": "q", "seed": 1, "horizon": 10.0, "trace": [(6, 50.0)]},
    {"arm": "b", "instance": "i", "panel": "p", "seed": 1, "horizon": 10.0, "trace": []},
]
SNAPSHOT = gl.Snapshot.from_values({"i": 10.0, "j": 40.0, "k": 40.0}, name="known")


def opened(*runs, **choices):
    return gl.open_study(gl.Campaign.from_runs(runs or RUNS), snapshots=[SNAPSHOT], **choices)


def test_a_kernel_scores_by_its_definition():
    study = opened(kernels=[own_name("log_ratio")])
    frame = study.scores[0].frame
    by_hand = {
        ("a", "i"): (3 * 1 + math.log(3) * 3 + math.log(1.2) * 6) / 10,
        ("a", "j"): (3 * 2 + math.log(1.25) * 8) / 10,
        ("a", "k"): (3 * 6 + math.log(1.25) * 4) / 10,
        ("b", "i"): 3.0,
    }
    for arm, instance, score in frame.select("arm", "instance", own_name("log_ratio")).iter_rows():
        assert score == pytest.approx(by_hand[arm, instance], rel=1e-14)
    # Panels alike: p has one instance, q two.
    mean = (by_hand["a", "i"] + (by_hand["a", "j"] + by_hand["a", "k"]) / 2) / 2
    assert dict(study.summary.frame.select("arm", own_name("log_ratio")).iter_rows())["a"] == pytest.approx(mean)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(11, 1e6)), max_size=6))
def test_our_own_kernel_written_by_a_user_gives_our_own_scores(trace):
    # The direction is stated: a drawn trace may rise.
    study = opened(RUNS[0] | {"trace": trace}, kernels=["squeezed", own_name("squeezed")], sense="min")
    ours, theirs = study.scores[0].frame.select("squeezed", own_name("squeezed")).row(0)
    assert theirs == pytest.approx(ours, rel=1e-12)
    curves = [gl.mean_curve(study.envelopes, SNAPSHOT, kernel=name).frame for name in study.kernels]
    assert np.allclose(curves[0]["value"].to_numpy(), curves[1]["value"].to_numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("bare", "expected its gap before the first incumbent, a finite number, got None"),
        ("endless", "expected its gap before the first incumbent, a finite number, got inf"),
        ("crashes", "ValueError: no gap today"),
    ],
)
def test_a_kernel_that_is_none_says_what_is_wrong(function, message):
    with pytest.raises(UsageError, match=message):
        _ = opened(kernels=[own_name(function)]).scores


def test_a_kernel_that_was_loaded_is_one_as_any_other():
    made = load_kernel(own_name("log_ratio"))
    assert parse_kernel(own_name("log_ratio")) == made
    assert made(20.0, 10.0) == pytest.approx(math.log(2))


def test_a_statistic_is_a_column_and_is_averaged_as_scores_are():
    name = own_name("last_improvement")
    study = opened(statistics=[name])
    assert study.scores[0].frame.select("arm", "instance", name).rows() == [
        ("a", "i", 4.0),
        ("a", "j", 2.0),
        ("a", "k", 6.0),
        ("b", "i", 10.0),
    ]
    assert dict(study.summary.frame.select("arm", name).iter_rows()) == {"a": 4.0, "b": 10.0}
    by_run = gl.summarise(study.scores[0], weighting="run").frame
    assert dict(by_run.select("arm", name).iter_rows())["a"] == pytest.approx(4.0)
    assert study.reading.statistics == (name,)
    assert [entry[0] for entry in study.reading.code] == [name]


def test_a_run_without_one_takes_the_mean_away_and_is_counted():
    name = own_name("where_found")
    study = opened(statistics=[name])
    assert dict(study.summary.frame.select("arm", name).iter_rows()) == {"a": 2.5, "b": None}
    assert f"{name} is None for 1 run: a group that has one has no mean of it" in study.notes()


def test_a_statistic_cannot_change_what_others_see():
    study = opened(statistics=[own_name("spoils")])
    assert study.scores[0].frame["squeezed"].to_list() == opened().scores[0].frame["squeezed"].to_list()
    assert study.envelopes.time.tolist() == opened().envelopes.time.tolist()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("infinite", "of a/i/1: expected a finite number or None, got inf"),
        ("stumbles", "of b/i/1: ZeroDivisionError: division by zero"),
        ("log_ratio", "of a/i/1: TypeError"),
    ],
)
def test_a_statistic_that_is_none_names_the_run(function, message):
    with pytest.raises(UsageError, match=message):
        _ = opened(statistics=[own_name(function)]).scores


def test_names_that_are_none_or_twice_are_refused():
    with pytest.raises(UsageError, match="statistics: expected python:MODULE:FUNCTION, got 'median'"):
        opened(statistics=["median"])
    name = own_name("last_improvement")
    with pytest.raises(UsageError, match="expected each once"):
        _ = opened(statistics=[name, name]).scores
    study = opened()
    with pytest.raises(UsageError, match=r"loaded by `gapline\.open_study`"):
        run_statistic("python:never:loaded", study.envelopes, np.ones(4))
