"""A digest of the problem in an instance file: of what checker and solver read, not of the text around it.

A changed comment, a moved sidecar or a new picture of the city changes the bytes of an instance, but not the problem.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gapline.files.open_file import most_bytes, read_regular, too_much

Beside = Callable[[str], bytes | None]

_UNPACK: dict[str, Callable[[io.BytesIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Fields of a MAMUT instance that only state its origin, as text and as digests of sidecars that are only drawn.
_UNREAD = ("metadata", "instance_origin", "benchmark_name")
# Every TSPLIB or CVRPLIB file has one of these lines.
_LIBRARY = re.compile(r"^(DIMENSION|EDGE_WEIGHT_TYPE)\s*:", re.MULTILINE)
# The `.0` of a whole number, outside of strings.
_POINT_ZERO = re.compile(rb'("(?:[^"\\]|\\.)*")|\.0(?=[,\]}]|$)')
_WORDS = re.compile(r"^(NAME|COMMENT)\s*:")
_POINTER = re.compile(rb"\Aversion https://git-lfs\S*\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")
# A file in the root of a MAMUT collection; instances name shared sidecars relative to this root.
COLLECTION_MARKER = "mamut-collection.json"


def problem_digest(data: bytes, name: str, beside: Beside = lambda _: None) -> str:
    """Return the digest of the problem in an instance file of this name; `beside` returns the bytes of a sidecar.

    JSON counts by its content, whatever the layout; MAMUT's `.vrp.json` without its metadata, and each sidecar by the
    digest that pins it, else by its content. TSPLIB and CVRPLIB files count without NAME and COMMENT, other text
    without trailing whitespace, and compressed files as what they contain. Any other file counts byte by byte.

    >>> one, other = b'{"demands": [1, 2], "metadata": {"picture": "a"}}', b'{"metadata": {}, "demands": [1.0, 2]}'
    >>> problem_digest(one, "i.vrp.json") == problem_digest(other, "i.vrp.json")
    True
    """
    stem, data = _unpacked(name, data)
    return "sha256:" + hashlib.sha256(_content(data, stem, beside)).hexdigest()


def problem_digest_of(path: Path) -> str:
    """Return the digest of the problem in a file; sidecars are searched in its folder and in the folders above."""

    def beside(name: str) -> bytes | None:
        # Sidecars are named relative to the root of their collection.
        places = (above / name for above in path.parents)
        return next((_read(file) for file in places if file.is_file()), None)

    return problem_digest(_read(path), path.name, beside)


def _read(path: Path) -> bytes:
    return read_regular(path, most=most_bytes())


def pointed_digest(data: bytes) -> str | None:
    """Return the digest that a Git LFS pointer states for its file; None for any other file."""
    pointer = _POINTER.match(data[:1024])
    return pointer[1].decode("ascii") if pointer else None


def sidecar_names(instance: bytes) -> list[str]:
    """Return the sidecars of a MAMUT instance that checker and solver read, as the instance names them.

    >>> sidecar_names(b'{"td": {"atf_path": "A.atf.json.gz", "road": {"path": "net/r.json"}}}')
    ['A.atf.json.gz', 'net/r.json']
    """
    try:
        document = msgspec.json.decode(instance)
    except msgspec.MsgspecError:
        return []
    td = document.get("td") if isinstance(document, dict) else None
    if not isinstance(td, dict):
        return []
    found = []
    for name, value in td.items():
        path = value.get("path") if isinstance(value, dict) else value if name.endswith("_path") else None
        if isinstance(path, str) and path and not path.startswith("/") and ".." not in path.split("/"):
            found.append(path)
    return found


def files_beside(instance: Path, root: Path) -> list[Path]:
    """Return the files inside `root` that an instance file there needs: its sidecars and the collection marker."""
    _, data = _unpacked(instance.name, _read(instance))
    names = sidecar_names(data)
    # Sidecars are named relative to the root of their collection, which contains a marker file.
    above = [folder for folder in instance.parents if folder.is_relative_to(root)]
    wanted = [*names, COLLECTION_MARKER] if names else []
    found = (next((file for folder in above if (file := folder / name).is_file()), None) for name in wanted)
    return list(dict.fromkeys(file for file in found if file is not None))


def _content(data: bytes, name: str, beside: Beside) -> bytes:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    if name.endswith(".json"):
        try:
            document = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            return data
        if name.endswith(".vrp.json") and isinstance(document, dict):
            document = _read_part({key: value for key, value in document.items() if key not in _UNREAD}, beside)
        return _whole_numbers(msgspec.json.encode(document, order="sorted"))
    lines = [line.rstrip() for line in text.splitlines()]
    if _LIBRARY.search(text):
        lines = [" ".join(line.split()) for line in lines if not _WORDS.match(line)]
    return "\n".join(lines).rstrip("\n").encode()


def _whole_numbers(text: bytes) -> bytes:
    """Write 10.0 as 10 in compact JSON: every reader takes them as the same number."""
    if b"\\" in text:
        return _POINT_ZERO.sub(rb"\1", text)
    # Without escapes every second part is a string; `replace` is ten times as fast as the pattern.
    parts = text.split(b'"')
    for end in (b",", b"]", b"}"):
        parts[::2] = [part.replace(b".0" + end, end) for part in parts[::2]]
    return b'"'.join(parts)


def _read_part(node: Any, beside: Beside) -> Any:
    if not isinstance(node, dict):
        return node
    pinned = any(key.endswith("sha256") for key in node)
    read = {}
    for key, value in node.items():
        if not (key.endswith("path") and isinstance(value, str)):
            read[key] = _read_part(value, beside)
        elif not pinned:
            data = beside(value)
            read[key] = value if data is None else hashlib.sha256(_unpacked(value, data)[1]).hexdigest()
    return read


def _unpacked(name: str, data: bytes) -> tuple[str, bytes]:
    stem, dot, suffix = name.rpartition(".")
    try:
        return (stem, _unpack(_UNPACK[dot + suffix], data, name)) if dot + suffix in _UNPACK else (name, data)
    # A file that cannot be unpacked, or exceeds the limit, counts by its bytes.
    except (OSError, EOFError, lzma.LZMAError):
        return name, data


def _unpack(kind: Callable[[io.BytesIO], Any], data: bytes, name: str) -> bytes:
    content, most = io.BytesIO(), most_bytes()
    with kind(io.BytesIO(data)) as stream:
        while piece := stream.read(1 << 20):
            content.write(piece)
            if content.tell() > most:
                raise too_much(name, most)
    return content.getvalue()
