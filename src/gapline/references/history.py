"""The history of a snapshot: its parents, and the snapshot or commit that each value comes from."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from gapline.contract.reading import TOLERANCE
from gapline.errors import GaplineError, UsageError, listing
from gapline.references.alarms import Alarm, find_alarms, snapshot_sense
from gapline.references.diff import SnapshotDiff, classify, diff_snapshots
from gapline.references.freeze import split_source
from gapline.references.git_store import FileChange, Repository, open_revision
from gapline.references.reference import Reference
from gapline.references.snapshot import Snapshot, index_snapshots
from gapline.references.stores.mamut import read_stored
from gapline.text import meant


@dataclass(frozen=True, slots=True)
class Link:
    """A snapshot of a chain, its file, and its differences from its parent (None if the parent was not found)."""

    snapshot: Snapshot
    file: Path
    diff: SnapshotDiff | None


@dataclass(frozen=True, slots=True)
class Step:
    """A change of one value: its kind, the snapshot or commit (`where`), and the finder that its source names (`who`).

    `as_of` is when the value was known, `when` is when the snapshot was written or the commit made.
    """

    instance: str
    change: str
    value: float | None
    certified: bool
    source: str
    who: str
    as_of: str | None
    when: str | None
    where: str
    digest: str | None = None
    commit: str | None = None
    committer: str | None = None


@dataclass(frozen=True, slots=True)
class SnapshotLog:
    """A chain of snapshots, newest first, and the steps of the requested values, newest first.

    `missing` is the digest of the parent at which the chain ends, and `why` says where it was searched; `changed` are
    files that state the digest of a parent but have other content; `alarms` are contradicted certificates.
    """

    links: tuple[Link, ...]
    missing: str | None
    why: str
    changed: tuple[str, ...]
    alarms: tuple[Alarm, ...]
    steps: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    store: str | None = None

    def notes(self) -> list[str]:
        """Return notes on the parts of the chain that were not found."""
        notes = list(self.changed)
        if self.missing is not None:
            notes.append(f"parent {self.missing} is not at hand: {self.why}")
        if self.store is not None and not any(step.commit for steps in self.steps.values() for step in steps):
            notes.append(f"{self.store}: no commit of these values found")
        return notes

    def document(self) -> dict[str, Any]:
        """Return the log for JSON."""
        return {
            "snapshots": [link_facts(link) for link in self.links],
            "missing": self.missing,
            "steps": {instance: [asdict(step) for step in steps] for instance, steps in self.steps.items()},
            "notes": self.notes(),
            "alarms": [alarm.document() for alarm in self.alarms],
        }


def trace_lineage(
    path: str | Path, *, folders: Iterable[str | Path] = (), tolerance: float = TOLERANCE, sense: str | None = None
) -> SnapshotLog:
    """Follow a snapshot to its oldest ancestor in its own folder or in one of `folders`.

    Only files that match their digest are followed. A digest covers that of the parent, so a chain cannot be a cycle.
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
    return SnapshotLog(tuple(links), wanted, why, tuple(changed), tuple(dict.fromkeys(alarms)))


def _load(digest: str, files: Sequence[Path], changed: list[str]) -> tuple[Snapshot, Path] | None:
    for file in files:
        try:
            return Snapshot.load(file), file
        except GaplineError as error:
            changed.append(f"{file}: states {digest[:19]}… and is not it: {error.message.splitlines()[0]}")
    return None


class StoredChange(NamedTuple):
    """The entry of an instance after a commit; None if its file was deleted."""

    instance: str
    change: FileChange
    entry: Reference | None


