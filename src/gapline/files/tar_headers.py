"""The headers of a tar, one behind the other: nothing of it is held, and what a header claims is bounded."""

import tarfile
from collections.abc import Iterator
from typing import Any

from gapline.errors import GaplineError, TraceError
from gapline.files.open_file import most_bytes, too_much
from gapline.text import printable

# A header of a tar with a long name or with attributes; beyond this nobody means well.
MOST_HEADER = 1 << 20


class Careful:
    """A stream of which only so much is taken at once, and so much in all: what is taken is held in memory."""

    def __init__(self, stream: Any, path: str, *, at_once: int, forward: bool, in_all: int | None = None) -> None:
        self._stream, self._path, self._at_once, self._forward = stream, path, at_once, forward
        self._in_all, self._taken = most_bytes() if in_all is None else in_all, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes, or refuse to."""
        size = self._at_once if size < 0 else size
        self._taken += size
        if size > self._at_once or self._taken > self._in_all:
            most = self._at_once if size > self._at_once else self._in_all
            raise too_much(self._path, most, what="bytes of names")
        found: bytes = self._stream.read(size)
        return found

    def seek(self, place: int, whence: int = 0, /) -> int:
        """Go to a place; where the stream only goes on, not back."""
        if self._forward and place < self._stream.tell():
            raise TraceError(f"{self._path}: expected members one behind the other, got one that is not")
        found: int = self._stream.seek(place, whence)
        return found

    def tell(self) -> int:
        """Return the place in the stream."""
        found: int = self._stream.tell()
        return found

    def seekable(self) -> bool:
        """Say that places can be gone to."""
        return True


class EndsEarlyError(TraceError):
    """A tar has no end behind its last member, whose content is there."""


class _Header(tarfile.TarInfo):
    """A header that lets its archive know why there is none: `tarfile` takes any end for the end."""

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(tar)
        except tarfile.HeaderError as error:
            tar.ended_by = error  # type: ignore[attr-defined]
            raise


def tar_headers(path: str, stream: Any, *, in_all: int | None = None) -> Iterator[tarfile.TarInfo]:
    """Yield the header of each member; whoever reads its content goes on reading the stream from there.

    Parameters
    ----------
    in_all
        How many bytes all headers together may have; as many as a file may where it is not given.

    Raises
    ------
    TraceError
        Where a header is damaged, or the archive ends before its end.
    """
    careful: Any = Careful(stream, path, at_once=MOST_HEADER, forward=True, in_all=in_all)
    before: tarfile.TarInfo | None = None
    try:
        tar = tarfile.TarFile(fileobj=careful, tarinfo=_Header, errors="surrogateescape")
        while (info := tar.next()) is not None:
            if info.size < 0:
                raise ValueError(f"a member of {info.size:,} bytes")
            before = info
            yield info
            tar.members.clear()  # type: ignore[attr-defined]  # it would hold them all
            # `tarfile` would go back by a byte to see that the content was there.
            if stream.tell() < tar.offset:
                stream.seek(tar.offset - 1)
                if not stream.read(1):
                    raise tarfile.ReadError("unexpected end of data")
    except (GaplineError, OSError):
        raise
    # On a damaged header `tarfile` raises whatever its arithmetic comes to.
    except Exception as error:
        raise TraceError(f"{path}: expected a whole tar archive, got {printable(error)}{_behind(before)}") from error
    # An archive ends with a block of zeros, unless it was cut.
    if not isinstance(getattr(tar, "ended_by", None), tarfile.EOFHeaderError):  # type: ignore[attr-defined]
        ends = f"got one that ends early or is damaged{_behind(before)}"
        raise EndsEarlyError(f"{path}: expected a whole tar archive, {ends}")


def _behind(info: tarfile.TarInfo | None) -> str:
    return "" if info is None else f" at {printable(info.name)} or behind it"
