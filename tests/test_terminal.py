"""What reaches a terminal: everything visible, nothing obeyed, in whatever encoding, and by one way alone."""

import ast
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline
from gapline import terminal
from gapline.terminal import console, replace_unencodable, say, say_json, visible

SOURCE = Path(gapline.__file__).parent
HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202e\r\U000e0041"


@given(st.text())
@example(HOSTILE)
@example("two\nlines")
def test_visible_text_is_printable_and_keeps_what_was(text):
    shown = visible(text)
    assert shown.replace("\n", "").isprintable()
    assert shown.count("\n") == text.count("\n")
    if text.replace("\n", "").isprintable():
        assert shown == text


def test_say_writes_to_the_stream_that_is_meant(capsys):
    say(HOSTILE)
    say("wrong", err=True)
    stream = io.StringIO()
    say("log", file=stream)
    out, err = capsys.readouterr()
    assert out == "\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u007f\\u202e\\u000d\\U000e0041\n"
    assert (err, stream.getvalue()) == ("wrong\n", "log\n")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_json_says_the_same_in_every_encoding(encoding, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding))
    document = {HOSTILE: ["é…解\U0001f600", HOSTILE, {"n": 1.5}]}
    say_json(document)
    written = raw.getvalue().decode(encoding)
    assert json.loads(written) == document
    assert written.replace("\n", "").isprintable()
    assert written.isascii() == (encoding != "utf-8")


def test_a_console_shows_the_escapes_of_others(monkeypatch):
    from rich.table import Table
    from rich.text import Text

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    table = Table(HOSTILE, title=Text(HOSTILE))
    table.add_row(f"[x]{HOSTILE}")
    console().print(table)
    console().print(f"a {HOSTILE} b", markup=False)
    assert stream.getvalue().count("\\u001b]0;title") == 4
    assert stream.getvalue().replace("\n", "").isprintable()


def test_a_console_that_colours_still_shows_the_escapes_of_others(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console().print(f"a {HOSTILE} b", style="bold red", markup=False)
    assert stream.getvalue().count("\x1b") == 2  # the style, and its end
    assert "\\u001b]0;title" in stream.getvalue()


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii", b"score <= 1 ... x +/- \\xe9 \\u89e3 \\U0001f600 |**-|\n"),
        ("latin-1", b"score <= 1 ... \xd7 \xb1 \xe9 \\u89e3 \\U0001f600 |**-|\n"),
        ("utf-8", "score ≤ 1 … × ± é 解 😀 │⠉⣀─┤\n".encode()),
    ],
)
def test_what_an_encoding_lacks_is_written_in_ascii(encoding, written, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding))
    replace_unencodable()
    say("score ≤ 1 … × ± é 解 😀 │⠉⣀─┤")
    assert raw.getvalue() == written


@pytest.mark.slow
def test_whatever_gapline_writes_beyond_ascii_has_a_word():
    """Letters of other languages in patterns and examples aside, no sign of ours is shown as a number."""
    found = {
        letter
        for folder in ("cli", "report", "measures", "statistics", "scoring", "study", "live")
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.Constant)
        for letter in part.value
        if not letter.isascii()
    }
    assert "…" in found
    assert {letter for letter in found if terminal._ascii(letter).startswith("\\")} == set()


# What a supervisor, a solver and the answer to --version print is read by programs of ours, not by a terminal.
MACHINES = ("solvers/", "process/", "run/check_run.py", "checkers/", "cli/__init__.py", "terminal.py")


def printing_calls(text):
    """Return what a module prints with by itself."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            past = ("echo", "secho", "Console", "sys.stdout.write", "sys.stderr.write", "stdout.buffer.write")
            if name == "print" or name.endswith(past) or name.endswith("print_exc"):
                yield name


@pytest.mark.slow
def test_nothing_prints_by_another_way():
    found = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not path.relative_to(SOURCE).as_posix().startswith(MACHINES)
        for name in printing_calls(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    assert list(printing_calls("click.echo(1); print(2); rich.console.Console()")) == [
        "click.echo", "print", "rich.console.Console",
    ]  # fmt: skip
