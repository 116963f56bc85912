"""The headers of a tar, one behind the other: nothing of it is held, and what a header claims is bounded."""

import tarfile
from collections.abc import Iterator
from functools import partial
from typing import Any

from gapline.errors import GaplineError, TraceError
from gapline.files.archives import Careful
from gapline.files.open_file import most_bytes, too_much
from gapline.text import printable

# A header of a tar with a long name or with attributes; beyond this nobody means well.
_MOST_HEADER = 1 << 20


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
    most = most_bytes() if in_all is None else in_all
    careful: Any = Careful(stream, partial(too_many_names, path), at_once=_MOST_HEADER, in_all=most, forward=True)
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


def too_many_names(path: str, _size: int, most: int) -> OSError:
    """Return the error of a list of members, or of headers, that is too long."""
    return too_much(path, most, what="bytes of names")


def wrong_tar_kind(info: tarfile.TarInfo) -> str | None:
    """Say why a member of a tar may not be unpacked, whatever its name."""
    if info.issym() or info.islnk():
        return "a link"
    return None if info.isdir() or (info.isreg() and not info.issparse()) else "no plain file"
