"""The size of a figure, the width of its texts, and its time axis."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from gapline.errors import UsageError

# Centimetres: a column of a two-column paper, and the text width of a one-column page.
WIDTHS = {"column": 8.5, "page": 17.5}
# Below the first, letters of this size do not fit; no page is as wide as the second.
NARROWEST, WIDEST = 5.0, 100.0
SMALLEST, LARGEST = 4.0, 30.0
# Points of the letters at the axes; a pixel of a drawing is that of a browser, 96 to an inch.
FONT_SIZE = 8.25
PIXELS = 96 / 2.54


@dataclass(frozen=True, slots=True)
class Canvas:
    """The settings of a drawing; none of them changes the data.

    Parameters
    ----------
    width
        Width of the whole figure in centimetres; by default each figure has its natural width.
    title, caption
        Whether these are part of the picture; both are always in the file's metadata and in a file next to it.
    font_size
        Size of the letters at the axes, in points.
    grey
        Without colours: greys, dashes and shapes distinguish arms.
    """

    width: float | None = None
    title: bool = True
    caption: bool = False
    font_size: float = FONT_SIZE
    grey: bool = False

    def __post_init__(self) -> None:
        if self.width is not None and not NARROWEST <= self.width <= WIDEST:
            raise UsageError(f"width: expected {NARROWEST:g} to {WIDEST:g} cm, got {self.width:g}")
        if not SMALLEST <= self.font_size <= LARGEST:
            raise UsageError(f"font size: expected {SMALLEST:g} to {LARGEST:g} pt, got {self.font_size:g}")

    @property
    def pixels(self) -> float | None:
        """The width of the drawing in pixels."""
        return None if self.width is None else self.width * PIXELS

    def document(self) -> dict[str, Any]:
        """Return the settings for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, document: Any) -> "Canvas":
        """Return the canvas of a document; refuse an invalid one."""
        kinds: dict[str, Any] = {
            "width": (int, float, type(None)), "title": bool, "caption": bool, "font_size": (int, float), "grey": bool,
        }  # fmt: skip
        stated = document if isinstance(document, dict) else {"drawing": document}
        for name, value in stated.items():
            if name not in kinds or not isinstance(value, kinds[name]) or (name[0] in "wf" and value is True):
                raise UsageError(f"drawing: expected a choice of {', '.join(kinds)}, got {name} {value!r:.60}")
        return cls(**stated)


def parse_width(text: str | float | None) -> float | None:
    """Return a width in centimetres from `column`, `page` or a number.

    >>> parse_width("column"), parse_width("12.5"), parse_width("9 cm"), parse_width(None)
    (8.5, 12.5, 9.0, None)
    """
    if text is None or (isinstance(text, int | float) and not isinstance(text, bool)):
        return text
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:cm)?", str(text))
    if text not in WIDTHS and found is None:
        raise UsageError(f"width: expected column, page or centimetres, got {text!r:.60}")
    return WIDTHS[str(text)] if found is None else float(found[1])


_WIDTHS = {
    letter: width
    for width, letters in {
        191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}·", 355: '"', 389: "*", 469: "^",
        500: "Jcksvxyz", 556: "#$0123456789?L_abdeghnopqu–", 584: "+<=>~−×", 611: "FTZ", 667: "&ABEKPSVXY",
        722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1000: "…—", 1015: "@",
    }.items()
    for letter in letters
}  # fmt: skip
_OTHER, _WIDE = 620, 1000
_BOLD = 1.09
# The parts of a name, each with the mark after it; a number stays whole.
_MARKED = re.compile(r"(?:[^\s_/.:,;=·-]|[.,](?=\d))+[_/.:,;=·-]*\s*|[_/.:,;=·-]+\s*|\s+")
# The first character of the scripts with full-width characters.
_SQUARE = 0x2E80


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in pixels without kerning, which would make it slightly narrower.

    >>> text_width("score", 10.0)
    24.45
    """
    units = sum(_WIDTHS.get(letter) or (_WIDE if ord(letter) >= _SQUARE else _OTHER) for letter in text)
    return units * size / 1000 * (_BOLD if bold else 1.0)


def break_lines(text: str, most: float, width: Callable[[str], float], *, marks: bool = False) -> list[str]:
    """Break a text into lines of at most `most`: at spaces, with `marks` after marks in names, and inside long parts.

    A word that is longer than a line is always broken after its marks.

    >>> break_lines("one two-three", 9, len), break_lines("one two-three", 9, len, marks=True)
    (['one', 'two-three'], ['one two-', 'three'])
    >>> break_lines("one two-three", 8, len)
    ['one two-', 'three']
    """
    lines: list[str] = [""]
    words = re.findall(r"\S+\s*|\s+", text)
    for piece in (
        part for word in words for part in (_MARKED.findall(word) if marks or width(word.rstrip()) > most else [word])
    ):
        if lines[-1] and width((lines[-1] + piece).rstrip()) > most:
            lines.append("")
        rest = piece
        while width(rest.rstrip()) > most and len(rest.rstrip()) > 1:
            fits = next(k for k in range(len(rest), 0, -1) if k == 1 or width(rest[:k]) <= most)
            lines[-1:] = [rest[:fits], ""]
            rest = rest[fits:]
        lines[-1] += rest
    return [line.rstrip() for line in lines if line.strip()] or [""]


def start_at(data: pl.DataFrame, start: float | None, *by: str) -> pl.DataFrame:
    """Let step curves begin at the start of an axis: the last row of each series before it moves there.

    >>> steps = pl.DataFrame({"series": ["a"] * 3, "time": [0.0, 0.5, 4.0], "value": [1.0, 0.5, 0.2]})
    >>> start_at(steps, 1.0, "series").rows()
    [('a', 1.0, 0.5), ('a', 4.0, 0.2)]
    """
    if start is None:
        return data
    return data.with_columns(pl.col("time").clip(lower_bound=start)).unique(
        [*by, "time"], keep="last", maintain_order=True
    )


def log_words(start: float | None, unit: str) -> str:
    """Return a caption text on the start of a logarithmic axis; empty for a linear one."""
    if start is None:
        return ""
    return f"; logarithmic time from {start:.3g} {unit} on, what holds there is drawn from there"
