"""Cells on an executor: stopped, none is begun; an error lets the others finish first."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from gapline.model.contract import load_contract
from gapline.run.cell import CellResult
from gapline.run.executors import run_cells
from gapline.run.plan import plan_cells


@pytest.fixture
def cells(make_study):
    return plan_cells(load_contract(make_study({"x": ["silent"]}).path))


def test_every_cell_comes_back_once(cells):
    with ThreadPoolExecutor(2) as executor:
        found = list(run_cells(cells, executor, lambda cell: CellResult(cell.key, "done"), stopping=lambda: False))
    assert sorted(result.key for _, result in found) == sorted(cell.key for cell in cells)


def test_after_a_stop_nothing_is_begun(cells):
    begun = []

    def run_one(cell):
        begun.append(cell.key)
        return CellResult(cell.key, "done")

    with ThreadPoolExecutor(1) as executor:
        found = list(run_cells(cells, executor, run_one, stopping=lambda: bool(begun)))
    assert 1 <= len(found) <= len(begun) <= len(cells)


def test_an_error_is_raised_after_the_others_have_finished(cells):
    def run_one(cell):
        if cell.seed == 1:
            raise ValueError(str(cell.key))
        return CellResult(cell.key, "done")

    with ThreadPoolExecutor(4) as executor, pytest.raises(ValueError, match=r"x/(one|two)/1"):
        list(run_cells(cells, executor, run_one, stopping=lambda: False))
