"""A sign of life of what takes long: on a terminal, on the error stream, gone before the answer."""

import pytest

from cli.two_arms import write_traces
from gapline.cli import output as module
from gapline.cli.output import Working, working
from gapline.contract.progress import Doing, doing
from gapline.terminal import say
from pseudo_terminal import on_terminal


def test_the_line_is_drawn_until_something_is_printed_and_then_gone(monkeypatch, eventually, capsys):
    monkeypatch.setattr(module, "AFTER", 0.0)
    monkeypatch.setattr(module, "EVERY", 0.001)
    drawn = []
    line = Working(drawn.append)
    line.tell(Doing("drawing figures", 3, 31))
    line.start()
    eventually(lambda: drawn != [])
    assert drawn[0].startswith("drawing figures 3 of 31 … 0 s")
    line.stop()
    assert drawn[-1] == ""
    count = len(drawn)
    line.stop()
    assert len(drawn) == count
    assert capsys.readouterr().err == ""


def test_what_ends_soon_shows_nothing(monkeypatch):
    monkeypatch.setattr(module, "AFTER", 60.0)
    drawn = []
    line = Working(drawn.append)
    line.start()
    line.stop()
    assert drawn == []


def test_nobody_who_does_not_watch_is_told(monkeypatch, capsys):
    monkeypatch.setattr(module, "AFTER", 0.0)
    with working():
        doing("reading")
        say("the answer")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("the answer\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["score", "traces.csv", "--references", "refs.csv"], "reading the runs"),
        (["analyse", "traces.csv", "--references", "refs.csv"], "varying the choices"),
        (["report", "traces.csv", "--references", "refs.csv", "-o", "out", "--format", "svg"], "drawing figures 2 of"),
        (["compare", "traces.csv:mine", "traces.csv:theirs", "--references", "refs.csv"], "reading the runs"),
        (["export", "traces.csv", "-o", "out.csv"], "writing"),
        (["merge", "traces.csv", "-o", "both"], "writing"),
    ],
)
def test_commands_say_what_they_do_on_a_terminal(tmp_path, arguments, told):
    """Every stage is drawn at once here, without the two seconds; the standard output has the answer alone."""
    write_traces(tmp_path / "traces.csv")
    names = [f"{'small' if i < 4 else 'large'}-{i}" for i in range(8)]
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"{name},100\n" for name in names))
    code = (
        "import gapline.cli.output as w\n"
        "from gapline.terminal import redraw\n"
        "w.AFTER = 60\n"
        # Drawn where it is told instead of by the clock: how fast the machine is does not matter.
        "w.Working.tell = lambda self, now: redraw(str(now))\n"
        "from gapline.cli import main; main()"
    )
    seen, out = on_terminal(code, *arguments, columns=200, cwd=tmp_path, streams=("stderr",))
    assert told in seen
    assert "\r\x1b[K" in seen
    assert "\x1b[K" not in out
