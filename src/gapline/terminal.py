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
from typing import IO, TYPE_CHECKING, Any

from gapline.model.text import printable

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


def visible(text: object) -> str:
    r"""Make everything of a text visible that a terminal would obey; its line ends stay.

    >>> print(visible("one" + chr(27) + "[2J\ntwo"))
    one\u001b[2J
    two
    """
    return "\n".join(map(printable, str(text).split("\n")))


def say(text: object = "", *, err: bool = False, file: IO[str] | None = None) -> None:
    """Print a text and a line end, to the error stream where asked for."""
    print(visible(text), file=file or (sys.stderr if err else sys.stdout), flush=True)


def say_json(document: Any) -> None:
    """Print one JSON document; what a terminal would obey is escaped as JSON does it, so that nothing is lost."""
    # An encoding of few letters would get replacements for the others, which are not what the document says.
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=narrow)
    say("".join(c if c.isprintable() or c == "\n" else _json_escape(c) for c in text))


def _json_escape(letter: str) -> str:
    # DEL is ASCII, which `json` leaves as it is.
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"


def console(*, err: bool = False, file: IO[str] | None = None) -> "Console":
    """Return a console for tables, plots and bars, which does not fold them on the way to a file or a pipe."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Visible(Console):
        # Rich takes the escape sequences of a text for letters and passes them on; its own are in styles and controls.
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Any:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    # A bar needs the width that there is; rich draws none where nobody watches.
    width = None if file is None and (err or sys.stdout.isatty()) else 240
    if file is not None:
        # Whatever the environment says of terminals, a text has no colours.
        return Visible(file=file, highlight=False, width=width, color_system=None, force_terminal=False)
    return Visible(stderr=err, highlight=False, width=width)


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
