"""Progress in a log, and names that would disturb a terminal."""

import io
import sys

from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.contract.tables import RunKey, RunStatus
from gapline.executors.submitit_cluster import Standing
from gapline.run.cell import CellResult
from gapline.run.progress import PlainProgress, describe, task_progress


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


def test_of_a_queue_it_is_said_what_runs_and_not_what_may_wait(make_study):
    """Five runs of 20 s on two cores that work, not on 500 places of a queue."""
    cells = Plan.of(load_contract(make_study({"x": ["silent"]}, seeds=(1, 2, 3), horizon=20.0).path)).cells
    stream = io.StringIO()
    progress = PlainProgress(stream)
    standings = iter([Standing(2, 3), Standing(0, 4), Standing(0, 0)])
    progress.start(cells, done=0, slots=500, standing=lambda: next(standings))
    for cell in cells[:3]:
        progress.advance(cell, CellResult(cell.key, "left"))
    assert stream.getvalue().splitlines() == [
        "6 runs to make, 0 made before, at most 500 jobs in the queue",
        "[1/6] x/one/1: left; 2 running, 3 waiting; about 50 s of solving left",
        "[2/6] x/two/1: left; nothing runs, 4 waiting; about 80 s of solving left",
        "[3/6] x/one/2: left; about 60 s of solving left",
    ]


def test_control_characters_of_names_are_shown_not_obeyed():
    assert describe(CellResult(RunKey("\x1b[2J", "i\n", 1), "busy")) == "\\u001b[2J/i\\u000a/1: busy"


def test_a_log_has_ten_lines_on_any_number_of_tasks(capsys):
    with task_progress("runs judged") as progress:
        for done in range(501):
            progress(done, 500)
        # The next work begins anew.
        progress(0, 1)
        progress(1, 1)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"runs judged: {50 * tenth} of 500" for tenth in range(1, 11)] + ["runs judged: 1 of 1"]


def test_a_terminal_has_a_bar(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with task_progress("runs judged") as progress:
        progress(3, 500)
    assert "runs judged" in stream.getvalue()
    assert "3/500" in stream.getvalue()
