"""What will be run is said before anything of the package is started."""

import json

import pytest

from gapline.contract.study_file import load_contract
from gapline.package.replication_plan import NOT_STARTED, UNKNOWN, choose_part, intend, opened_package, origin_of
from package.toy_package import HORIZON, write_toy
from packages import make_package


def intended_of(package, *, jobs=None, on=None, **asked):
    with opened_package(package) as opened:
        contract = load_contract(opened.folder)
        return intend(opened, contract, origin_of(opened, choose_part(contract, **asked)), jobs=jobs, on=on)


def test_arms_programs_cells_and_time_are_told(toy_package, toy_path):
    toy_path()
    found = intended_of(toy_package, arms=["quick", "third"], seeds=[1], horizon_scale=0.5, jobs=3)
    assert [(arm.name, arm.runs) for arm in found.arms] == [("quick", 6), ("third", 6)]
    assert (found.runs, found.seconds, found.at_a_time) == (12, 12 * HORIZON / 2, 3)
    assert found.arms[0].program == "toy {instance} quick 16"
    assert found.arms[0].here == found.arms[0].there
    assert found.checker is None
    assert not found.lacks
    text = "\n".join(found.lines())
    assert "arm quick: command toy {instance} quick 16 (as there), 6 runs" in text
    assert "12 runs, 30 min of solving at most, about 10 min with 3 at a time" in text
    assert json.loads(json.dumps(found.document()))["part"]["seeds"] == [1]


def test_on_a_cluster_nobody_knows_how_many_run_at_a_time(toy_package):
    assert intended_of(toy_package, on="slurm").at_a_time is None


@pytest.fixture
def trap(tmp_path):
    """A package whose program, checker and kernel each leave a file when they are started."""
    study = write_toy(tmp_path / "trap")
    mark = tmp_path / "started"
    (study / "solve").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (study / "solve").chmod(0o755)
    (study / "kernel_trap.py").write_text(f"open({str(mark)!r}, 'w')\ndef f(z, r):\n    return z\n")
    text = (study / "study.toml").read_text().replace('"toy"', '"./solve"')
    text = text.replace('validation = "solver"', 'validation = "checker"\nchecker = "command:./solve"')
    text = text.replace('[study]\nname = "./solve"', '[study]\nname = "trap"')
    (study / "study.toml").write_text(text + '\n[score]\nkernel = "python:kernel_trap:f"\n')
    return make_package(study, tmp_path / "trap.zip"), mark


def test_nothing_is_started_for_it(trap):
    package, mark = trap
    found = intended_of(package)
    assert (found.checker, found.checker_here, found.checker_there) == ("command:./solve", NOT_STARTED, UNKNOWN)
    assert found.code == ("python:kernel_trap:f",)
    assert found.arms[0].there == UNKNOWN
    assert not found.lacks
    lines = found.lines()
    assert "  checker command:./solve: not started yet (there not recorded)" in lines
    assert "  Python code of the package: python:kernel_trap:f" in lines
    assert not mark.exists()
