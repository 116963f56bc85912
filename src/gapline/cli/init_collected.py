"""A study from a store or a folder: instances laid out by `generate`, best-known values frozen by `reference`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gapline.errors import UsageError, closest, listing
from gapline.generate.collected import write_collected_study
from gapline.generate.files import Files, FolderFiles
from gapline.generate.found import Found, Progress, find_instances
from gapline.generate.staging import refuse_study
from gapline.model.layout import CONTRACT_FILE, REFERENCES
from gapline.model.text import counted, meant
from gapline.reference.freeze import Frozen, freeze, freeze_references, store_names
from gapline.reference.snapshot import Snapshot
from gapline.reference.stores.mamut import INSTANCE
from gapline.reference.stores.mamut_files import open_mamut

STORES = ("mamut", "cvrplib")
# The objective of a store that the checker of the problem computes.
_STORED_OBJECTIVE = {"tdvrptw": "Duration"}


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found, what became its reference, and what was noticed."""

    found: Found
    snapshot: Snapshot | None
    file: str | None
    notes: tuple[str, ...]

    def lines(self, directory: str) -> list[str]:
        """Say what a reader of the new contract has to know."""
        out = [
            f"left out: {counted(len(names), 'instance')} {reason} ({listing(names, most=5)})"
            for reason, names in self.found.left_out.items()
        ]
        if self.found.passed_over:
            out.append(f"not chosen by --include, --exclude and --most: {self.found.passed_over:,}")
        out += [f"note: {note}" for note in self.notes]
        if self.snapshot is not None:
            known = f" known since {self.snapshot.as_of}" if self.snapshot.as_of else ""
            values = counted(len(self.snapshot), "value")
            return [*out, f"references frozen: {directory}/{self.file}, {values}{known}, {self.snapshot.digest}"]
        freeze_it = f"gapline snapshot freeze csv:FILE --name known -o {directory}/{REFERENCES}/known.json"
        return [
            *out,
            "no references: scores are against the best of the campaign itself (policy analysis)",
            f"known values, before the first run: {freeze_it}",
            f'then in {directory}/{CONTRACT_FILE}: policy = "frozen" and snapshot = "{REFERENCES}/known.json"',
        ]

    def document(self) -> dict[str, Any]:
        """Return the same as data."""
        snapshot = self.snapshot
        frozen: dict[str, Any] | None = None
        if snapshot is not None:
            frozen = {"file": self.file, "name": snapshot.name, "digest": snapshot.digest, "as_of": snapshot.as_of}
            frozen["values"] = len(snapshot)
        return {
            "snapshot": frozen,
            "left_out": [{"reason": reason, "instances": names} for reason, names in self.found.left_out.items()],
            "passed_over": self.found.passed_over,
            "notes": self.notes,
        }


def collect_study(
    directory: str,
    store: str | None,
    folder: str | None,
    *,
    problem: str | None,
    references: str | None,
    family: str | None,
    clones: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    most: int | None,
    name: str,
    horizon: float | None,
    seeds: int | None,
    iterations: int | None,
    progress: Progress,
) -> Collected:
    """Find instances, freeze what is known of them, and write the study."""
    # Refused before a long reading, and not after it.
    refuse_study(Path(directory))
    if store is not None and (folder is not None or references is not None):
        other = "--instances" if folder is not None else "--references"
        raise UsageError(f"expected --from or {other}, got both", hint="--from brings instances and best-known values")
    files, where, take = _open(store, folder, references, family, clones)
    # Such a store also holds files for other programs beside its own.
    suffix = INSTANCE if store is not None and store.startswith("mamut:") else ""
    chosen: dict[str, Any] = {"problem": problem, "suffix": suffix, "include": include, "exclude": exclude}
    found = find_instances(files, where=where, progress=progress, **chosen)
    frozen = None if take is None else take(found.problem)
    if frozen is not None:
        _keep_known(found, frozen.snapshot, where)
    file = None if frozen is None else f"{REFERENCES}/{_slug(frozen.snapshot.name)}.json"

    def write_references(study: Path) -> tuple[str, str]:
        assert frozen is not None
        assert file is not None
        frozen.snapshot.save(study / file)
        since = f", as of {frozen.snapshot.as_of}" if frozen.snapshot.as_of else ""
        return file, f"Best-known values of {frozen.snapshot.store.name}{since}, frozen before the first run."

    given: dict[str, Any] = {"horizon": horizon, "seeds": seeds}
    write_collected_study(
        directory,
        files,
        found,
        origin=where,
        name=name,
        iterations=iterations,
        most=most,
        references=None if frozen is None else write_references,
        in_place=_inside(files, Path(directory)),
        progress=progress,
        **{key: value for key, value in given.items() if value is not None},
    )
    notes = () if frozen is None else frozen.notes
    return Collected(found, None if frozen is None else frozen.snapshot, file, notes)


