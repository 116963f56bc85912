"""Results of a replication: two studies of the same cells side by side, and whether the conclusions hold.

They are stored in `replication.json` of the new study, so that its report shows them too.
"""

from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import msgspec

from gapline.contract.layout import Identity
from gapline.errors import TraceError, listing
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import read_document

SCHEMA = "gapline.replication/1"
# The condition that counts the runs that other processes disturbed.
DISTURBED = "disturbed runs"


class Agreement(StrEnum):
    """The outcomes of measuring a difference of two arms again."""

    AGREES = "agrees"
    SAME_SIGN = "agrees in sign, not told apart"
    OTHER_SIGN = "differs in sign, not told apart"
    CONTRADICTS = "contradicts"
    NOT_TESTED = "not tested"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A difference (mean of a minus mean of b) in one of the two studies; if negative, a is better."""

    instances: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str | None = None

    @property
    def told_apart(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of arms in the old and in the new study."""

    a: str
    b: str
    declared: bool
    old: Measured
    new: Measured
    order_agrees: bool | None
    agreement: Agreement


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """The shift of an arm's mean from the old to the new study, in a panel, or in all of them if `panel` is None.

    `verdict` is better, worse or no difference shown; None for a descriptive arm, which is never tested, and if there
    is no interval (`reason`).
    """

    arm: str
    tier: int
    panel: str | None
    instances: int
    old: float | None
    new: float | None
    shift: float | None
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    reason: str | None = None


class RankAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Kendall's tau-b of the means of the compared arms, counted pair by pair.

    A pair that is tied in both counts only in `tied_both`; `tau` is None if all pairs are tied on one side, or there is
    no pair.
    """

    arms: int
    tau: float | None
    concordant: int = 0
    discordant: int = 0
    tied_old: int = 0
    tied_new: int = 0
    tied_both: int = 0


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """A condition of the two measurements; empty if it was not recorded."""

    kind: str
    what: str
    old: str
    new: str

    @property
    def differs(self) -> bool:
        """Whether both are known and differ."""
        return bool(self.old and self.new and self.old != self.new)


class ReplicatedPart(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a package that was replicated; everything if nothing is named."""

    arms: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    horizon_scale: float = 1.0

    def table(self) -> dict[str, Any]:
        """Return it as a table of a contract."""
        names = ("arms", "panels", "seeds")
        return {name: list(getattr(self, name)) for name in names} | {"horizon_scale": self.horizon_scale}

    def words(self) -> str:
        """Describe the part; empty if it is everything."""
        named = (("arms", self.arms), ("panels", self.panels), ("seeds", self.seeds))
        words = [f"{kind} {listing(map(str, some))}" for kind, some in named if some]
        words += [f"horizons × {self.horizon_scale:g}"] if self.horizon_scale != 1 else []
        return "; ".join(words)


class PackageOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The package that was replicated, and which part of it."""

    name: str
    sha256: str
    swhid: str
    part: ReplicatedPart = ReplicatedPart()

    @property
    def identity(self) -> Identity:
        """The identity of the package."""
        return Identity(self.name, self.sha256, self.swhid)


class Replicated(msgspec.Struct, frozen=True, kw_only=True):
    """Two studies compared: the old one and the new one, on the runs that both have, under one reading.

    `runs` were compared, of `planned` ones to be replicated; `campaign` is the digest of the new runs. `horizons`
    states the horizons at which both are scored, and those that were announced if they differ.
    """

    conclusions: tuple[Conclusion, ...]
    ranks: RankAgreement
    shifts: tuple[Shift, ...]
    conditions: tuple[Condition, ...]
    runs: int
    planned: int
    lacking_old: int
    lacking_new: int
    kernel: str
    level: float
    how: str
    reading: str
    horizons: str
    campaign: str
    notes: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    origin: PackageOrigin | None = None
    schema: str = SCHEMA

    @property
    def contradicted(self) -> tuple[Conclusion, ...]:
        """The pairs with significant differences of opposite sign in the two studies."""
        return tuple(one for one in self.conclusions if one.agreement is Agreement.CONTRADICTS)

    @property
    def moved(self) -> tuple[Shift, ...]:
        """The arms whose mean over all panels has significantly moved."""
        return tuple(one for one in self.shifts if one.panel is None and one.verdict in ("better", "worse"))

    def save(self, path: Path) -> None:
        """Write it to a file."""
        text = msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"
        write_atomically(path, lambda stream: stream.write(text))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file that `save` wrote."""
        try:
            found = msgspec.json.decode(read_document(path), type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise TraceError(f"{path}: expected the result of a replication, got {error}") from error
        if found.schema != SCHEMA:
            raise TraceError(f"{path}: expected schema {SCHEMA!r}, got {found.schema!r}")
        return found
