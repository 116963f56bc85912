"""Files as bytes, unpacked where they are compressed: a cut or damaged archive is refused, never read in part."""

import gzip
import zlib
from pathlib import Path
from typing import Any

from gapline.errors import EnvironmentLacksError, TraceError


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacking .gz and .zst by their first bytes."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TraceError(f"{path}: expected a whole gzip file, got {error}") from error
    if data[:4] == b"\x28\xb5\x2f\xfd":
        try:
            import zstandard
        except ImportError:
            raise EnvironmentLacksError(f"{path}: zstandard is not installed", hint="pip install zstandard") from None
        try:
            return _unpack_frames(data, zstandard.ZstdDecompressor())
        except (EOFError, zstandard.ZstdError) as error:
            raise TraceError(f"{path}: expected a whole zstd file, got {error}") from error
    return data


def _unpack_frames(data: bytes, decompressor: Any) -> bytes:
    """Unpack every frame of a zstd file: appending to one leaves several, and a cut one must not pass for whole."""
    pieces = []
    while data:
        frame = decompressor.decompressobj()
        pieces.append(frame.decompress(data))
        if not frame.eof:
            raise EOFError("one that ends inside a frame")
        data = frame.unused_data
    return b"".join(pieces)
