"""The one way out to a terminal: what comes from files of others is shown, never obeyed, in whatever encoding.

A name, a log line or an error message may hold escape sequences that move the cursor, change the title of the window or
type into the shell. Nothing else of gapline prints (`tests/test_terminal.py` looks): text goes out through `say`,
tables and plots through a `console`, and both make unprintable characters visible.
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

# What gapline itself writes beyond ASCII, for a terminal or a log in another encoding.
_ASCII = {
    "…": "...", "–": "-", "—": "-", "−": "-", "×": "x", "·": ".", "±": "+/-", "≤": "<=", "≥": ">=", "→": "->",
    "²": "^2", "³": "^3", "√": "sqrt ", "†": "+", "½": "1/2", "Γ": "Gamma", "Δ": "Delta", "Λ": "Lambda", "Σ": "sum ",
    "Φ": "Phi", "α": "alpha", "δ": "delta", "θ": "theta", "ρ": "rho", "σ": "sigma", "φ": "phi", "χ": "chi",
    "\u00a0": " ", "─": "-", "━": "-", "│": "|", "┤": "|", "├": "|", "└": "+", "░": ".", "▒": ":", "▓": "+", "█": "#",
    "▁": "_", "▂": ".", "▃": "-", "▄": "~", "▅": "=", "▆": "+", "▇": "*",
}  # fmt: skip
_ERRORS = "gapline-ascii"
# Where nobody says how wide it is: a log, a file, a pipe.
PIPED = 120
# Below that no table has room; a line then goes over the edge.
NARROWEST = 20


def width(*, err: bool = False) -> int:
    """Return how many columns a line may have: COLUMNS, else those of the terminal, else 120 in a pipe or a file."""
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
    """Return how many columns of a terminal a text takes: Chinese letters take two, combining ones none.

    >>> cells("abc"), cells("中文")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, room: int, *, hang: str = "") -> list[str]:
    """Break a text at its spaces into lines of a width, those after the first behind `hang`; no word is split.

    >>> wrapped("note: three words", 11, hang="  ")
    ['note: three', '  words']
    """
    if cells(text) <= room:
        return [text]
    lines: list[str] = []
    line = ""
    # Spaces at the front are an indent, not a word.
    front = text[: len(text) - len(text.lstrip(" "))]
    for word in text.split():
        longer = f"{line} {word}" if line.strip() else f"{front if not lines else hang}{word}"
        if line.strip() and cells(longer) > room:
            lines.append(line)
            longer = f"{hang}{word}"
        line = longer
    return [*lines, line] if line or not lines else lines


def visible(text: object) -> str:
    r"""Make everything of a text visible that a terminal would obey; its line ends stay.

    >>> print(visible("one" + chr(27) + "[2J\ntwo"))
    one\u001b[2J
    two
    """
    return "\n".join(map(printable, str(text).split("\n")))


# Who has something on the screen that must be gone before a line is printed.
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
    """Put a line of the error stream in the place of the one that stands there; an empty one takes it away."""
    sys.stderr.write(f"\r\x1b[K{printable(text)}")
    sys.stderr.flush()


def clipped_line(text: str) -> str:
    """Cut a text to one line of the error stream: what wraps cannot be drawn over."""
    room = width(err=True) - 1
    return text if cells(text) <= room else f"{text[: max(0, room - 1)]}…"


def say(text: object = "", *, err: bool = False, file: IO[str] | None = None) -> None:
    """Print a text and a line end, to the error stream where asked for."""
    _clear()
    print(visible(text), file=file or (sys.stderr if err else sys.stdout), flush=True)


def say_words(text: object = "", *, err: bool = False) -> None:
    """Print prose, broken at its spaces to the width that there is; a command to be copied goes through `say`."""
    for line in visible(text).split("\n"):
        say("\n".join(wrapped(line, width(err=err), hang="  ")), err=err)


def say_json(document: Any) -> None:
    """Print one JSON document; what a terminal would obey is escaped as JSON does it, so that nothing is lost."""
    # An encoding of few letters would get replacements for the others, which are not what the document says.
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=narrow)
    # DEL is ASCII, which `json` leaves as it is.
    escaped = (c if c.isprintable() or c in "\n\x7f" else json.dumps(c)[1:-1] for c in text)
    say("".join(escaped).replace("\x7f", "\\u007f"))


def console(*, err: bool = False, file: IO[str] | None = None) -> "Console":
    """Return a console for tables, plots and bars, as wide as `width` says."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Visible(Console):
        # Rich takes the escape sequences of a text for letters and passes them on; its own are in styles and controls.
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Any:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    _clear()
    room = width(err=err)
    if file is not None:
        # Whatever the environment says of terminals, a text has no colours.
        return Visible(file=file, highlight=False, width=room, color_system=None, force_terminal=False)
    return Visible(stderr=err, highlight=False, width=room)


def open_closed() -> None:
    """Let a standard stream that the caller has closed (`>&-`) go nowhere: the next open file would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 (open to the end)


def replace_unencodable() -> None:
    """Let standard output and error write ASCII for what their encoding does not have, instead of failing."""
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
    # A dot of a plot in characters: how many of its eight points are set cannot be said in one letter.
    braille = "\u2800" <= letter <= "\u28ff"
    return "*" if braille else _ASCII.get(letter, ascii(letter)[1:-1])
