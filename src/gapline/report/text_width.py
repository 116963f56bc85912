"""How wide text is in a drawing, and where it is broken.

Drawings are laid out with Liberation Sans, whose letters are as wide as those of Helvetica and Arial.
"""

import re
from collections.abc import Callable

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
# The pieces of a name, each with the mark behind it; a number stays whole.
_MARKED = re.compile(r"(?:[^\s_/.:,;=·-]|[.,](?=\d))+[_/.:,;=·-]*\s*|[_/.:,;=·-]+\s*|\s+")
# The first letter of the scripts whose letters are squares.
_SQUARE = 0x2E80


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the pixels that a text takes without kerning, which makes it a little narrower.

    >>> text_width("score", 10.0)
    24.45
    """
    units = sum(_WIDTHS.get(letter) or (_WIDE if ord(letter) >= _SQUARE else _OTHER) for letter in text)
    return units * size / 1000 * (_BOLD if bold else 1.0)


def broken_lines(text: str, most: float, width: Callable[[str], float], *, marks: bool = False) -> list[str]:
    """Break a text into lines of at most `most`, at spaces, after `marks` of names, and inside of what is too long.

    A word that no line holds is broken after its marks in any case.

    >>> broken_lines("one two-three", 9, len), broken_lines("one two-three", 9, len, marks=True)
    (['one', 'two-three'], ['one two-', 'three'])
    >>> broken_lines("one two-three", 8, len)
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
