"""The lines and numbers of foreign logs: strict about numbers, tolerant of everything else."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gapline.contract.number_limits import EXACT, is_rounded

# A solver's line is short. A longer one is a dump or a broken file; it is cut to limit memory and the time of regexes.
MOST_LINE = 16 * 1024
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Colours, cursor movements and titles, which programs print for a terminal, and some of them also into files.
_ESCAPE = b"\x1b"
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\r\n]{0,200}(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[=>78cDEHM])"
)
_LONGEST_ESCAPE = 256


def uncoloured(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the pieces of a text without the escape sequences of a terminal, which may span two pieces.

    Binary data, which has a zero byte in its first piece, is not changed.

    >>> b"".join(uncoloured([b"\x1b[1;32mo 9\x1b[", b"0m\n"]))
    b'o 9\n'
    """
    held, is_text = b"", None
    for piece in pieces:
        if is_text is None:
            is_text = b"\0" not in piece
        # Most logs have no escape at all, and searching for the byte is cheap.
        if not is_text or not (held or _ESCAPE in piece):
            yield piece
            continue
        text = _ESCAPES.sub(b"", held + piece)
        # An escape that remains at the end may be the beginning of a sequence.
        begun = text.rfind(_ESCAPE, max(0, len(text) - _LONGEST_ESCAPE))
        held = b"" if begun < 0 or b"\n" in text[begun:] else text[begun:]
        if len(text) > len(held):
            yield text[: len(text) - len(held)]
    if held:
        yield held


def log_lines(data: bytes) -> "Lines":
    r"""Return (line number, text) with LF, CRLF or CR endings removed; a line beyond 16 KiB is cut.

    >>> list(log_lines(b"a\r\nb\n\nc"))
    [(1, 'a'), (2, 'b'), (3, ''), (4, 'c')]
    """
    return Lines((data,))


class LineFilter(NamedTuple):
    """Selects the relevant lines of a log: those that do not begin with `mark`, and those that contain one of `words`.

    `words` are in lower case and match any case. Other lines may be returned too, but none of these is missing.
    """

    mark: bytes
    words: tuple[bytes, ...]

    def places(self, piece: bytes) -> list[int]:
        """Return sorted positions inside such lines; the first line of a piece is not examined."""
        others = re.compile(rb"\n[^" + re.escape(self.mark) + rb"\n]")
        found = [match.start() + 1 for match in others.finditer(piece)]
        small = piece.lower()
        for word in self.words:
            place = small.find(word)
            while place >= 0:
                found.append(place)
                # Further matches on the same line are not needed.
                end = small.find(b"\n", place)
                place = small.find(word, end) if end >= 0 else -1
        return sorted(found)


class Lines(Iterator[tuple[int, str]]):
    r"""The lines of a log as `log_lines` returns them, from pieces that may end anywhere.

    With `line_filter`, irrelevant lines are counted but not decoded, unless line ends are carriage returns. `torn_at`
    is the number of the last line if that has no line end, as in the file of a killed writer; 0 until it is reached.
    The first piece determines the line ends of the log.

    >>> lines = Lines([b"a\nb", b"c\r\nd"])
    >>> list(lines), lines.torn_at
    ([(1, 'a'), (2, 'bc'), (3, 'd')], 3)
    """

    __slots__ = ("_filter", "_lines", "ending", "torn_at")

    def __init__(self, pieces: Iterable[bytes], line_filter: LineFilter | None = None) -> None:
        self.torn_at, self.ending, self._filter = 0, b"\n", line_filter
        self._lines = self._split(iter(pieces))

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self._lines

    def __next__(self) -> tuple[int, str]:
        return next(self._lines)

    def _split(self, pieces: Iterator[bytes]) -> Iterator[tuple[int, str]]:
        piece = next(pieces, b"")
        ending = self.ending = _ending(piece)
        number, begun, last = 0, b"", b""
        line_filter = self._filter if ending == b"\n" else None
        while piece:
            start, size = 0, len(piece)
            places = iter(line_filter.places(piece)) if line_filter is not None else None
            while (end := piece.find(ending, start)) >= 0:
                number += 1
                line = piece[start : min(end, start + MOST_LINE)]
                if begun:
                    line, begun = (begun + line)[:MOST_LINE], b""
                yield number, line.decode("utf-8", "replace").rstrip("\r")
                start = end + 1
                if places is not None:
                    place = next((one for one in places if one >= start), size)
                    following = max(start, piece.rfind(ending, start, place) + 1)
                    number += piece.count(ending, start, following)
                    start = following
            if start < size:
                # Cut like a line: the rest of a broken file without line ends is not kept.
                begun = (begun + piece[start : start + MOST_LINE])[:MOST_LINE]
                last = piece[-1:]
            piece = next(pieces, b"")
        if begun:
            number += 1
            self.torn_at = 0 if last in (b"\n", b"\r") else number
            yield number, begun.decode("utf-8", "replace").rstrip("\r")


def parse_number(text: str) -> float | None:
    """Return the number in a text, or None; stricter than `float`: no inf, nan, 1_000, 1,5, 1e400 or foreign digits.

    An integer that a float cannot represent exactly gives None too.

    >>> parse_number("-1.5e3"), parse_number("1_000"), parse_number("1,5"), parse_number("1e400")
    (-1500.0, None, None, None)
    >>> parse_number("9007199254740992"), parse_number("9007199254740993")
    (9007199254740992.0, None)
    """
    text = text.strip()
    # No float has more than some 330 digits: a longer text is noise, and slow to convert.
    if len(text) > 400 or not NUMBER.fullmatch(text):
        return None
    value = float(text)
    if abs(value) >= EXACT and is_rounded(text):
        return None
    return value if math.isfinite(value) else None


def shown(text: str | bytes) -> str:
    """Return a text for an error message: quoted, escaped, at most 60 characters."""
    if isinstance(text, bytes):
        text = text[:240].decode("utf-8", "replace")
    return ascii(text) if len(text) <= 60 else ascii(text[:60]) + "…"


def file_name(path: str) -> str:
    r"""Return the last part of a path in a log, of any operating system, perhaps in quotes.

    >>> file_name('"C:\\runs\\a.vrp"'), file_name("in/b.mps ")
    ('a.vrp', 'b.mps')
    """
    return path.strip().strip("'\"").replace("\\", "/").rsplit("/", 1)[-1]


def torn_line(data: bytes) -> int:
    r"""Return the number of the last line if it has no line end, as in the file of a killed writer; otherwise 0.

    >>> torn_line(b"a\nb"), torn_line(b"a\nb\n"), torn_line(b"")
    (2, 0, 0)
    """
    return data.count(_ending(data)) + 1 if data and data[-1:] not in (b"\n", b"\r") else 0


def _ending(data: bytes) -> bytes:
    # Otherwise a file with CR only (an old spreadsheet export) would be a single line.
    return b"\r" if b"\n" not in data and b"\r" in data else b"\n"
