"""The schema of every table that crosses a module border, stated once."""

from enum import IntEnum, StrEnum
from typing import NamedTuple

import polars as pl

RUN_KEY = ("arm", "instance", "seed")

# Columns every campaign has; further ones (slices, threads, size, ...) are carried along.
RUNS: dict[str, pl.DataType] = {
    "arm": pl.String(),
    "instance": pl.String(),
    "panel": pl.String(),
    "seed": pl.Int64(),
    "horizon": pl.Float64(),
    "status": pl.String(),
    "first": pl.Int64(),
    "count": pl.Int64(),
}

# Carried columns that gapline itself gives a meaning to.
CARRIED: dict[str, pl.DataType] = {
    "validation": pl.String(),  # who says that a candidate is valid: "checker" or "solver"
    "clock": pl.String(),  # "wall", "cpu", or what the source calls its clock
    "resolution": pl.Float64(),  # stamps are multiples of this many seconds
    "size": pl.Float64(),  # n of the instance, for a hierarchical multiplier such as 10n
    "started": pl.String(),  # ISO 8601 moment at which the run began, where known
    "instance_digest": pl.String(),  # digest of the instance file that was solved
}

# Columns of a neutral trace file, in the order they are written.
TRACE_REQUIRED = ("arm", "instance", "seed", "time", "objective")
TRACE_OPTIONAL = ("valid", "panel", "horizon", "status", "claimed", "reason", "bound", "primary", "secondary")

DEFAULT_PANEL = "all"


class RunKey(NamedTuple):
    """The identity of a run."""

    arm: str
    instance: str
    seed: int

    def __str__(self) -> str:
        return f"{self.arm}/{self.instance}/{self.seed}"


class RunStatus(StrEnum):
    """How a run ended, as far as the source says."""

    FINISHED = "finished"
    TIME_LIMIT = "time-limit"
    MEMORY_LIMIT = "memory-limit"
    CRASHED = "crashed"
    KILLED = "killed"
    LOST = "lost"
    UNKNOWN = "unknown"


class VerdictCode(IntEnum):
    """What the `verdict` column says of one captured event."""

    INVALID = 0
    VALID = 1
    UNCHECKED = 2
    # Not a candidate: an event that carries a dual bound alone, so that it is in no count of candidates.
    BOUND = 3


class Reason(StrEnum):
    """Why a reader, not a checker, rejected a candidate."""

    OBJECTIVE_MISSING = "objective missing"
    OBJECTIVE_NOT_A_NUMBER = "objective not a number"
    OBJECTIVE_NOT_FINITE = "objective not finite"
    TIME_MISSING = "time missing"
    TIME_NOT_A_NUMBER = "time not a number"
    TIME_NOT_FINITE = "time not finite"
    TIME_NEGATIVE = "time negative"
    DECLARED_INVALID = "declared invalid"
