"""The identifier that Software Heritage gives a directory: the hash of its tree as git makes it.

It depends on names, bytes and which files can be executed, and on nothing of how they were packed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

_BITE = 1 << 20


@dataclass(slots=True)
class _Folder:
    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    folders: dict[str, "_Folder"] = field(default_factory=dict)


def blob_hash(stream: BinaryIO, size: int) -> bytes:
    """Return git's hash of a file of a size."""
    # git chose SHA-1; what is signed and verified are the sha256 sums beside it.
    found = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := stream.read(_BITE):
        found.update(piece)
    return found.digest()


def directory_identifier(files: Mapping[str, tuple[bytes, bool]]) -> str:
    """Return the SWHID of a directory.

    Parameters
    ----------
    files
        By name (`in/a.txt`): the hash of the file and whether it can be executed.

    >>> directory_identifier({})
    'swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    """
    top = _Folder()
    for name, (digest, executable) in files.items():
        *parents, last = name.split("/")
        folder = top
        for parent in parents:
            folder = folder.folders.setdefault(parent, _Folder())
        folder.files[last] = (b"100755" if executable else b"100644", digest)
    return f"swh:1:dir:{_tree_hash(top).hex()}"


def _tree_hash(folder: _Folder) -> bytes:
    entries = [(name.encode(), mode, digest) for name, (mode, digest) in folder.files.items()]
    # git sorts folders as if their names ended in a slash.
    entries += [(name.encode() + b"/", b"40000", _tree_hash(inside)) for name, inside in folder.folders.items()]
    body = b"".join(
        mode + b" " + name.removesuffix(b"/") + b"\0" + digest for name, mode, digest in sorted(entries, key=_first)
    )
    return hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest()


def _first(entry: tuple[bytes, bytes, bytes]) -> bytes:
    return entry[0]
