"""All output to a terminal: text from other people's files is shown, never interpreted, in any encoding.

A name, a log line or an error message may contain escape sequences that move the cursor, change the title of the window
or type into the shell. Nothing else in gapline prints (`tests/test_terminal.py` checks): text is printed by `say`,
tables and plots by a `console`, and both make unprintable characters visible.
"""

import codecs
import io
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from gapline.text import printable

if TYPE_CHECKING:
    from rich.console import Console

# Characters beyond ASCII in gapline's own output, for a terminal or a log in another encoding.
_ASCII = {
    "…": "...", "–": "-", "—": "-", "−": "-", "×": "x", "·": ".", "±": "+/-", "≤": "<=", "≥": ">=", "→": "->",
    "²": "^2", "³": "^3", "√": "sqrt ", "†": "+", "½": "1/2", "Γ": "Gamma", "Δ": "Delta", "Λ": "Lambda", "Σ": "sum ",
    "Φ": "Phi", "α": "alpha", "δ": "delta", "θ": "theta", "ρ": "rho", "σ": "sigma", "φ": "phi", "χ": "chi",
    "\u00a0": " ", "─": "-", "━": "-", "│": "|", "┤": "|", "├": "|", "└": "+", "░": ".", "▒": ":", "▓": "+", "█": "#",
    "▁": "_", "▂": ".", "▃": "-", "▄": "~", "▅": "=", "▆": "+", "▇": "*",
}  # fmt: skip
_ERRORS = "gapline-ascii"
# The width of a log, a file or a pipe, which state none.
PIPED = 120
# Tables need at least this width; on a narrower terminal, lines are wider than it.
NARROWEST = 20


def width(*, err: bool = False) -> int:
    """Return the number of columns of a line: COLUMNS, else that of the terminal, else 120 in a pipe or a file."""
    try:
        asked = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        asked = 0
    if asked <= 0:
        try:
            asked = os.get_terminal_size((sys.stderr if err else sys.stdout).fileno()).columns
        except (OSError, ValueError, AttributeError):
            asked = 0
    return max(asked, NARROWEST) if asked > 0 else PIPED


def cells(text: str) -> int:
    """Return the width of a text in terminal columns: Chinese characters take two, combining ones none.

    >>> cells("abc"), cells("中文")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, room: int, *, hang: str = "") -> list[str]:
    """Wrap a text at its spaces to a width, with `hang` before all lines but the first; no word is split.

    >>> wrapped("note: three words", 11, hang="  ")
    ['note: three', '  words']
    """
    if cells(text) <= room:
        return [text]
    lines: list[str] = []
    line = ""
    # Leading spaces are an indent, not a word.
    front = text[: len(text) - len(text.lstrip(" "))]
    for word in text.split():
        longer = f"{line} {word}" if line.strip() else f"{front if not lines else hang}{word}"
        if line.strip() and cells(longer) > room:
            lines.append(line)
            longer = f"{hang}{word}"
        line = longer
    return [*lines, line] if line or not lines else lines


def visible(text: object) -> str:
    r"""Make everything visible that a terminal would interpret; line ends are kept.

    >>> print(visible("one" + chr(27) + "[2J\ntwo"))
    one\u001b[2J
    two
    """
    return "\n".join(map(printable, str(text).split("\n")))


# Functions that clear temporary output from the screen before a line is printed.
_on_output: list[Callable[[], None]] = []


@contextmanager
def on_output(clear: Callable[[], None]) -> Iterator[None]:
    """Call `clear` before anything is printed, until the end."""
    _on_output.append(clear)
    try:
        yield
    finally:
        _on_output.remove(clear)


def _clear() -> None:
    for clear in list(_on_output):
        clear()


def redraw(text: str) -> None:
    """Replace the current line of the error stream; an empty text clears it."""
    sys.stderr.write(f"\r\x1b[K{printable(text)}")
    sys.stderr.flush()


def clipped_line(text: str) -> str:
    """Cut a text to one line of the error stream: wrapped lines cannot be overwritten."""
    room = width(err=True) - 1
    return text if cells(text) <= room else f"{text[: max(0, room - 1)]}…"


def say(text: object = "", *, err: bool = False, file: IO[str] | None = None) -> None:
    """Print a text and a line end, to the error stream if requested."""
    _clear()
    print(visible(text), file=file or (sys.stderr if err else sys.stdout), flush=True)


def say_words(text: object = "", *, err: bool = False) -> None:
    """Print prose wrapped to the available width; commands to be copied are printed by `say`."""
    for line in visible(text).split("\n"):
        say("\n".join(wrapped(line, width(err=err), hang="  ")), err=err)


def say_json(document: Any) -> None:
    """Print one JSON document; characters that a terminal would interpret are escaped as in JSON, without loss."""
    # A limited encoding would replace other characters, which would change the document.
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=narrow)
    # DEL is ASCII, so `json` does not escape it.
    escaped = (c if c.isprintable() or c in "\n\x7f" else json.dumps(c)[1:-1] for c in text)
    say("".join(escaped).replace("\x7f", "\\u007f"))


def console(*, err: bool = False, file: IO[str] | None = None) -> "Console":
    """Return a console for tables, plots and bars, with the width that `width` returns."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Visible(Console):
        # Rich passes escape sequences in a text on as characters; its own are in styles and controls.
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Any:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    _clear()
    room = width(err=err)
    if file is not None:
        # Without colours, whatever the environment says about terminals.
        return Visible(file=file, highlight=False, width=room, color_system=None, force_terminal=False)
    return Visible(stderr=err, highlight=False, width=room)


def open_closed() -> None:
    """Open a standard stream that the caller has closed (`>&-`) to nowhere: else the next file would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 (open to the end)


def replace_unencodable() -> None:
    """Let standard output and error write ASCII for characters that their encoding lacks, instead of failing."""
    codecs.register_error(_ERRORS, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_ascii(letter) for letter in lost), error.end


def _ascii(letter: str) -> str:
    # A braille dot pattern of a plot: no ASCII character can show which of its eight points are set.
    braille = "\u2800" <= letter <= "\u28ff"
    return "*" if braille else _ASCII.get(letter, ascii(letter)[1:-1])
