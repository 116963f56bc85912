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

# What the runner records of each run, beside the columns that every campaign has.
RUN_RECORD: dict[str, pl.DataType] = CARRIED | {
    "tier": pl.Int64(),
    "solver": pl.String(),
    "threads": pl.Int64(),
    "solver_version": pl.String(),
    "exit_code": pl.Int64(),
    "signal": pl.String(),
    "elapsed": pl.Float64(),
    "cpu_time": pl.Float64(),
    "peak_memory": pl.Int64(),
    "machine": pl.String(),
    "host": pl.String(),
    "cpus": pl.String(),
    "governor": pl.String(),
    "boost": pl.String(),
    "load": pl.Float64(),
    "cpu_share": pl.Float64(),
    "foreign_share": pl.Float64(),
    "overshoot": pl.Float64(),
    "jitter": pl.Float64(),
    "disturbed": pl.String(),
    "leftover": pl.Int64(),
    "dropped": pl.Int64(),
    "attempts": pl.Int64(),
    "attempt": pl.Int64(),
    "order_seed": pl.Int64(),
    "order_position": pl.Int64(),
    "quarantined": pl.Boolean(),
    "best_solution_digest": pl.String(),
}

# Columns of a neutral trace file, in the order they are written.
TRACE_REQUIRED = ("arm", "instance", "seed", "time", "objective")
TRACE_OPTIONAL = ("valid", "panel", "horizon", "status", "claimed", "reason", "bound", "primary", "secondary")
# Further columns that describe a candidate whatever they hold: never carried, never a setting of a run.
TRACE_DETAILS = ("solution", "solution_digest", "note", "message", "event")

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
