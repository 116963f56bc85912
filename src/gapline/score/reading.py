"""Against what a run is read: the reference of its instance on the scored scale, and the label printed with it."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope import Envelopes
from gapline.errors import MissingReferenceError
from gapline.reference.resolve import resolve_references
from gapline.reference.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ReferenceLabel:
    """What every output says of its reference: policy, name and digest."""

    policy: str
    name: str
    digest: str

    def __str__(self) -> str:
        return f"{self.name} ({self.policy}, {self.digest[:19]}…)"


def label_reference(snapshot: Snapshot, envelopes: Envelopes, *, policy: str | None = None) -> ReferenceLabel:
    """Label a snapshot with the policy it stands for, given when the runs began."""
    return ReferenceLabel(policy or "frozen, declared", snapshot.name, snapshot.digest)


def reference_column(snapshot: Snapshot, envelopes: Envelopes) -> NDArray[np.float64]:
    """Return the reference of every run, transformed as its objectives were."""
    instances = envelopes.runs["instance"]
    transform = envelopes.transform
    if not transform.hierarchical:
        return resolve_references(snapshot, instances.to_list(), transform=transform.apply)
    # A multiplier such as 10n differs between instances, so that each reference is scalarised on its own.
    sizes = {}
    if transform.per_size:
        sizes = dict(envelopes.runs.select("instance", pl.col("size").cast(pl.Float64)).iter_rows())
    values, missing = {}, []
    for name in instances.unique(maintain_order=True):
        entry = snapshot.values.get(name)
        found = None if entry is None else _scalarised(entry.model_dump(), transform, sizes.get(name))
        if found is None or not (np.isfinite(found) and found > 0):
            missing.append(name)
        else:
            values[name] = found
    if missing:
        raise MissingReferenceError(
            f"{snapshot.name}: expected a positive reference for every instance, got none for {', '.join(missing)}"
        )
    return np.array([values[name] for name in instances])


def _scalarised(entry: dict[str, object], transform: object, size: float | None) -> float | None:
    from gapline.model.transform import Transform

    assert isinstance(transform, Transform)
    if entry.get("value") is None and entry.get("primary") is None:
        return None
    return transform.reference_value(entry, size=size)
