"""The commits of a git store in which a best-known value changed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from gapline.errors import UsageError
from gapline.reference.git_store import FileChange, Repository, open_revision
from gapline.reference.snapshot import Reference, Snapshot
from gapline.reference.sources import split_source
from gapline.reference.stores.mamut import read_stored


@dataclass(frozen=True, slots=True)
class StoredChange:
    """What a commit made of the entry of an instance; None where its file went."""

    instance: str
    change: FileChange
    entry: Reference | None


def store_changes(store: str, snapshots: Collection[Snapshot], wanted: Collection[str]) -> list[StoredChange]:
    """Return how the entries of instances changed in `mamut:PATH`, oldest first.

    The commits are those behind the versions that the snapshots name, where the repository has them, else those behind
    the one named by `@REVISION`, or the newest. A family that moved is followed by the name of its folder.
    """
    scheme, location = split_source(store) or ("", store)
    if scheme != "mamut":
        raise UsageError(f"--store: expected mamut:PATH, got {store!r}", hint="other stores have no commits of values")
    repository, newest, _ = open_revision(location)
    revisions = sorted({v for one in snapshots for v in _versions(one) if _is_commit(repository, v)}) or [newest.id]
    objective = next((one.objective for one in snapshots if one.objective), None)
    folder = str(next((one.store.model_extra or {} for one in snapshots), {}).get("folder") or "")
    found = []
    # A pattern of our own, never a name of theirs: git would take its stars for a pattern too.
    for change in repository.changes(revisions, "*.bks.*.json"):
        instance = _instance(change.path, objective, folder.rpartition("/")[2], wanted)
        if instance is not None:
            found.append((instance, change))
    news = list(_news(reversed(found)))
    blobs = dict.fromkeys(change.blob for _, change in news if change.blob is not None)
    contents = dict(zip(blobs, repository.read(blobs), strict=True))
    return [StoredChange(name, change, _entry(change, contents, objective or "")) for name, change in news]


def _news(changes: Iterable[tuple[str, FileChange]]) -> Iterator[tuple[str, FileChange]]:
    """Leave out what only moved: a file that went in the commit that brought it elsewhere, and content that stayed."""
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
    # The name of a branch or a tag moves; only a whole id says which commit was meant.
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
