"""Compressed and re-encoded files: .gz and .zst with several members, byte order marks, UTF-16, seeking."""

import contextlib
import io
import mmap
import os
import tempfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from gapline.errors import EnvironmentLacksError, TraceError
from gapline.files.open_file import VARIABLE, most_bytes, open_input, open_regular, too_much

# Larger content is unpacked to an unnamed temporary file and memory-mapped.
IN_MEMORY = 16 << 20

Content = bytes | mmap.mmap


class _Packing(NamedTuple):
    """A compression format: its first bytes, and how many bytes are unpacked between two checks of the size."""

    name: str
    magic: bytes
    bite: int


# One kilobyte of zstd can unpack to 32 MB, so check the limit often; gzip reaches at most 1 : 1,032.
_PACKINGS = (_Packing("gzip", b"\x1f\x8b", 1 << 16), _Packing("zstd", b"\x28\xb5\x2f\xfd", 1 << 10))


def read_bytes(path: Path) -> bytes:
    """Read and unpack a file; a truncated or damaged archive is refused, never read in part."""
    return bytes(read_content(path))


def read_content(path: Path) -> Content:
    """Return the unpacked content of a file, memory-mapped if it is large; a truncated archive is refused."""
    with open_content(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > IN_MEMORY:
            return mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ)
        return stream.read()


def open_content(path: Path) -> BinaryIO:
    """Open a file on disk with the unpacked content: the file itself, or a temporary copy of an archive or a pipe."""
    most = most_bytes()
    with contextlib.ExitStack() as opened:
        stream = opened.enter_context(open_input(path))
        packing = _packing_of(stream)
        if packing is not None or not stream.seekable():
            target: Any = opened.enter_context(tempfile.TemporaryFile())
            if packing is not None:
                _unpack(stream, packing, target, path)
            else:
                while piece := stream.read(1 << 20):
                    target.write(piece)
                    if target.tell() > most:
                        raise too_much(path, most)
            target.seek(0)
            stream.close()
            stream = target
        elif os.fstat(stream.fileno()).st_size > most:
            raise too_much(path, most)
        # From here on the caller has to close the stream.
        opened.pop_all()
        return stream


class Unpacked:
    """The content of a stream in pieces, unpacked if compressed; a truncated stream yields its prefix.

    After iteration, `whole` is False if the stream was truncated, as when a job was killed.
    """

    def __init__(self, stream: BinaryIO, path: Path | str) -> None:
        self.whole = True
        self._stream, self._path = stream, path

    def __iter__(self) -> Iterator[bytes]:
        packing = _packing_of(self._stream)
        if packing is None:
            while piece := self._stream.read(1 << 20):
                yield piece
        else:
            self.whole = yield from _unpacked(self._stream, packing, self._path)


def _packing_of(stream: BinaryIO) -> _Packing | None:
    # Peek instead of reading, because a pipe cannot seek back.
    head = stream.peek(4)[:4] if isinstance(stream, io.BufferedReader) else b""
    return next((packing for packing in _PACKINGS if head.startswith(packing.magic)), None)


def _unpack(stream: BinaryIO, packing: _Packing, target: IO[bytes], path: Path) -> None:
    """Unpack into a target; refuse a truncated or damaged file."""
    most, pieces = most_bytes(), _unpacked(stream, packing, path)
    while True:
        try:
            target.write(next(pieces))
        except StopIteration as end:
            if not end.value:
                got = f"expected a whole {packing.name} file, got one that is cut or damaged"
                raise TraceError(f"{path}: {got}", hint="copy or pack it again") from None
            return
        if target.tell() > most:
            limit = f"{path}: expected at most {most:,} bytes once unpacked, got more"
            raise TraceError(limit, hint=f"{VARIABLE} raises the limit")


def _unpacked(stream: BinaryIO, packing: _Packing, path: Path | str) -> Generator[bytes, None, bool]:
    """Yield the unpacked content in pieces; return whether the file was complete."""
    start, errors = _unpacker(packing.name, path)
    data, given = stream.read(packing.bite), False
    # Appending to a packed file leaves several members or frames.
    while data.startswith(packing.magic) or (data and packing.magic.startswith(data)):
        member = start()
        try:
            while data and not member.eof:
                piece = member.decompress(data)
                given = given or bool(piece)
                if piece:
                    yield piece
                data = b"" if member.eof else stream.read(packing.bite)
        except errors as error:
            if given:
                return False
            raise TraceError(f"{path}: expected a {packing.name} file, got {error}") from error
        if not member.eof:
            return False
        data = member.unused_data or stream.read(packing.bite)
        if len(data) < len(packing.magic):
            data += stream.read(packing.bite)
    # Zeros after the last member are padding, as on tapes; anything else means that the file is damaged.
    while data and not data.strip(b"\0"):
        data = stream.read(1 << 20)
    return not data


def _unpacker(name: str, path: Path | str) -> tuple[Callable[[], Any], type[Exception]]:
    if name == "gzip":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    try:
        import zstandard
    except ImportError:
        raise EnvironmentLacksError(f"{path}: zstandard is not installed", hint="pip install 'gapline[zst]'") from None
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError


PACKED = (".gz", ".zst")
# Byte order marks, which some systems write at the beginning of a file.
UTF_8_MARK = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text_start(content: Content) -> int:
    """Return the offset of the text of a file, after a UTF-8 byte order mark if there is one."""
    return len(UTF_8_MARK) if content[: len(UTF_8_MARK)] == UTF_8_MARK else 0


def as_utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Remove a byte order mark, and turn UTF-16 into UTF-8."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= 3:
            break
    if first[:2] in UTF_16:
        # A Windows shell writes UTF-16 when the output of a solver is redirected.
        decoder = getincrementaldecoder("utf-16")("replace")
        for piece in chain((first,), pieces):
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")
        return
    yield first.removeprefix(UTF_8_MARK)
    yield from pieces


def path_without_packing(path: str) -> str:
    """Return a path without the suffixes of compression."""
    while path.lower().endswith(PACKED):
        path = path[: path.rfind(".")]
    return path


class Unrolled:
    """Seekable content of a .gz or .zst file, best read in order: seeking back starts again from the beginning.

    At the end, `whole` says whether the file was complete.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        self._stream = open_regular(self._path)
        self._unpacked = Unpacked(self._stream, self._path)
        self._pieces: Iterator[bytes] = iter(self._unpacked)
        self._piece, self._used, self._at = b"", 0, 0

    @property
    def whole(self) -> bool:
        """Whether the file is complete, as far as it was read."""
        return self._unpacked.whole

    def tell(self) -> int:
        """Return the position in the unpacked content."""
        return self._at

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Seek to a position, or to the end if that comes first."""
        assert whence == io.SEEK_SET
        if place < self._at:
            self.close()
            self._begin()
        while self._at < place and self._fill():
            self._pass(min(place - self._at, len(self._piece) - self._used))
        return self._at

    def read(self, size: int) -> bytes:
        """Read `size` bytes, or fewer at the end."""
        found = io.BytesIO()
        while (left := size - found.tell()) > 0 and self._fill():
            found.write(self._piece[self._used : self._used + left])
            self._pass(min(left, len(self._piece) - self._used))
        return found.getvalue()

    def _pass(self, size: int) -> None:
        self._used += size
        self._at += size

    def _fill(self) -> bool:
        while self._used == len(self._piece):
            following = next(self._pieces, None)
            if following is None:
                return False
            self._piece, self._used = following, 0
        return True

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __del__(self) -> None:
        # The object is kept between chunks, and no caller knows which chunk is the last.
        if hasattr(self, "_stream"):
            self.close()
