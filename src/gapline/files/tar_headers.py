"""Read the headers of a tar one after the other, with bounded sizes and without keeping them in memory."""

import tarfile
from collections.abc import Iterator
from functools import partial
from typing import Any

from gapline.errors import GaplineError, TraceError
from gapline.files.archives import Careful
from gapline.files.open_file import most_bytes, too_much
from gapline.text import printable

# Limit for one header with a long name or with attributes; a larger one is malicious.
_MOST_HEADER = 1 << 20


class EndsEarlyError(TraceError):
    """The end marker of a tar is missing, although its last member is complete."""


class _Header(tarfile.TarInfo):
    """A header that records on its archive why reading ended, because `tarfile` treats several errors as the end."""

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(tar)
        except tarfile.HeaderError as error:
            tar.ended_by = error  # type: ignore[attr-defined]
            raise


def tar_headers(path: str, stream: Any, *, in_all: int | None = None) -> Iterator[tarfile.TarInfo]:
    """Yield the header of each member; the caller may then read its content from the stream.

    Parameters
    ----------
    in_all
        Limit in bytes of all headers together; by default the size limit of a file.

    Raises
    ------
    TraceError
        When a header is damaged or the archive is truncated.
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
            # Check here that the content is complete: `tarfile` would seek back by one byte for it.
            if stream.tell() < tar.offset:
                stream.seek(tar.offset - 1)
                if not stream.read(1):
                    raise tarfile.ReadError("unexpected end of data")
    except (GaplineError, OSError):
        raise
    # For a damaged header, `tarfile` may raise any exception.
    except Exception as error:
        raise TraceError(f"{path}: expected a whole tar archive, got {printable(error)}{_behind(before)}") from error
    # An archive ends with a block of zeros, unless it was truncated.
    if not isinstance(getattr(tar, "ended_by", None), tarfile.EOFHeaderError):  # type: ignore[attr-defined]
        ends = f"got one that ends early or is damaged{_behind(before)}"
        raise EndsEarlyError(f"{path}: expected a whole tar archive, {ends}")


def _behind(info: tarfile.TarInfo | None) -> str:
    return "" if info is None else f" at {printable(info.name)} or behind it"


def too_many_names(path: str, _size: int, most: int) -> OSError:
    """Return the error for a member list, or for headers, beyond the limit."""
    return too_much(path, most, what="bytes of names")


def wrong_tar_kind(info: tarfile.TarInfo) -> str | None:
    """Return why a member of a tar is refused, apart from its name, or None."""
    if info.issym() or info.islnk():
        return "a link"
    return None if info.isdir() or (info.isreg() and not info.issparse()) else "no plain file"
