"""The file of a package, .zip or .tar.zst: the same members give the same bytes; digests of the members."""

import os
import tarfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from gapline.campaign.store import file_digest
from gapline.contract.layout import SUFFIXES, SUMS
from gapline.errors import EnvironmentLacksError, UsageError, import_extra
from gapline.files.archives import write_zip
from gapline.files.atomic_write import refuse_no_file, write_atomically
from gapline.files.digests import blob_hash, sums_text
from gapline.files.open_file import open_regular

# 1980-01-01, the first date that a zip can state; used for both formats.
_STAMP = 315_532_800
_LEVEL = 12
Tell = Callable[[int, int], object]


def check_target(target: Path, *, stored: bool = False) -> str:
    """Return the suffix of the target; refuse other names, and formats whose library is missing."""
    suffix = next((suffix for suffix in SUFFIXES if target.name.endswith(suffix)), None)
    if suffix is None or target.name == suffix:
        raise UsageError(f"{target}: expected a name that ends in {' or '.join(SUFFIXES)}, got {target.name!r}")
    refuse_no_file(target)
    if suffix == ".zip":
        return suffix
    if stored:
        raise UsageError(f"{target}: expected a .zip for --stored, got {suffix}, which is packed by what it is")
    _zstandard(target)
    return suffix


def _zstandard(target: Path) -> Any:
    try:
        return import_extra("zstandard", "zst")
    except EnvironmentLacksError as error:
        raise EnvironmentLacksError(f"{target}: {error.message}", hint=f"{error.hint}, or -o a .zip") from None


def write_container(
    target: Path, files: dict[str, Path], *, executable: Collection[str], stored: bool = False, tell: Tell
) -> None:
    """Write files under their names into a package, atomically; files are read piece by piece."""
    if check_target(target, stored=stored) == ".zip":
        write_zip(target, dict(files), executable=executable, stored=stored, tell=tell)
        return
    # One thread: with several, the bytes would depend on their number.
    packer = _zstandard(target).ZstdCompressor(level=_LEVEL, write_checksum=True, threads=0)

    def fill(stream: Any) -> None:
        with (
            packer.stream_writer(stream, closefd=False) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            for number, name in enumerate(sorted(files)):
                tell(number, len(files))
                with open_regular(files[name]) as source:
                    archive.addfile(_member(name, source, executable=name in executable), source)
            tell(len(files), len(files))

    write_atomically(target, fill)


def _member(name: str, source: Any, *, executable: bool) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = source.seek(0, 2)
    source.seek(0)
    member.mtime, member.mode = _STAMP, 0o755 if executable else 0o644
    return member


def list_members(folder: Path) -> list[str]:
    """Return the names of all files of a folder, sorted."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir())


def write_sums(folder: Path) -> dict[str, bytes]:
    """Write the checksums of a folder's files; return git's hash of every file, including the list itself."""
    names = [name for name in list_members(folder) if name != SUMS]
    (folder / SUMS).write_text(sums_text({name: file_digest(folder / name) for name in names}), encoding="utf-8")
    hashes = {}
    for name in (*names, SUMS):
        with open_regular(folder / name) as stream:
            hashes[name] = blob_hash(stream, os.fstat(stream.fileno()).st_size)
    return hashes
