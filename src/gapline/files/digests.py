"""Digests: canonical JSON (RFC 8785), lists for `sha256sum -c`, the Software Heritage identifier of a folder."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import rfc8785

from gapline.errors import IntegrityError, SnapshotError
from gapline.text import printable

_BITE = 1 << 20
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def sums_text(digests: dict[str, str]) -> str:
    r"""Return the list of files with their digests ("sha256:…").

    >>> sums_text({"b": "sha256:" + "0" * 64, "a": "sha256:" + "1" * 64}).split("\n")[0][60:]
    '1111  a'
    """
    return "".join(f"{digests[name].removeprefix('sha256:')}  {name}\n" for name in sorted(digests))


def parse_sums(text: str, where: str) -> dict[str, str]:
    """Parse a list for `sha256sum -c` into digests ("sha256:…") by name.

    Raises
    ------
    IntegrityError
        When a line is malformed or a name occurs twice; `where` is the name of the list in the message.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        found = _LINE.fullmatch(line)
        if found is None or found[2] in digests:
            what = "a name twice" if found else printable(line[:80])
            raise IntegrityError(f"{where}:{number}: expected a digest and a name, got {what!r}")
        digests[found[2]] = f"sha256:{found[1]}"
    return digests


@dataclass(slots=True)
class _Folder:
    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    folders: dict[str, "_Folder"] = field(default_factory=dict)


def blob_hash(stream: BinaryIO, size: int) -> bytes:
    """Return the git blob hash of a file of the given size."""
    # The format requires SHA-1; integrity rests on the sha256 sums, which are stored too.
    found = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := stream.read(_BITE):
        found.update(piece)
    return found.digest()


def directory_identifier(files: Mapping[str, tuple[bytes, bool]]) -> str:
    """Return the SWHID of a directory.

    Parameters
    ----------
    files
        By name (`in/a.txt`): the blob hash of the file and whether it is executable.

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


# Larger integers may have no exact double, and numbers in RFC 8785 are doubles.
EXACT = 2**53 - 1
# The digest cannot cover itself; the creation date is not content.
UNCOVERED = ("digest", "created")


def content_digest(document: Mapping[str, Any], *, where: str = "") -> str:
    """Return "sha256:" + hex of the canonical JSON of a document without `digest` and `created`.

    >>> content_digest({"b": 1, "a": 2.0}) == content_digest({"a": 2, "b": 1.0, "created": "today"})
    True
    """
    covered = {name: value for name, value in document.items() if name not in UNCOVERED}
    try:
        return "sha256:" + hashlib.sha256(rfc8785.dumps(covered)).hexdigest()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise SnapshotError(
            f"{where or document.get('name')}: expected content that JSON can hold, got {error}"
        ) from error


def parse_document(text: str | bytes, where: str) -> dict[str, Any]:
    """Parse a JSON object; duplicate keys are refused, because readers disagree on which one counts."""
    try:
        document = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique(pairs, where),
            parse_int=_as_number,
            parse_constant=lambda name: _refuse_constant(name, where),
        )
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{where}: expected JSON, got {error}") from error
    if not isinstance(document, dict):
        raise SnapshotError(f"{where}: expected a JSON object, got {type(document).__name__}")
    return document


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        seen: set[str] = set()
        twins = [name for name, _ in pairs if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise SnapshotError(f"{where}: expected each key once, got {', '.join(map(repr, twins))} again")
    return document


def _as_number(digits: str) -> int | float:
    number = int(digits) if len(digits) < 20 else float(digits)
    return number if abs(number) <= EXACT else float(number)


def _refuse_constant(name: str, where: str) -> None:
    raise SnapshotError(f"{where}: expected finite numbers, got {name}")