def store_changes(store: str, snapshots: Collection[Snapshot], wanted: Collection[str]) -> list[StoredChange]:
    """Return how the entries of instances changed in `mamut:PATH`, oldest first.

    The commits are the history of the versions that the snapshots name, if the repository has them, else of
    `@REVISION`, or of the newest commit. A family that moved is found by the name of its folder.
    """
    scheme, location = split_source(store) or ("", store)
    if scheme != "mamut":
        raise UsageError(f"--store: expected mamut:PATH, got {store!r}", hint="other stores have no commits of values")
    repository, newest, _ = open_revision(location)
    revisions = sorted({v for one in snapshots for v in _versions(one) if _is_commit(repository, v)}) or [newest.id]
    objective = next((one.objective for one in snapshots if one.objective), None)
    folder = str(next((one.store.model_extra or {} for one in snapshots), {}).get("folder") or "")
    found = []
    # A fixed pattern, never the name of a file: git would interpret its stars.
    for change in repository.changes(revisions, "*.bks.*.json"):
        instance = _instance(change.path, objective, folder.rpartition("/")[2], wanted)
        if instance is not None:
            found.append((instance, change))
    news = list(_news(reversed(found)))
    blobs = dict.fromkeys(change.blob for _, change in news if change.blob is not None)
    contents = dict(zip(blobs, repository.read(blobs), strict=True))
    return [StoredChange(name, change, _entry(change, contents, objective or "")) for name, change in news]


def _news(changes: Iterable[tuple[str, FileChange]]) -> Iterator[tuple[str, FileChange]]:
    """Leave out mere moves: a deletion in the commit that adds the file elsewhere, and unchanged content."""
    last: dict[str, str | None] = {}
    for _, group in groupby(changes, key=lambda one: one[1].commit.id):
        found: dict[str, FileChange] = {}
        for name, change in group:
            if name not in found or found[name].blob is None:
                found[name] = change
        for name, change in found.items():
            if name not in last or last[name] != change.blob:
                yield name, change
            last[name] = change.blob


def _versions(snapshot: Snapshot) -> Iterator[str]:
    """Yield the versions of stores that a snapshot and its values name."""
    if snapshot.store.version:
        yield snapshot.store.version
    for entry in snapshot.values.values():
        taken = entry.more.get("taken")
        store = taken.get("store") if isinstance(taken, dict) else None
        if isinstance(store, dict) and isinstance(store.get("version"), str):
            yield store["version"]


def _is_commit(repository: Repository, version: str) -> bool:
    # A branch or a tag moves; only a full id says which commit was meant.
    return len(version) in (40, 64) and set(version) <= set("0123456789abcdef") and repository.has(version)


def _instance(path: str, objective: str | None, family: str, wanted: Collection[str]) -> str | None:
    base, middle, ending = path.rpartition(".bks.")
    if not middle or (objective is not None and ending != f"{objective}.json"):
        return None
    parts = base.split("/")
    for place in range(len(parts)):
        name = "/".join(parts[place:])
        if name in wanted and (not family or family in parts[max(0, place - 1) : place]):
            return name
    return None


def _entry(change: FileChange, contents: Mapping[str, bytes | None], objective: str) -> Reference | None:
    data = None if change.blob is None else contents[change.blob]
    if change.blob is None or data is None:
        return None
    return Reference.model_validate(read_stored(change.path, change.blob, data, objective))


def snapshot_log(
    path: str | Path,
    *instances: str,
    folders: Iterable[str | Path] = (),
    store: str | None = None,
    tolerance: float = TOLERANCE,
    sense: str | None = None,
) -> SnapshotLog:
    """Return where a snapshot and its values come from.

    Parameters
    ----------
    path
        A snapshot file. Its parents are searched by digest in its folder and in `folders`.
    instances
        Names or patterns of the instances whose values are followed; none by default, `"*"` follows all.
    folders
        Further folders to search for parents.
    store
        A local git repository, `mamut:PATH`, whose commits are also searched for the values.
    tolerance
        Relative differences up to this are ignored.
    sense
        `min` or `max`, if the snapshots do not state it.
    """
    log = trace_lineage(path, folders=folders, tolerance=tolerance, sense=sense)
    snapshots = [link.snapshot for link in log.links]
    names = _chosen(snapshots, instances)
    steps: dict[str, list[Step]] = {}
    if store is not None:
        for change in store_changes(store, snapshots, names):
            known = steps.setdefault(change.instance, [])
            known.append(_commit_step(change, known, _sign(change.instance, snapshots, sense), tolerance))
    for name in sorted(names):
        steps.setdefault(name, []).extend(_snapshot_steps(name, log.links, tolerance, sense))
    return replace(log, steps={name: tuple(reversed(steps[name])) for name in sorted(steps)}, store=store)


