"""The log of a snapshot: its chain of parents, and where each value comes from, through snapshots and commits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from gapline.errors import UsageError
from gapline.model.reading import TOLERANCE
from gapline.model.text import meant
from gapline.reference.alarm import Alarm, snapshot_sense
from gapline.reference.diff import classify
from gapline.reference.lineage import Lineage, Link, trace_lineage
from gapline.reference.snapshot import Reference, Snapshot
from gapline.reference.store_log import StoredChange, store_changes


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one value: `change` says how, `where` in which snapshot or commit, `who` whom its source names.

    `as_of` is when the value was known, `when` the moment the snapshot was written or the commit made.
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
    """A chain of snapshots, newest first, and the steps of the values that were asked for, newest first."""

    lineage: Lineage
    steps: dict[str, tuple[Step, ...]]
    store: str | None = None

    @property
    def links(self) -> tuple[Link, ...]:
        """The snapshots of the chain, newest first."""
        return self.lineage.links

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Certificates that are contradicted inside of the chain."""
        return self.lineage.alarms

    def notes(self) -> list[str]:
        """Say what of the chain is not at hand."""
        notes = list(self.lineage.changed)
        if self.lineage.missing is not None:
            notes.append(f"parent {self.lineage.missing} is not at hand: {self.lineage.why}")
        if self.store is not None and not any(step.commit for steps in self.steps.values() for step in steps):
            notes.append(f"{self.store}: no commit of these values found")
        return notes

    def document(self) -> dict[str, Any]:
        """Return the log for JSON."""
        return {
            "snapshots": [link_facts(link) for link in self.links],
            "missing": self.lineage.missing,
            "steps": {instance: [asdict(step) for step in steps] for instance, steps in self.steps.items()},
            "notes": self.notes(),
            "alarms": [alarm.document() for alarm in self.alarms],
        }


def snapshot_log(
    path: str | Path,
    *instances: str,
    folders: Iterable[str | Path] = (),
    store: str | None = None,
    tolerance: float = TOLERANCE,
    sense: str | None = None,
) -> SnapshotLog:
    """Tell where a snapshot and its values come from.

    Parameters
    ----------
    path
        A snapshot file. Its parents are looked for beside it and in `folders`, by digest.
    instances
        Names or patterns of the instances whose values are followed; none by default, `"*"` follows all.
    folders
        Further folders in which parents may lie.
    store
        A git repository at hand, `mamut:PATH`, whose commits are searched for the values too.
    tolerance
        The relative difference that is no news.
    sense
        `min` or `max`, where the snapshots do not state it.
    """
    lineage = trace_lineage(path, folders=folders, tolerance=tolerance, sense=sense)
    snapshots = [link.snapshot for link in lineage.links]
    names = _chosen(snapshots, instances)
    steps: dict[str, list[Step]] = {}
    if store is not None:
        for change in store_changes(store, snapshots, names):
            known = steps.setdefault(change.instance, [])
            known.append(_commit_step(change, known, _sign(change.instance, snapshots, sense), tolerance))
    for name in sorted(names):
        steps.setdefault(name, []).extend(_snapshot_steps(name, lineage.links, tolerance, sense))
    return SnapshotLog(lineage, {name: tuple(reversed(steps[name])) for name in sorted(steps)}, store)


def link_facts(link: Link) -> dict[str, Any]:
    """Return what a snapshot of a chain says of itself, and how many values it changed in its parent."""
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


def who_found(entry: Reference) -> str:
    """Return whom an entry names: the authors of a solution, the arm of a run, else its source.

    >>> who_found(Reference(value=1.0, source="run a/i/1 at 2 s, valid by checker", fold={"arm": "a"}))
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
        if entry is None and before is None:
            continue
        if before is not None and entry is not None and before.document() == entry.document():
            continue
        change = "frozen" if link is links[-1] else _change(before, entry, _sign(name, [snapshot], sense), tolerance)
        shown = entry or Reference(value=None)
        steps.append(
            Step(
                instance=name,
                change=change,
                value=shown.value,
                certified=shown.certified,
                source=shown.source,
                who=who_found(shown),
                as_of=snapshot.as_of,
                when=snapshot.created,
                where=snapshot.name,
                digest=snapshot.digest,
            )
        )
        before = entry
    return steps


def _commit_step(found: StoredChange, before: Sequence[Step], sign: float, tolerance: float) -> Step:
    last = before[-1] if before else None
    old = None if last is None else Reference(value=last.value, certified=last.certified)
    change, entry = found.change, found.entry
    shown = entry or Reference(value=None)
    return Step(
        instance=found.instance,
        change="first" if last is None else _change(old, entry, sign, tolerance),
        value=shown.value,
        certified=shown.certified,
        source=shown.source,
        who=who_found(shown) or change.author,
        as_of=change.commit.committed,
        when=change.commit.committed,
        where=change.subject,
        commit=change.commit.id,
        committer=change.author,
    )


def _change(before: Reference | None, after: Reference | None, sign: float, tolerance: float) -> str:
    # Of a change within the tolerance, and of one of the source alone, the value is no news.
    return ", ".join(classify(before, after, sign, tolerance)).replace("_", " ") or "restated"


def _sign(name: str, snapshots: Sequence[Snapshot], sense: str | None) -> float:
    return -1.0 if snapshot_sense(name, snapshots, sense) == "max" else 1.0
