"""What open runs are read against before any run is whole: kernels, weight and references as the contract has them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gapline.errors import GaplineError
from gapline.model.contract import Contract
from gapline.model.names import TimeWeight
from gapline.model.scale import Scale
from gapline.reference.choose import stored_snapshots
from gapline.reference.resolve import resolve_references
from gapline.reference.snapshot import Snapshot
from gapline.scoring.function_weight import as_weight
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.solvers import simplified_arms
from gapline.study import declared_choices


class Against:
    """Kernels, the first of which leads, the weight and the snapshot; `problem` says what of them cannot be used."""

    def __init__(
        self,
        *,
        weighting: str,
        tolerance: float,
        tier_two: tuple[str, ...] = (),
        sizes: Mapping[str, float] | None = None,
        scaled_time: bool = False,
    ) -> None:
        self.tolerance = tolerance
        self.weighting = weighting
        self.tier_two = tier_two
        self.scaled_time = scaled_time
        self.problem: str | None = None
        self.kernels: list[Kernel] = []
        self.weight: TimeWeight | None = None
        self.snapshot: Snapshot | None = None
        self._sizes = dict(sizes or {})
        self._known: dict[str, float | None] = {}

    @classmethod
    def of_contract(cls, study: Path, contract: Contract) -> "Against":
        """Take the choices of a contract, and the snapshot that it names; arms of simplified models are of tier 2."""
        stated = declared_choices(contract)
        made = cls(
            weighting=stated["weighting"],
            tolerance=stated["tolerance"],
            tier_two=(*stated["tier_two"], *simplified_arms(contract)),
            sizes={one.name: float(one.size) for one in contract.instances if one.size is not None},
            scaled_time=bool(stated["time_scale"]),
        )
        try:
            made.choose(stated["kernels"], stated["weight"])
            made.use(next(iter(stored_snapshots([str(study)], study, contract, None, ())), None))
        except GaplineError as error:
            made.problem = error.message
        return made

    def choose(self, kernels: Sequence[str], weight: str) -> None:
        """Read under kernels and a weight."""
        self.kernels = [parse_kernel(name, tolerance=self.tolerance) for name in kernels]
        self.weight = as_weight(weight)

    def use(self, snapshot: Snapshot | None) -> bool:
        """Read against a snapshot from now on; return whether it is another one."""
        if snapshot is self.snapshot:
            return False
        self.snapshot, self._known = snapshot, {}
        return True

    def reference(self, instance: str, scale: Scale) -> float | None:
        """Return the reference of an instance on the scored scale, None where there is none to be used."""
        if instance not in self._known:
            self._known[instance] = self._resolve(instance, scale)
        return self._known[instance]

    def _resolve(self, instance: str, scale: Scale) -> float | None:
        if self.snapshot is None:
            return None
        try:
            value = float(resolve_references(self.snapshot, [instance], scale=scale, sizes=self._sizes)[0])
        except GaplineError:
            return None
        return value if np.isfinite(value) else None