def link_facts(link: Link) -> dict[str, Any]:
    """Return the facts of a snapshot of a chain, and how many values it changed in its parent."""
    snapshot = link.snapshot
    return {
        "name": snapshot.name,
        "digest": snapshot.digest,
        "file": str(link.file),
        "as_of": snapshot.as_of,
        "created": snapshot.created,
        "parent": snapshot.parent,
        "store": snapshot.store.model_dump(exclude_unset=True),
        "instances": len(snapshot),
        "certified": sum(entry.certified for entry in snapshot.values.values()),
        "changes": None if link.diff is None else {name: len(found) for name, found in link.diff.classes().items()},
    }


def finder_of(entry: Reference) -> str:
    """Return the finder that an entry names: the authors of a solution, the arm of a run, else its source.

    >>> finder_of(Reference(value=1.0, source="run a/i/1 at 2 s, valid by checker", fold={"arm": "a"}))
    'a'
    """
    provenance, found = entry.more.get("provenance"), entry.more.get("fold")
    if isinstance(provenance, dict) and provenance.get("authors"):
        return str(provenance["authors"])
    if isinstance(found, dict) and found.get("arm"):
        return str(found["arm"])
    return entry.source.partition(";")[0]


def _chosen(snapshots: Sequence[Snapshot], instances: Sequence[str]) -> set[str]:
    known = dict.fromkeys(name for snapshot in snapshots for name in snapshot.values)
    chosen = set()
    for pattern in instances:
        found = {name for name in known if name == pattern or fnmatchcase(name, pattern)}
        if not found:
            message = f"{snapshots[0].name}: expected an instance of the chain, got {pattern!r}"
            raise UsageError(message, hint=meant(pattern, known, show=True))
        chosen |= found
    return chosen


def _snapshot_steps(name: str, links: Sequence[Link], tolerance: float, sense: str | None) -> list[Step]:
    steps = []
    before: Reference | None = None
    for link in reversed(links):
        snapshot, entry = link.snapshot, link.snapshot.values.get(name)
        if entry is before or (before is not None and entry is not None and before.document() == entry.document()):
            continue
        change = "frozen" if link is links[-1] else _change(before, entry, _sign(name, [snapshot], sense), tolerance)
        facts: dict[str, Any] = {"as_of": snapshot.as_of, "when": snapshot.created, "digest": snapshot.digest}
        steps.append(_step(name, change, entry, where=snapshot.name, **facts))
        before = entry
    return steps


def _commit_step(found: StoredChange, before: Sequence[Step], sign: float, tolerance: float) -> Step:
    last = before[-1] if before else None
    old = None if last is None else Reference(value=last.value, certified=last.certified)
    (commit, author, subject, _, _), entry = found.change, found.entry
    change = "first" if last is None else _change(old, entry, sign, tolerance)
    where: dict[str, Any] = {"as_of": commit.committed, "when": commit.committed, "where": subject, "commit": commit.id}
    return _step(found.instance, change, entry, author, committer=author, **where)


def _step(instance: str, change: str, entry: Reference | None, who: str = "", **more: Any) -> Step:
    shown = entry or Reference(value=None)
    return Step(instance, change, shown.value, shown.certified, shown.source, finder_of(shown) or who, **more)


def _change(before: Reference | None, after: Reference | None, sign: float, tolerance: float) -> str:
    # Without a class, only other fields changed, such as the source.
    return ", ".join(classify(before, after, sign, tolerance)).replace("_", " ") or "restated"


def _sign(name: str, snapshots: Sequence[Snapshot], sense: str | None) -> float:
    return -1.0 if snapshot_sense(name, snapshots, sense) == "max" else 1.0
