"""Functions of the user's own: whoever names one on the command line means it, a contract needs leave."""

import pytest

from gapline.errors import UsageError
from gapline.study.contract_choices import load_functions, load_time_weight


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine_of_study.py").write_text(
        "import numpy as np\n"
        "def gap(z, reference):\n    return np.clip(z / reference - 1, 0, 1)\n"
        "gap.before = 1.0\n"
        "def best(run):\n    return 1.0\n"
        "def weight(t):\n    return 1.0\n"
    )
    return tmp_path


KERNEL, STATISTIC, WEIGHT = (f"python:mine_of_study:{name}" for name in ("gap", "best", "weight"))
LEAVE = {"allow_code": True}


def test_a_kernel_of_the_contract_is_refused_and_its_statistics_are_left_out_and_said(folder):
    noticed = []
    with pytest.raises(UsageError, match=r"score\.kernel"):
        load_functions(folder, {}, {"kernels": (KERNEL,)}, noticed)
    assert load_functions(folder, {}, {"statistics": (STATISTIC,)}, noticed) == ()
    assert noticed == [f"statistics of the contract are left out, as its code may not run: {STATISTIC}"]


def test_with_leave_the_code_of_the_study_is_loaded(folder):
    stated = {"kernels": (KERNEL,), "statistics": (STATISTIC,)}
    noticed = []
    assert load_functions(folder, LEAVE, stated, noticed) == (STATISTIC,)
    assert noticed == []
    assert load_time_weight(folder, LEAVE, WEIGHT) == WEIGHT


def test_a_weight_of_the_contract_is_refused_and_one_of_the_callers_keeps_its_name(folder):
    with pytest.raises(UsageError, match=r"score\.weight"):
        load_time_weight(folder, {}, WEIGHT)
    assert load_time_weight(None, {"weight": "early-log:0.1"}, "early-log:0.1") == "early-log:0.1"
    assert load_time_weight(None, {}, "end-log:0.1") == "end-log:0.1"
