"""The chain of snapshots behind one: each is named by its digest in the one that was folded from it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.errors import GaplineError, listing
from gapline.model.reading import TOLERANCE
from gapline.reference.alarm import Alarm, find_alarms
from gapline.reference.diff import SnapshotDiff, diff_snapshots
from gapline.reference.relatives import index_snapshots
from gapline.reference.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Link:
    """A snapshot of a chain, its file, and what it changed in its parent (None where that is not at hand)."""

    snapshot: Snapshot
    file: Path
    diff: SnapshotDiff | None


@dataclass(frozen=True, slots=True)
class Lineage:
    """A chain, newest first; `missing` is the digest of the parent at which it ends, `why` says where it was sought.

    `changed` are files that state the digest of a parent and hold something else.
    """

    links: tuple[Link, ...]
    missing: str | None
    why: str
    changed: tuple[str, ...]
    alarms: tuple[Alarm, ...]


def trace_lineage(
    path: str | Path, *, folders: Iterable[str | Path] = (), tolerance: float = TOLERANCE, sense: str | None = None
) -> Lineage:
    """Follow a snapshot to its oldest ancestor that lies beside it or in one of the folders.

    Only files that are what their digest says are followed. A digest covers that of the parent, so that no chain can
    come back to itself.
    """
    file = Path(path)
    places = list(dict.fromkeys([file.parent, *map(Path, folders)]))
    chain = [(Snapshot.load(file), file)]
    index: dict[str, list[Path]] | None = None
    changed: list[str] = []
    while (wanted := chain[-1][0].parent) is not None:
        # Most snapshots have no parent: then no folder is read.
        index = index_snapshots(places) if index is None else index
        found = _load(wanted, index.get(wanted, ()), changed)
        if found is None:
            break
        chain.append(found)
    links = []
    alarms = find_alarms([chain[-1][0]], tolerance=tolerance, sense=sense)
    for place, (snapshot, where) in enumerate(chain):
        parent = chain[place + 1][0] if place + 1 < len(chain) else None
        diff = None if parent is None else diff_snapshots(parent, snapshot, tolerance=tolerance, sense=sense)
        links.append(Link(snapshot, where, diff))
        if parent is not None:
            alarms += find_alarms([parent, snapshot], tolerance=tolerance, sense=sense)
    why = f"looked in {listing(str(place) for place in places)}" if wanted else ""
    return Lineage(tuple(links), wanted, why, tuple(changed), tuple(dict.fromkeys(alarms)))


def _load(digest: str, files: Sequence[Path], changed: list[str]) -> tuple[Snapshot, Path] | None:
    for file in files:
        try:
            return Snapshot.load(file), file
        except GaplineError as error:
            changed.append(f"{file}: states {digest[:19]}… and is not it: {error.message.splitlines()[0]}")
    return None
