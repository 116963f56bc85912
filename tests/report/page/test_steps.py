"""The steps of a page: in pieces of any length the same letters, which decode to the steps of every run."""

import base64
import zlib

import numpy as np
import pytest

import gapline as gl
from gapline.files.memory import limited_memory
from gapline.report.page import encode
from gapline.report.page.data import page_data
from gapline.report.page.encode import Block, Grid, Steps
from gapline.statistics.cells import build_cells
from report.page.test_encode import decode
from report.page_study import make_study

BLOCKS = ("steps", "runs", "others")


def steps_of(study):
    cells = build_cells(study.envelopes.runs)
    order = np.argsort(cells.unit, kind="stable")
    return Steps(study.envelopes, cells, order), cells, order


def split(monkeypatch, size):
    """Look at so many steps together."""
    monkeypatch.setattr(encode, "AT_ONCE", size)
    monkeypatch.setattr("gapline.native.slices.AT_ONCE", size)


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("budget", [128, None])
def test_no_letter_of_a_page_depends_on_pieces_or_budget(size, budget, monkeypatch):
    gl.register_kernel("piecewise-log", lambda z, reference: np.log(z / reference), before=5.0, replace=True)
    study = make_study(kernels=("squeezed", "piecewise-log"))
    whole = page_data(study)
    split(monkeypatch, size)
    with limited_memory(budget):
        found = page_data(study)
    assert found.head == whole.head
    # The letters may be packed otherwise where they come in other pieces; what they say is the same.
    for name in BLOCKS:
        assert zlib.decompress(base64.b64decode(found.blocks[name])) == zlib.decompress(
            base64.b64decode(whole.blocks[name])
        )


@pytest.mark.parametrize("size", [1, 4, 7, 10_000])
def test_every_step_comes_back_on_its_grid(size, monkeypatch):
    split(monkeypatch, size)
    study = make_study()
    steps, cells, order = steps_of(study)
    clock = Grid(9, exact=False)
    references = np.full(len(cells.units), 100.0)
    grids = steps.grids([references])
    block = Block()
    steps.add(block, clock, grids)
    found, at = decode(block, block.encode()), 0
    for row in order.tolist():
        time, objective = study.envelopes.steps(row)
        here = slice(at, at + len(time))
        grid = grids[cells.unit[row]]
        units = found["objective"][here]
        falling = units[:1].tolist() + (-units[1:]).tolist()
        assert clock.values(np.cumsum(found["time"][here])) == pytest.approx(time, abs=1e-9)
        assert grid.values(np.cumsum(falling)).tolist() == grid.snap(objective).tolist()
        at += len(time)
    assert at == steps.total


def test_a_piece_has_whole_runs_and_knows_where_they_begin(monkeypatch):
    """Runs of 3, 0, 1 and 4 steps in pieces of about 3."""
    split(monkeypatch, 3)
    runs = [
        {"arm": "a", "instance": "i", "seed": s, "horizon": 9, "trace": [(k, 20.0 - k) for k in range(size)]}
        for s, size in enumerate((3, 0, 1, 4))
    ]
    snapshot = gl.Snapshot.from_values({"i": 5.0}, name="known")
    steps, *_ = steps_of(gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], draws=10))
    found = [(piece.span, piece.run.tolist(), piece.begins.tolist()) for piece in steps.pieces()]
    assert found == [(slice(0, 4), [0, 0, 0, 2], [0, 3]), (slice(4, 8), [3, 3, 3, 3], [0])]
