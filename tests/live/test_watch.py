"""The watcher: a screen where somebody looks, plain lines in a pipe, never faster than one can read."""

import contextlib
import re
import subprocess
import sys

import pytest

from gapline.live.watch import MOST_LINES, PlainLines, watch
from live_studies import LiveWriter, live_study

GAPLINE = [sys.executable, "-c", "from gapline.cli import main; main()"]


@pytest.mark.slow
def test_in_a_pipe_it_prints_lines_until_it_is_finished(tmp_path, capsys):
    with live_study(tmp_path / "study", instances={"i1": 10.0}) as study:
        left = ["a/i1/1", "b/i1/1"]
        waited = []

        def wait(seconds):
            waited.append(seconds)
            study.run(left.pop(0), [(1.0, 30.0)])

        assert watch(study.path, is_terminal=False, wait=wait) == 0
    lines = capsys.readouterr().out.splitlines()
    assert waited == [2.0, 2.0]
    assert lines[0] == "live: not begun; 0 done, 2 left of 2"
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d ended a/i1/1: finished after 1.00 s", line) for line in lines)
    assert "live: finished; 2 done, 0 left of 2" in lines
    assert [line.split()[:4] for line in lines[-3:-1]] == [["1", arm, "1", "0.55000"] for arm in "ab"]
    assert lines[-1] == "ranked on 1 cell"
    assert "\x1b" not in "".join(lines)


def test_a_flood_of_events_is_counted_and_not_printed():
    out = []
    lines = PlainLines(out.append)
    events = [
        {"number": n, "at": "2026-08-01T10:00:00", "kind": "incumbent", "run": "a", "text": str(n)}
        for n in range(100, 0, -1)
    ]
    state = {"events": events, "alarms": [], "running_alarms": [], "study": {"name": "s"}, "phase": "running"}
    lines.show(state)
    assert out[0] == "… 95 events before these"
    assert len(out) == 1 + MOST_LINES + 2
    assert out[MOST_LINES].endswith("100")
    del out[:]
    lines.show(state)
    assert out == []


def test_alarms_ring_once_and_set_the_exit_code(tmp_path, capsys):
    with live_study(tmp_path / "study", instances={"i1": 10.0}, certified=["i1"]) as study:
        study.run("a/i1/1", [(1.0, 9.0)])
        study.run("b/i1/1", [(1.0, 30.0)])
        assert watch(study.path, is_terminal=False) == 1
    assert capsys.readouterr().out.count("ALARM i1") == 1


@pytest.mark.slow
def test_the_command_once_and_piped(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.run("a/i1/1", [(1.0, 30.0)])
        done = subprocess.run(
            [*GAPLINE, "watch", str(study.path), "--once"], capture_output=True, text=True, check=True,
            env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    assert done.stderr == ""
    assert "1 done, 3 left of 4" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert done.stdout.isascii()


def test_on_a_screen_it_redraws_in_place(tmp_path, capsys):
    with live_study(tmp_path / "study", instances={"i1": 10.0}) as study:
        study.run("a/i1/1", [(1.0, 30.0)])
        assert watch(study.path, is_terminal=True, wait=lambda _: study.run("b/i1/1", [(1.0, 30.0)])) == 0
    assert "2 done, 0 left of 2" in capsys.readouterr().out


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_folder_waits_for_its_study_and_one_that_goes_is_waited_for(tmp_path, capsys, is_terminal):
    folder = tmp_path / "study"
    folder.mkdir()
    with contextlib.ExitStack() as made:
        steps = [
            lambda: made.enter_context(live_study(folder, instances={"i1": 10.0})).run("a/i1/1", [(1.0, 30.0)]),
            lambda: (folder / "study.toml").rename(folder / "kept.toml"),
            lambda: (folder / "kept.toml").rename(folder / "study.toml"),
            lambda: LiveWriter(folder).run("b/i1/1", [(1.0, 30.0)]),
        ]
        assert watch(folder, is_terminal=is_terminal, wait=lambda _: steps.pop(0)()) == 0
    out = capsys.readouterr().out
    assert steps == []
    if not is_terminal:
        # A screen that is no terminal keeps what it showed last.
        assert out.count("study: no study here") == 2
        assert out.count("has no study.toml") == 2
    assert "live: finished; 2 done, 0 left of 2" in out
