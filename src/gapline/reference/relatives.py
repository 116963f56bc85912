"""Snapshots that lie beside each other: which one is the parent, and what was changed in a tampered file."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gapline.errors import GaplineError, listing
from gapline.reference.canonical import content_digest
from gapline.reference.snapshot import Snapshot, read_document


def find_snapshot(digest: str | None, folder: Path) -> Path | None:
    """Find the untouched snapshot file with this digest in a folder."""
    for file, document in _documents(folder):
        if digest is not None and document.get("digest") == digest and _is_whole(document):
            return file
    return None


def index_snapshots(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the snapshot files of folders by the digest they state, without judging whether they hold it."""
    index: dict[str, list[Path]] = {}
    for folder in folders:
        for file, document in _documents(folder):
            index.setdefault(str(document.get("digest")), []).append(file)
    return index


def describe_tampering(file: Path, document: Mapping[str, Any]) -> str | None:
    """List the entries in which a changed file differs from an untouched copy, its parent or a child beside it."""
    stated, parent = document.get("digest"), document.get("parent")
    others = [(path, found) for path, found in _documents(file.parent) if path.resolve() != file.resolve()]
    # A copy shows exactly what was changed; a parent or a child differs also where a fold changed it rightly.
    kinds = (("copy", "digest", stated), ("parent", "digest", parent), ("child", "parent", stated))
    for relation, field, digest in kinds:
        for other, found in others:
            if digest is not None and found.get(field) == digest and _is_whole(found):
                return _describe(relation, other, found, document)
    return None


def _describe(relation: str, other: Path, found: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    ours, theirs = _mapping(document.get("values")), _mapping(found.get("values"))
    differing = []
    for instance in sorted(set(ours) | set(theirs)):
        here, there = ours.get(instance), theirs.get(instance)
        if here != there:
            differing.append(f"{instance}: {_short(there)} there, {_short(here)} here")
    head = sorted(
        name
        for name in (set(document) | set(found)) - {"values", "digest", "created", "parent", "name", "fold"}
        if relation == "copy" and document.get(name) != found.get(name)
    )
    differing += [f"{name}: {found.get(name)!r} there, {document.get(name)!r} here" for name in head]
    legitimate = " (a fold changes entries too: those name a run)" if relation != "copy" else ""
    what = listing(differing, most=20) if differing else "no entry differs"
    return f"compared with its {relation} {other.name}{legitimate}: {what}"


def _short(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "absent" if entry is None else repr(entry)
    certified = " certified" if entry.get("certified") else ""
    return f"{entry.get('value')!r}{certified} ({entry.get('source')})"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_whole(document: Mapping[str, Any]) -> bool:
    try:
        Snapshot.from_document(document, where="")
    except GaplineError:
        return False
    return content_digest(document) == document.get("digest")


def _documents(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for file in sorted(folder.glob("*.json")):
        try:
            document = read_document(file)
        except GaplineError:
            continue
        if str(document.get("schema")).startswith("gapline.snapshot/"):
            yield file, document
