"""Files as bytes, unpacked by their first bytes: .gz and .zst, in several members or frames, cut or whole."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gapline.errors import EnvironmentLacksError, TraceError

# A packed file can claim any size: beyond this it has to be unpacked on disk first, where everyone sees how big it is.
MOST_UNPACKED = 4 << 30


class _Packing(NamedTuple):
    """How a packing begins, and how many bytes of it are unpacked before the size is looked at."""

    name: str
    magic: bytes
    bite: int


# One kilobyte of zstd can stand for 32 MB, and the limit must see it before memory does; gzip packs 1 : 1,032 at best.
_PACKINGS = (_Packing("gzip", b"\x1f\x8b", 1 << 16), _Packing("zstd", b"\x28\xb5\x2f\xfd", 1 << 10))


def read_bytes(path: Path) -> bytes:
    """Read and unpack a file; a cut or damaged archive is refused, never read in part."""
    packed = path.read_bytes()
    data, whole = unpack(packed, path)
    if not whole:
        name = next(packing.name for packing in _PACKINGS if packed.startswith(packing.magic))
        raise TraceError(f"{path}: expected a whole {name} file, got one that is cut or damaged")
    return data


def unpack(data: bytes, path: Path) -> tuple[bytes, bool]:
    """Return the content, and whether it is whole: what ends early gives its prefix, as a killed job leaves it."""
    packing = next((packing for packing in _PACKINGS if data.startswith(packing.magic)), None)
    if packing is None:
        return data, True
    start, errors = _unpacker(packing.name, path)
    pieces: list[bytes] = []
    size = 0
    # Appending to a packed file leaves several members or frames.
    while data.startswith(packing.magic):
        member, taken = start(), 0
        try:
            while taken < len(data) and not member.eof:
                pieces.append(member.decompress(data[taken : taken + packing.bite]))
                taken += packing.bite
                size += len(pieces[-1])
                if size > MOST_UNPACKED:
                    limit = f"{path}: expected at most {MOST_UNPACKED:,} bytes once unpacked, got more"
                    raise TraceError(limit, hint="unpack it on disk first")
        except errors as error:
            if size:
                return b"".join(pieces), False
            raise TraceError(f"{path}: expected a {packing.name} file, got {error}") from error
        if not member.eof:
            return b"".join(pieces), False
        data = member.unused_data + data[taken:]
    # Zeros are padding, as a tape leaves it; anything else behind the last member is no part of it.
    return b"".join(pieces), not data.strip(b"\0")


def _unpacker(name: str, path: Path) -> tuple[Callable[[], Any], type[Exception]]:
    if name == "gzip":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    try:
        import zstandard
    except ImportError:
        raise EnvironmentLacksError(f"{path}: zstandard is not installed", hint="pip install zstandard") from None
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