Take = Callable[[str], Frozen]


def _open(
    store: str | None, folder: str | None, references: str | None, family: str | None, clones: str | None
) -> tuple[Files, str, Take | None]:
    """Return the files, where they come from in words, and what freezes best-known values of a problem."""
    if folder is not None:
        place = Path(folder, family or "")
        take = None if references is None else lambda _problem: _freeze_given(references)
        return FolderFiles(place), place.name or str(place), take
    scheme, _, location = str(store).partition(":")
    if scheme not in STORES or not location:
        hint = meant(scheme, STORES)
        if scheme in store_names() and scheme not in STORES:
            hint = f"{scheme} holds values and no instances: --instances FOLDER --references {store}"
        raise UsageError(f"--from: expected mamut:PATH@COMMIT or cvrplib:DIR, got {store!r}", hint=hint)
    if scheme == "cvrplib":
        place = Path(location, family or "")
        return FolderFiles(place), f"cvrplib:{place.name}", lambda _problem: freeze(f"cvrplib:{place}", name="cvrplib")
    files = open_mamut(location, family=family, clones=clones)
    top = files.root.rpartition("/")[2]

    def freeze_commit(problem: str) -> Frozen:
        frozen = freeze(
            files.source,
            name=f"mamut-{files.commit[:12]}",
            family=files.root or ".",
            objective=_STORED_OBJECTIVE.get(problem),
            clones=clones,
        )
        # Those are left out, and counted there.
        return replace(frozen, notes=tuple(note for note in frozen.notes if not note.startswith("instances without")))

    return files, f"{'mamut' if not top else f'mamut:{top}'}@{files.commit[:12]}", freeze_commit


def _freeze_given(references: str) -> Frozen:
    frozen = freeze_references(references)
    # What it says of values that are read where they lie does not hold of these, which are frozen into the study.
    return replace(frozen, notes=tuple(note for note in frozen.notes if "`gapline snapshot freeze`" not in note))


def _keep_known(found: Found, snapshot: Snapshot, where: str) -> None:
    """Leave out the instances of which nothing is known: against a frozen reference they cannot be scored."""
    known = {name for name, entry in snapshot.values.items() if entry.value is not None}
    names = [one.name for one in found.instances]
    if not known & set(names):
        near = next((f"{near!r} for {name!r}" for name in names if (near := closest(name, known))), None)
        raise UsageError(
            f"{where}: expected best-known values of the {len(names)} instances, got none among {len(known)} values",
            hint=f"names differ: {snapshot.name} has {near}" if near else None,
        )
    found.keep(lambda one: one.name in known, "without a best-known value")


def _inside(files: Files, directory: Path) -> str | None:
    """Return the folder of the instances where it lies in the study already."""
    if not isinstance(files, FolderFiles):
        return None
    place, study = files.folder.resolve(), directory.resolve()
    return place.relative_to(study).as_posix() if place.is_relative_to(study) else None


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "references"
