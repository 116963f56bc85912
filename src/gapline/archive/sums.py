"""By what a staged package is known: the digest of every file, and the identifier of the whole directory."""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from gapline.model.package import SUMS
from gapline.model.regular import open_regular
from gapline.model.sums import sums_text
from gapline.model.swhid import directory_identifier

_BITE = 1 << 20


class Fingerprint(NamedTuple):
    """The sha256 of a file, and the hash that git gives it."""

    sha256: str
    blob: bytes


def fingerprint(path: Path) -> Fingerprint:
    """Read a file once and return both of its hashes."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        # git chose SHA-1; what is verified are the sha256 sums beside it.
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        while piece := stream.read(_BITE):
            sha256.update(piece)
            blob.update(piece)
    return Fingerprint(f"sha256:{sha256.hexdigest()}", blob.digest())


def staged_files(folder: Path) -> list[str]:
    """Return the names of all files of a folder, sorted."""
    found: list[str] = []
    for place, _, files in os.walk(folder):
        inside = Path(place).relative_to(folder)
        found += [(inside / name).as_posix() for name in files]
    return sorted(found)


def write_sums(folder: Path, names: Iterable[str]) -> dict[str, Fingerprint]:
    """Write the list of sums of a folder's files; return what every file is known by, the list included."""
    found = {name: fingerprint(folder / name) for name in names if name != SUMS}
    (folder / SUMS).write_text(sums_text({name: one.sha256 for name, one in found.items()}), encoding="utf-8")
    return found | {SUMS: fingerprint(folder / SUMS)}


def swhid_of(files: Mapping[str, Fingerprint], executable: Collection[str]) -> str:
    """Return the SWHID of a directory with these files."""
    return directory_identifier({name: (one.blob, name in executable) for name, one in files.items()})
