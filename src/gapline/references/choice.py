"""Choice of references: the snapshot that is given, declared or contained in a source, under a policy."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from gapline.contract.argument_checks import expect, several
from gapline.contract.layout import CAMPAIGN, CARRIED_REFERENCES, MANIFEST
from gapline.contract.reading import TOLERANCE, ReferenceLabel
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.files.archives import is_zip, unpacked
from gapline.references.freeze import freeze_references, read_references
from gapline.references.policy import Policy, analysis_snapshot, label_policy, refuse_unfrozen
from gapline.references.resolve import unreferenced_instances
from gapline.references.snapshot import Snapshot
from gapline.traces.package_source import is_package, source_folder

if TYPE_CHECKING:
    from gapline.contract.contract import Contract

References: TypeAlias = Snapshot | Mapping[str, float] | str | Path


def as_snapshot(given: References, what: str = "references") -> Snapshot:
    """Return a given snapshot, or one of given values: a mapping by instance, a file or a store.

    >>> as_snapshot({"i": 10}).values["i"].value
    10.0
    """
    if isinstance(given, Snapshot):
        return given
    if isinstance(given, Mapping):
        if not given:
            raise UsageError(f"{what}: expected a value by instance, got none")
        return Snapshot.from_values(given, name="given")
    if isinstance(given, str | Path):
        return read_references(given)
    return expect(given, Snapshot, what)


# The hint of errors about runs without a reference.
HOW_TO_REFER = (
    "--policy analysis takes the best of these runs; known values come from --references FILE (a CSV instance,value, "
    "a .solu file, a store such as cvrplib:DIR) or --snapshot FILE.json\n"
    "a study keeps them: `gapline snapshot freeze csv:FILE --name known -o STUDY/references/known.json`, and in its "
    'study.toml [reference] snapshot = "references/known.json"; frozen if before the first run, else retrospective'
)


@dataclass(frozen=True, slots=True)
class LabelledSnapshot:
    """A snapshot that runs are scored against, with its label."""

    snapshot: Snapshot
    label: ReferenceLabel

    @property
    def policy(self) -> str:
        """The policy of the label."""
        return self.label.policy


def label_reference(
    snapshot: Snapshot,
    envelopes: Envelopes,
    *,
    policy: str | None = None,
    registered: Collection[str] = (),
    late: Collection[str] = (),
) -> ReferenceLabel:
    """Label a snapshot with its policy, given when the runs began and which digests were registered before."""
    found = policy or label_policy(snapshot, envelopes.runs, registered=registered, late=late)
    return ReferenceLabel(found, snapshot.name, snapshot.digest, unreferenced_instances(snapshot, envelopes))


def stored_snapshots(
    paths: Sequence[str],
    folder: Path | None,
    contract: "Contract | None",
    references: References | None,
    snapshots: str | Path | Snapshot | Sequence[str | Path | Snapshot],
    notes: list[str] | None = None,
) -> tuple[Snapshot, ...]:
    """Return the snapshots: given ones, the contract's, or those in the sources.

    Notes from reading references are appended to `notes`.
    """
    if references is not None and snapshots:
        raise UsageError("expected references or snapshots, got both")
    if references is not None and not isinstance(references, str | Path):
        return (as_snapshot(references),)
    if references is not None:
        frozen = freeze_references(references)
        if notes is not None:
            notes += frozen.notes
        return (frozen.snapshot,)
    if snapshots:
        given = several(snapshots)
        return tuple(one if isinstance(one, Snapshot) else Snapshot.load(one) for one in given)
    named = None if contract is None or folder is None else contract.reference.snapshot
    if named is not None and folder is not None and (folder / named).is_file():
        return (Snapshot.load(folder / named),)
    carried = [
        place / CARRIED_REFERENCES
        for root in map(source_folder, paths)
        for place in (root, root / CAMPAIGN)
        if (place / MANIFEST).is_file() and os.path.lexists(place / CARRIED_REFERENCES)
    ]
    found = [Snapshot.load(file) for file in dict.fromkeys(carried)]
    zips = [path for path in dict.fromkeys(paths) if is_zip(path) and not is_package(path)]
    return (*found, *(one for path in zips for one in _carried_in(path)))


def _carried_in(path: str) -> list[Snapshot]:
    """Return the snapshot next to the campaign in a zip, if there is one."""
    with unpacked(path, only=lambda name: PurePosixPath(name).name in (MANIFEST, CARRIED_REFERENCES)) as folder:
        beside = (file.parent / CARRIED_REFERENCES for file in folder.rglob(MANIFEST))
        return [Snapshot.load(file) for file in sorted(beside) if file.is_file()]


def choose_references(
    stored: Sequence[Snapshot],
    envelopes: Envelopes,
    policy: str | None,
    registered: Collection[str] | None,
    tolerance: float = TOLERANCE,
    *,
    late: Collection[str] = (),
    named: str | None = None,
) -> tuple[LabelledSnapshot, ...]:
    """Return the references of the runs under a policy, the declared one first.

    `registered` are the digests that were registered before the first run, None without a register; `late` those that
    were registered afterwards. `named` is the snapshot that a contract names, for the error if it does not exist.
    """
    if policy not in (None, Policy.FROZEN, Policy.ANALYSIS, "both"):
        raise UsageError(f"policy: expected frozen, analysis or both, got {policy!r}")
    if not stored:
        if policy == Policy.ANALYSIS:
            return (fold_reference(None, envelopes, tolerance),)
        absent = f": {named}, which the contract names, is not there" if named else ""
        raise UsageError(f"expected a reference for the instances, got none{absent}", hint=HOW_TO_REFER)
    found = []
    for snapshot in stored:
        # Checked before labelling: a snapshot that a contract calls frozen must not silently become retrospective.
        if policy == Policy.FROZEN:
            refuse_unfrozen(snapshot, envelopes.runs, registered=registered, late=late)
        if policy != Policy.ANALYSIS:
            label = label_reference(snapshot, envelopes, registered=registered or (), late=late)
            found.append(LabelledSnapshot(snapshot, label))
        if policy in (Policy.ANALYSIS, "both"):
            found.append(fold_reference(snapshot, envelopes, tolerance))
    return tuple(found)


def fold_reference(snapshot: Snapshot | None, envelopes: Envelopes, tolerance: float = TOLERANCE) -> LabelledSnapshot:
    """Return the analysis reference: the best of the stored values and of these runs."""
    folded = analysis_snapshot(snapshot, envelopes, tolerance=tolerance)
    return LabelledSnapshot(folded, label_reference(folded, envelopes, policy=Policy.ANALYSIS.value))
