"""The cells of a study: arm × instance × seed, each with a directory name that is safe whatever the names are."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gapline.capture.study import JOURNALS
from gapline.model.contract import Arm, Contract, Instance
from gapline.model.tables import RunKey

_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_PART = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to be made."""

    arm: Arm
    instance: Instance
    seed: int
    horizon: float

    @property
    def key(self) -> RunKey:
        """The identity of the run."""
        return RunKey(self.arm.name, self.instance.name, self.seed)

    def directory(self, study: Path) -> Path:
        """The directory of the cell's attempts."""
        return study / JOURNALS / slug(self.key)


def slug(key: RunKey) -> str:
    """Return a directory name: readable parts, and a hash of the true names that keeps apart what looks alike.

    >>> slug(RunKey("HGS", "X-n101-k25", 3))
    'hgs_x-n101-k25_3_6b1bc8fa79'
    >>> slug(RunKey("../../etc", "a/b", 1)).startswith("etc_a-b_1_")
    True
    """
    parts = [_UNSAFE.sub("-", str(part).lower()).strip("-.")[:_PART] or "x" for part in key]
    digest = hashlib.sha256(msgspec.json.encode(list(key))).hexdigest()[:10]
    return "_".join([*parts, digest])


def plan_cells(contract: Contract) -> list[Cell]:
    """Return the cells, seeds outermost and arms innermost: a campaign that is cut short is still balanced."""
    return [
        Cell(arm, instance, seed, instance.horizon or contract.time.horizon)
        for seed in contract.seeds
        for instance in contract.instances
        for arm in contract.arms
    ]
