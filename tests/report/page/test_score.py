"""The arithmetic of the page by itself: the verdicts of Python where decimals decide, an error for what is unknown."""

import math
from importlib import resources

import numpy as np
import pytest

import gapline as gl
from gapline.contract.names import parse_weight
from gapline.contract.reading import TOLERANCE
from gapline.native.time_weights import weight_arrays
from gapline.scoring.kernels import parse_kernel

CASES = [
    (float(f"{whole * (100 + percent)}e{exponent - 2}"), float(f"{whole}e{exponent}"))
    for whole in (1, 3, 10, 100, 12345)
    for percent in (-1, 0, 1, 5, 9, 10, 11, 100)
    for exponent in (-3, 0, 1, 4)
]
WEIGHTS = ("uniform", "early-log:0.001", "end-log:0.001", "steps:0=1,3=0.25,20=2", "of the page")
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")


def office_hours(t):
    return 2.0 if 3 < t < 11 else math.exp(-t / 9)


gl.function_weight(office_hours, name="of the page")


def kernel_data(name):
    kernel = parse_kernel(name)
    return {"name": name, "kind": kernel.code.name.lower(), "before": kernel.before, "parameter": kernel.parameter,
            "tolerance": kernel.tolerance}  # fmt: skip


def weight_data(name):
    weight = parse_weight(name)
    edges, values = weight_arrays(weight, 30.0)
    return {"name": name, "kind": weight.code.name.lower(), "cutoff": weight.cutoff, "edges": edges.tolist(),
            "values": values.tolist()}  # fmt: skip


@pytest.fixture(scope="module")
def engine(browser):
    """Return a function that evaluates an expression over the functions of score.js and beaten.js."""
    folder = resources.files("gapline.report.page").joinpath("script")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("beaten.js", "score.js"))
    tab = browser.new_page()
    yield lambda expression, given=None: tab.evaluate(f"(given) => {{ {script}\nreturn {expression} }}", given)
    tab.close()


@pytest.mark.slow
def test_every_gap_is_pythons_to_the_last_bit(engine):
    for name in KERNELS:
        wanted = parse_kernel(name)([z for z, _ in CASES], [reference for _, reference in CASES])
        given = {"kernel": kernel_data(name), "cases": CASES}
        assert engine("given.cases.map(([z, r]) => gapOf(given.kernel, z, r))", given) == wanted.tolist()


@pytest.mark.slow
def test_goals_are_attained_as_in_python(engine):
    runs = [
        {"arm": "a", "instance": f"i{k:03}", "seed": 1, "horizon": 9, "trace": [(1, z)]}
        for k, (z, _) in enumerate(CASES)
    ]
    references = {f"i{k:03}": reference for k, (_, reference) in enumerate(CASES)}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    frame = gl.score(envelopes, gl.Snapshot.from_values(references, name="mine"), goals=[0.01, 0.1]).frame
    for goal in (0.01, 0.1):
        call = f"hittingTime({{ first: [0, 1], time: [1], objective: [z] }}, 0, 1, r, {goal}, {TOLERANCE})"
        found = engine(f"given.map(([z, r]) => Number.isFinite({call}))", CASES)
        assert found == np.isfinite(frame[f"hit:{goal:g}"].to_numpy()).tolist()
    beaten = engine(f"given.map(([z, r]) => isBeaten(z, r, {TOLERANCE}))", CASES)
    assert beaten == frame["beaten"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("weight", WEIGHTS)
def test_scores_are_pythons(engine, weight):
    traces = [[], [(0, 11.0)], [(0, 10.0), (30, 5.0)], [(30, 5.0)], [(0.7, 20.0), (3, 11.0)],
              [(0, 12.5), (4, 11.0), (5.5, 10.0), (29, 9.0)]]  # fmt: skip
    for name in KERNELS:
        for trace in traces:
            time, objective = [t for t, _ in trace], [z for _, z in trace]
            wanted = gl.primal_integral(time, objective, reference=10, horizon=30, kernel=name, weight=weight)
            given = {"steps": {"first": [0, len(trace)], "time": time, "objective": objective},
                     "more": {"kernel": kernel_data(name), "weight": weight_data(weight), "reference": 10,
                              "horizon": 30}}  # fmt: skip
            found = engine("scoreRun(given.steps, 0, given.steps.first[1], given.more)", given)
            if wanted is None:
                assert np.isnan(found), (name, trace)
            else:
                assert found == pytest.approx(wanted, rel=1e-13, abs=1e-15), (name, trace)
                assert np.signbit(found) == np.signbit(wanted)


def test_an_empty_run_scores_exactly_theta_minus_one_at_every_horizon(engine):
    given = {"kernel": kernel_data("dimacs:1.1"), "weight": weight_data("uniform"), "reference": 10}
    empty = "{ first: [0, 0], time: [], objective: [] }"
    call = f"scoreRun({empty}, 0, 0, {{ ...given, horizon: (k + 1) / 7 }})"
    assert set(engine(f"Array.from({{ length: 1000 }}, (_, k) => {call})", given)) == {1.1 - 1}
    # A first incumbent at the horizon itself leaves no time but that before it.
    last = call.replace(empty, "{ first: [0, 1], time: [(k + 1) / 7], objective: [5] }").replace("0, 0, {", "0, 1, {")
    assert set(engine(f"Array.from({{ length: 1000 }}, (_, k) => {last})", given)) == {1.1 - 1}


@pytest.mark.parametrize(
    ("call", "name"), [("gapOf({ name: 'n', kind: 'cubic' }, 1, 1)", "cubic"),
                       ("widthOf({ name: 'n', kind: 'lunar' }, 0, 1, 1)", "lunar")],
)  # fmt: skip
def test_an_unknown_kind_is_an_error(engine, call, name):
    message = engine(f"(() => {{ try {{ return {call} }} catch (error) {{ return error.message }} }})()")
    assert message.endswith(f"expected a kind that this page can compute, got {name}")
