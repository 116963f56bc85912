"""Cells on an executor: stopped, none is begun; an error lets the others finish first."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.executors.executors import MOST_LOST
from gapline.executors.worker_requirements import WorkerLostError
from gapline.run.cell import CellResult
from gapline.run.placement import run_cells


@pytest.fixture
def cells(make_study):
    return Plan.of(load_contract(make_study({"x": ["silent"]}).path)).cells


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


def test_a_cell_whose_worker_is_lost_goes_to_another_a_few_times(cells):
    tries = Counter()

    def run_one(cell):
        tries[cell.key] += 1
        if cell.seed == 1 and tries[cell.key] <= 2:
            raise WorkerLostError("gone")
        if cell.seed == 2:
            raise WorkerLostError("gone for good")
        return CellResult(cell.key, "done")

    with ThreadPoolExecutor(1) as executor:
        found = {cell.key: r for cell, r in run_cells(cells, executor, run_one, stopping=lambda: False)}
    assert {key: result.outcome for key, result in found.items()} == {
        cell.key: "done" if cell.seed == 1 else "interrupted" for cell in cells
    }
    assert set(tries.values()) == {3, MOST_LOST + 1}
    assert all("4 workers were lost with it" in r.problems[0] for key, r in found.items() if key.seed == 2)


def test_no_more_cells_are_out_than_the_place_takes(cells):
    out, most = set(), []

    class Slow(ThreadPoolExecutor):
        def submit(self, function, cell):
            out.add(cell.key)
            most.append(len(out))
            return super().submit(function, cell)

    def run_one(cell):
        return CellResult(cell.key, "done")

    with Slow(4) as executor:
        for cell, _ in run_cells(cells, executor, run_one, stopping=lambda: False, width=lambda: 2):
            out.discard(cell.key)
    assert max(most) == 2
    assert len(most) == len(cells)
