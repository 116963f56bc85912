"""The grammar of kernel and weight names: what the contract refuses is what scoring refuses."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.contract.mistakes import cross_mistakes
from gapline.contract.names import KERNELS, WEIGHTS, KernelCode, parse_kernel_name, parse_weight, split_python_name
from gapline.errors import UsageError

numbers = st.sampled_from(
    ["", "0", "-1", "0.5", "1", "1.0", "1.1", "2", "1e-3", "nan", "inf", "x", "1_1", " 1.1", "30"]
)
# A function of the user's own is one more question: the contract takes its name, and its code is loaded or not.
BUILT_IN = [name for name in KERNELS if not name.startswith("python:")]
NO_NAMES = ["squezed", "dimacs", "", "python:", "python:m", "python:a b:f", "python:m:f:g"]
kernel_names = st.sampled_from([*BUILT_IN, *NO_NAMES]) | numbers.map("dimacs:{}".format)
weight_names = (
    st.sampled_from([*WEIGHTS, "steps", "uniform:1", ""])
    | st.tuples(st.sampled_from(["early-log", "end-log"]), numbers).map(":".join)
    | st.lists(st.tuples(numbers, numbers).map("=".join), max_size=3).map(lambda parts: "steps:" + ",".join(parts))
)


def scored(**choices):
    """Say whether a run with a horizon of 30 s can be scored so."""
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30.0, "trace": [(0, 20.0)]}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    try:
        gl.score(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), **choices)
    except UsageError as error:
        return error.message
    return None


def contract(**score):
    return {"time": {"horizon": 30}, "instances": [{"path": "i"}], "score": score}


@given(kernel_names)
def test_a_contract_refuses_the_kernels_that_scoring_refuses(name):
    refused = scored(kernels=[name])
    mistakes = cross_mistakes(contract(kernel=name))
    assert [mistake.split(";")[0] for mistake in mistakes] == ([] if refused is None else [f"score.{refused}"])


@pytest.mark.parametrize("name", ["python:mine:f", "python:pack.kernels:log_ratio", "python:_a1.b:_f"])
def test_a_function_of_the_users_own_has_a_name_that_is_read_without_its_code(name):
    assert parse_kernel_name(name) == (KernelCode.CUSTOM, 0.0)
    assert list(cross_mistakes(contract(kernel=name, statistics=[name]))) == []
    assert "expected its code to be loaded" in scored(kernels=[name])
    with pytest.raises(UsageError, match="name that is not taken"):
        gl.register_kernel(name, lambda z, ref: z - ref, before=1.0)


@pytest.mark.parametrize("name", ["mean", "python:m", "python:1m:f", "python:m:f-g", "python:m..n:f", "python:m:f "])
def test_a_statistic_of_a_contract_is_a_function(name):
    (mistake,) = cross_mistakes(contract(statistics=[name]))
    assert mistake == f"score.statistics: expected python:MODULE:FUNCTION, got {name!r}"


@given(weight_names)
def test_a_contract_refuses_the_weights_that_scoring_refuses(name):
    refused = scored(weight=name)
    mistakes = cross_mistakes(contract(weight=name))
    if split_python_name(name):
        # A contract names a function; whoever scores has to load it.
        assert "expected its code to be loaded" in refused
        assert list(mistakes) == []
        return
    assert [mistake.split(";")[0] for mistake in mistakes] == ([] if refused is None else [f"score.{refused}"])


@pytest.mark.parametrize(
    ("score", "mistake"),
    [
        (
            {"kernel": "dimacs:0.5"},
            "score.kernel dimacs:0.5: expected a threshold above 1, as in dimacs:1.1, got '0.5'",
        ),
        ({"weight": "early-log:0"}, "score.weight early-log:0: expected its cutoff in seconds, as in early-log:0.1"),
        ({"weight": "steps:5=1"}, "score.weight steps:5=1: expected increasing edges from 0 and nonnegative values"),
        ({"weight": "end-log:30"}, "score.weight end-log:30: expected a cutoff below every horizon, got one of 30 s"),
        ({"weight": "steps:0=0,40=1"}, "score.weight steps:0=0,40=1: expected some weight before 30 s, got none"),
    ],
)
def test_what_was_accepted_once_and_failed_after_the_campaign(score, mistake):
    (found,) = cross_mistakes(contract(**score))
    assert found.startswith(mistake)


def test_the_shortest_horizon_of_any_instance_counts():
    data = contract(weight="early-log:2") | {"instances": [{"path": "i"}, {"path": "j", "horizon": 2}]}
    assert cross_mistakes(data) == ["score.weight early-log:2: expected a cutoff below every horizon, got one of 2 s"]


def test_a_registered_kernel_is_a_name_too():
    with pytest.raises(UsageError, match="kernel: expected one of"):
        parse_kernel_name("test of names")
    gl.register_kernel("test of names", lambda z, ref: z - ref, before=1.0)
    assert parse_kernel_name("test of names") == (KernelCode.CUSTOM, 0.0)
    assert cross_mistakes(contract(kernel="test of names")) == []


def test_all_forms_that_are_advertised_parse():
    assert all(parse_kernel_name(form.replace("THETA", "1.1")) for form in KERNELS)
    forms = [form for form in WEIGHTS if not split_python_name(form)]
    assert all(parse_weight(form.replace("TMIN", "0.1").replace("TCUT", "0.1")) for form in forms)


def test_the_grammar_needs_neither_numpy_nor_numba():
    code = "import sys, gapline.contract.names; print([m for m in ('numpy', 'numba', 'polars') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_contract_may_name_a_function_as_its_weight_and_nothing_is_imported():
    assert cross_mistakes(contract(weight="python:no_such_module:weight")) == []
    assert cross_mistakes(contract(weight="python:no such module:weight")) != []
