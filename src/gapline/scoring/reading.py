"""Against what a run is read: the reference of its instance on the scored scale, and the label printed with it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.reference.comparable import refuse_changed_instances
from gapline.reference.policy import label_policy
from gapline.reference.resolve import instance_sizes, resolve_references
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
    return ReferenceLabel(policy or label_policy(snapshot, envelopes.runs), snapshot.name, snapshot.digest)


def reference_column(snapshot: Snapshot, envelopes: Envelopes) -> NDArray[np.float64]:
    """Return the reference of every run, transformed as its objectives were.

    Instances without a usable reference are listed all at once; instances that changed under their name are refused.
    """
    refuse_changed_instances(snapshot, envelopes.runs)
    return resolve_references(
        snapshot,
        envelopes.runs["instance"].to_list(),
        transform=envelopes.transform,
        sizes=instance_sizes(envelopes.runs),
    )
