"""Packages that mean no good, as a .zip and as a .tar.zst: each is a small file, whatever it stands for."""

import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import zstandard

from packages import sums_of, write_zst

BASE = {"package.json": b'{"schema": "gapline.package/1"}\n', "study.toml": b"", "campaign/manifest.json": b"{}"}
_BLOCK = 128 << 10


def base(**more: bytes) -> dict[str, bytes]:
    files = BASE | more
    return files | {"sha256sums.txt": sums_of(files)}


def zip_with(
    target: Path, *members: tuple[zipfile.ZipInfo | str, bytes], files: dict[str, bytes] | None = None
) -> Path:
    """Write a package with further members, whatever they are called."""
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for info, data in [*(base() if files is None else files).items(), *members]:
            archive.writestr(info, data)
    return target


def zip_info(name: str, kind: int = stat.S_IFREG) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr, info.create_system = (kind | 0o644) << 16, 3
    return info


def tar_info(name: str, kind: bytes = tarfile.REGTYPE, **facts: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info


def tar_bytes(*members: tuple[tarfile.TarInfo, bytes], files: dict[str, bytes] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (base() if files is None else files).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def tar_with(target: Path, *members: tuple[tarfile.TarInfo, bytes], files: dict[str, bytes] | None = None) -> Path:
    return write_zst(target, tar_bytes(*members, files=files))


def zip_claiming(target: Path, size: int, name: str = "campaign/zeros.npy") -> Path:
    """A member that says it has so many bytes."""
    with zipfile.ZipFile(target, "w") as archive:
        for known, data in base().items():
            archive.writestr(known, data)
        if name not in BASE:
            archive.writestr(name, b"")
        archive.getinfo(name).file_size = size
    return target


def zip_list(target: Path, number: int) -> Path:
    """A list of so many members that are not there."""
    names = [*(name.encode() for name in base()), *(b"journal/%07d" % n for n in range(number))]
    listed = b"".join(
        struct.pack("<4s6H3I5H2I", b"PK\1\2", 788, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0) + name
        for name in names
    )
    count = min(len(names), 0xFFFF)
    target.write_bytes(b"PK\3\4" + listed + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(listed), 4, 0))
    return target


def tar_of_headers(target: Path, number: int) -> Path:
    """So many members without content."""
    header = tar_info("journal/run.json").tobuf(tarfile.USTAR_FORMAT)
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    with target.open("wb") as stream:
        for _ in range(number // 1000):
            stream.write(packer.compress(header * 1000))
        stream.write(packer.compress(bytes(1024)) + packer.flush())
    return target


def zeros_frame(size: int, *, window_log: int = 17) -> Iterator[bytes]:
    """A frame of zstd that stands for so many zeros: four bytes for each 128 KiB."""
    yield b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3])
    blocks = -(-size // _BLOCK)
    for number in range(blocks):
        yield struct.pack("<I", (number == blocks - 1) | 1 << 1 | _BLOCK << 3)[:3] + b"\0"


def tar_and_zeros(target: Path, size: int, *, window_log: int = 17) -> Path:
    """A whole package, and so many zeros behind its end."""
    write_zst(target, tar_bytes())
    with target.open("ab") as stream:
        for piece in zeros_frame(size, window_log=window_log):
            stream.write(piece)
    return target
