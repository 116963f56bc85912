"""A large file in blocks that end where a row ends, so that memory holds a block of it and not all."""

import mmap
from collections.abc import Iterable, Iterator

import numpy as np

from gapline.capture.unpack import Content
from gapline.errors import TraceError

# Of a file; its cells as text take some five times as much.
BLOCK = 4 << 20
# A row, and what lies between two quotes, is far shorter: what is not is no table, and would be held in memory whole.
MOST_ROW = 256 << 20

_NEWLINE, _QUOTE = ord("\n"), ord('"')


def line_blocks(content: Content, *, start: int = 0, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole lines; the last one may lack its line end.

    >>> list(line_blocks(b"a\nb", source="t"))
    [b'a\nb']
    """
    return _blocks(content, start, None, source)


def row_blocks(content: Content, separator: str, *, start: int = 0, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole rows of a CSV file: a line end between quotes ends no row.

    >>> list(row_blocks(b'1,"2\n3"\n4,5\n', ",", source="t"))
    [b'1,"2\n3"\n4,5\n']
    """
    return _blocks(content, start, separator, source)


def text_blocks(pieces: Iterable[bytes], *, source: str) -> Iterator[bytes]:
    r"""Yield blocks of whole lines of a text that comes in pieces; every line end is a line feed.

    >>> list(text_blocks([b"a\r", b"\nb\rc"], source="t"))
    [b'a\nb\nc']
    """
    waiting: list[bytes] = []
    size, enough = 0, BLOCK
    for piece in _with_line_feeds(pieces):
        waiting.append(piece)
        size += len(piece)
        if size < enough:
            continue
        data = b"".join(waiting)
        end = data.rfind(b"\n") + 1
        if not end and size > MOST_ROW:
            raise TraceError(f"{source}: expected a line within {MOST_ROW:,} bytes, got none")
        yield from line_blocks(data[:end], source=source)
        waiting, size = [data[end:]], len(data) - end
        # Looked for again where there is as much more, or a long line would be joined for each of its pieces.
        enough = max(BLOCK, 2 * size)
    yield from line_blocks(b"".join(waiting), source=source)


def _with_line_feeds(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        text = held + piece
        # What follows tells whether it ends a line by itself.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(held)
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    if held:
        yield b"\n"


def let_go(content: Content, end: int) -> None:
    """Give back the memory of what was read of a mapped file: it would stay as long as there is room."""
    if isinstance(content, mmap.mmap):
        content.madvise(mmap.MADV_DONTNEED, 0, end)


def _blocks(content: Content, start: int, separator: str | None, source: str) -> Iterator[bytes]:
    while start < len(content):
        size = BLOCK
        while True:
            block = content[start : start + size]
            if start + len(block) == len(content):
                break
            if end := block.rfind(b"\n") + 1 if separator is None else _row_end(block, separator):
                block = block[:end]
                break
            if size >= MOST_ROW:
                what = "a line" if separator is None else "a row, and quotes around whole fields,"
                raise TraceError(f"{source}: expected {what} within {size:,} bytes, got none after byte {start:,}")
            size *= 2
        start += len(block)
        let_go(content, start)
        yield block


def _row_end(block: bytes, separator: str) -> int:
    """Return where the last row of a block ends that ends for certain, 0 where none does."""
    if _QUOTE not in block:
        return block.rfind(b"\n") + 1
    marks = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(marks == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    # A quote inside a name opens nothing to the parser, and from there on no count of quotes says where a row ends.
    before = marks[opening - 1]
    strange = ~np.isin(before, [_QUOTE, _NEWLINE, ord(separator)]) & (opening > 0)
    certain = int(opening[strange][0]) if strange.any() else len(block)
    # The end of a quoted field, or of the last one before the block ends inside it.
    while (end := block.rfind(b"\n", 0, certain)) >= 0:
        place = int(np.searchsorted(opening, end))
        inside = place > 0 and (place > len(closing) or closing[place - 1] > end)
        if not inside:
            return end + 1
        certain = int(opening[place - 1])
    return 0
