"""The schema of every table that crosses a module border, stated once."""

from enum import IntEnum, StrEnum
from typing import NamedTuple

import polars as pl

RUN_KEY = ("arm", "instance", "seed")
CELL = ("arm", "panel", "instance", "seed")

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
    "validation": pl.String(),  # who says that a candidate is valid: "checker", "declared" (the file) or "solver"
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

# Result tables. Those of groups begin with the columns they are grouped by, so only what follows stands here.
_PAIR: dict[str, pl.DataType] = {"a": pl.String(), "b": pl.String()}
_KERNEL: dict[str, pl.DataType] = {"kernel": pl.String(), "reference": pl.String()}
METRIC_POOLED: dict[str, pl.DataType] = {
    "arm": pl.String(),
    "tier": pl.Int64(),
    **_KERNEL,
    "score": pl.Float64(),
    "rank": pl.Int64(),
    "out_of_envelope": pl.Boolean(),
}
METRIC_SATURATED: dict[str, pl.DataType] = {**_KERNEL, "runs": pl.Int64()}
METRIC_SIGNS: dict[str, pl.DataType] = {**_KERNEL, "negative": pl.Int64(), "zero": pl.Int64(), "positive": pl.Int64()}
METRIC_RATIOS: dict[str, pl.DataType] = {**_PAIR, **_KERNEL, "ratio": pl.Float64()}
REFERENCE_SHIFT: dict[str, pl.DataType] = {
    "arm": pl.String(),
    "kernel": pl.String(),
    "from": pl.Float64(),
    "to": pl.Float64(),
    "shift": pl.Float64(),
}
REFERENCE_NEGATIVE: dict[str, pl.DataType] = {
    "arm": pl.String(),
    "kernel": pl.String(),
    "from": pl.Int64(),
    "to": pl.Int64(),
}
COMPLEMENTARITY_PAIRS: dict[str, pl.DataType] = {
    "panel": pl.String(),
    **_PAIR,
    "d_score": pl.Float64(),
    "d_final": pl.Float64(),
    "d_attainment": pl.Float64(),
}
COMPLEMENTARITY_GRID: dict[str, pl.DataType] = {
    "max_score": pl.Float64(),
    "min_final": pl.Float64(),
    "min_attainment": pl.Float64(),
    "count": pl.Int64(),
}
ROBUSTNESS: dict[str, pl.DataType] = {
    **_PAIR,
    "better": pl.String(),
    "choices": pl.Int64(),
    "holds": pl.Int64(),
    "ties": pl.Int64(),
    "flips": pl.Int64(),
    "share": pl.Float64(),
    "text": pl.String(),
}
ROBUSTNESS_VERDICTS: dict[str, pl.DataType] = {
    **_PAIR,
    "factor": pl.String(),
    "choice": pl.String(),
    "difference": pl.Float64(),
    "verdict": pl.String(),
}
RUNNING_TIMES: dict[str, pl.DataType] = {
    "goal": pl.Float64(),
    "runs": pl.Int64(),
    "successes": pl.Int64(),
    "success_rate": pl.Float64(),
    "ert": pl.Float64(),
    "spent": pl.Float64(),
}
PENALISED_TIMES: dict[str, pl.DataType] = {"goal": pl.Float64(), "runs": pl.Int64(), "missed": pl.Int64()}
AREAS: dict[str, pl.DataType] = {"runs": pl.Int64(), "area": pl.Float64()}
PRIMAL_DUAL: dict[str, pl.DataType] = {
    "runs": pl.Int64(),
    "bounded": pl.Int64(),
    "crossed": pl.Int64(),
    "integral": pl.Float64(),
}
# Where M·K + C breaks the order of observed solutions: M must be above `needed` for K (`primary`) to stay ahead of
# a larger one (`over`).
HIERARCHY_VIOLATIONS: dict[str, pl.DataType] = {
    "instance": pl.String(),
    "primary": pl.Float64(),
    "over": pl.Float64(),
    "needed": pl.Float64(),
    "multiplier": pl.Float64(),
}


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


# Whole runs that ended badly; one that we cut short is no run at all.
FAILED = tuple(status.value for status in (RunStatus.CRASHED, RunStatus.MEMORY_LIMIT, RunStatus.KILLED, RunStatus.LOST))


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
