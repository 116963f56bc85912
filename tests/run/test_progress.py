"""Progress in a log, and names that would disturb a terminal."""

import io

from gapline.model.contract import load_contract
from gapline.model.plan import Plan
from gapline.model.tables import RunKey, RunStatus
from gapline.run.cell import CellResult
from gapline.run.progress import PlainProgress, describe


def test_a_log_has_one_line_per_cell_and_the_time_left(make_study):
    cells = Plan.of(load_contract(make_study({"x": ["silent"]}, horizon=10.0).path)).cells
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start(cells, done=3, slots=2)
    for cell in cells:
        result = CellResult(cell.key, "done", RunStatus.FINISHED, events=5, elapsed=1.5)
        progress.advance(cell, result)
    progress.stop()
    assert stream.getvalue().splitlines() == [
        "4 runs to make, 3 made before, 2 at a time",
        "[1/4] x/one/1: finished, 5 events in 1.50 s; about 15 s of solving left",
        "[2/4] x/two/1: finished, 5 events in 1.50 s; about 10 s of solving left",
        "[3/4] x/one/2: finished, 5 events in 1.50 s; about 10 s of solving left",
        "[4/4] x/two/2: finished, 5 events in 1.50 s; about 0 s of solving left",
    ]


def test_control_characters_of_names_are_shown_not_obeyed():
    assert describe(CellResult(RunKey("\x1b[2J", "i\n", 1), "busy")) == "\\u001b[2J/i\\u000a/1: busy"
