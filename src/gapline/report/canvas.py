"""How large a figure is drawn, and what stands in it besides the data."""

import re
from dataclasses import dataclass
from typing import Any

from gapline.errors import UsageError

# Centimetres of a column of a two-column paper, and of a page of one.
WIDTHS = {"column": 8.5, "page": 17.5}
# What type of this size needs at least, and more than any page has.
NARROWEST, WIDEST = 5.0, 100.0
SMALLEST, LARGEST = 4.0, 30.0
# Points of the letters at the axes; pixels of a drawing are those of a browser, 96 to an inch.
FONT_SIZE = 8.25
PIXELS = 96 / 2.54


@dataclass(frozen=True, slots=True)
class Canvas:
    """The choices of a drawing: none of them changes what is shown.

    Parameters
    ----------
    width
        Of the whole figure in centimetres; where none is given, each has the width that suits it.
    title, caption
        Whether these are part of the picture; both are in the file and beside it either way.
    font_size
        Of the letters at the axes, in points.
    grey
        Without colours: greys, dashes and shapes tell arms apart.
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
        """Return the choices for JSON."""
        return {name: getattr(self, name) for name in ("width", "title", "caption", "font_size", "grey")}

    @classmethod
    def of(cls, document: Any) -> "Canvas":
        """Return the canvas of a document; what is not one is refused."""
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
