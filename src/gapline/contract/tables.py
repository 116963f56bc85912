"""The schema of every table that crosses a module border, stated once."""

from enum import IntEnum, StrEnum
from typing import NamedTuple

import polars as pl

RUN_KEY = ("arm", "instance", "seed")
CELL = ("arm", "panel", "instance", "seed")

Schema = dict[str, pl.DataType]
_TYPES = {"text": pl.String(), "whole": pl.Int64(), "real": pl.Float64(), "flag": pl.Boolean()}


def _schema(columns: str) -> Schema:
    """Parse `name:type …` into a schema; the columns are in the order in which they are printed."""
    return {name: _TYPES[kind] for name, _, kind in (column.partition(":") for column in columns.split())}


# Columns that every campaign has; further ones (slices, threads, size, ...) are kept.
RUNS = _schema("arm:text instance:text panel:text seed:whole horizon:real status:text first:whole count:whole")

# Further columns that gapline itself interprets.
CARRIED: Schema = {
    "validation": pl.String(),  # who says that a candidate is valid: "checker", "declared" (the file) or "solver"
    "origins": pl.String(),  # who stated the facts of the run (`contract/fact_origins.py`)
    "clock": pl.String(),  # "wall", "cpu", or what the source calls its clock
    "charged": pl.String(),  # the work that the clock charges to the solver, in words
    "granularity": pl.String(),  # the granularity of the stamps, in words
    "machine_class": pl.String(),  # the machine in the words of the contract; `machine` is what the runner found
    "simplified_model": pl.String(),  # the problem that the solver solves where that is a simplified one
    "resolution": pl.Float64(),  # a stamp may be this many seconds early or late
    "value_resolution": pl.Float64(),  # unit of the last digit to which the source prints the run's best objective
    "bound_resolution": pl.Float64(),  # the same for its best dual bound
    "claim": pl.String(),  # the solver's final claim of proof: "optimal" or "infeasible"
    "sense": pl.String(),  # "min" or "max": which of two objectives of the instance is better
    "size": pl.Float64(),  # n of the instance, for a hierarchical multiplier such as 10n
    "time_scale": pl.Float64(),  # factor by which the times of the run were multiplied (`contract/time_scale.py`)
    "time_scale_source": pl.String(),  # where the factor is from: "declared"
    "own_horizon": pl.Float64(),  # of a scaled run: its horizon in seconds of the machine that it ran on
    "started": pl.String(),  # ISO 8601 moment at which the run began, where known
    "unclosed": pl.String(),  # of a recording without a valid end: the state of its process, "gone" or "alive"
    "import_notes": pl.String(),  # notes of the import on the run, one per line
    "instance_digest": pl.String(),  # digest of the instance file that was solved
    "problem_digest": pl.String(),  # digest of the problem in it (`contract/instance_digest.py`)
}

# Columns that the runner records for each run, in addition to those of every campaign.
RUN_RECORD = CARRIED | _schema("""
    tier:whole solver:text threads:whole solver_version:text exit_code:whole signal:text elapsed:real cpu_time:real
    peak_memory:whole machine:text host:text cpus:text governor:text boost:text load:real cpu_share:real
    foreign_share:real overshoot:real jitter:real disturbed:text limits:text unpinned:whole shared_memory:whole
    leftover:whole dropped:whole attempts:whole attempt:whole order_seed:whole
    order_position:whole best_solution_digest:text ladder:text ladder_step:text
""")

# Columns of campaigns of earlier versions, which are ignored.
RETIRED = ("calibration", "calibration_spread", "calibration_work")

# Columns of a neutral trace file, in the order they are written.
TRACE_REQUIRED = ("arm", "instance", "seed", "time", "objective")
TRACE_OPTIONAL = ("valid", "panel", "horizon", "status", "claimed", "reason", "bound", "primary", "secondary")
# Further columns that always describe a candidate: they are never kept, and never a setting of a run.
TRACE_DETAILS = ("solution", "solution_digest", "note", "message", "event")

DEFAULT_PANEL = "all"
# Stands for the name of a simplified model if a solver solves the instances as they are.
EXACT_MODEL = "exact"

# Result tables. Those of groups begin with the grouping columns, which are not listed here.
ARM_INTERVALS = _schema("arm:text instances:whole mean:real low:real high:real reason:text")
CONTRASTS = _schema("""
    a:text b:text declared:flag instances:whole mean_a:real mean_b:real difference:real low:real high:real p:real
    p_smallest:real p_holm:real wins:whole ties:whole losses:whole reason:text
""")
RANKING = _schema("""
    rank:whole arm:text mean:real rank_low:whole rank_high:whole wins:whole ties:whole losses:whole
""")
POWER = _schema("""
    a:text b:text delta:real seeds:whole instances:whole instances_low:whole instances_high:whole per_panel:text
    runs:whole hours:real reason:text
""")
# The planned runs: one row per tier, or ladder of settings.
DESIGN = _schema("""
    evidence:text arms:whole steps:text runs_each:text runs:whole instances:whole panels:whole seeds:text horizon:text
    threads:text memory:text
""")
PANEL_DESIGN = _schema("panel:text instances:whole sizes:text seeds:text arms:whole runs:whole")
# The pilot of a power table: shares of the variance, and by which share more instances or seeds shorten the interval.
PILOT = _schema("""
    a:text b:text instances:whole seeds:real detectable:real double_instances:real instance:real seed:real rest:real
    seed_p:real double_seeds:real endless_seeds:real one_seed:real reason:text
""")
COMPARISON = _schema("""
    panel:text instances:whole first:real second:real difference:real low:real high:real wins:whole ties:whole
    losses:whole reason:text
""")
METRIC_POOLED = _schema("""
    arm:text tier:whole kernel:text reference:text score:real rank:whole out_of_envelope:flag
""")
METRIC_RUNS = _schema("""
    arm:text kernel:text reference:text runs:whole saturated:whole negative:whole zero:whole positive:whole
""")
METRIC_RATIOS = _schema("a:text b:text kernel:text reference:text ratio:real")
METRIC_KERNEL_RATIOS = _schema("arm:text tier:whole kernel:text reference:text ratio:real")
SCALE = _schema("""
    given:text kernel:text score:real raw_gap:real raw_gap_below:real saturated:flag note:text
""")
TRANSFORM_POOLED = _schema("transform:text arm:text tier:whole score:real rank:whole shift:real")
CUTOFF_SCORES = _schema("kind:text cutoff:real arm:text score:real")
CUTOFF_FLIPS = _schema("kind:text cutoff:real a:text b:text")
REFERENCE_SHIFT = _schema("arm:text kernel:text from:real to:real shift:real")
REFERENCE_NEGATIVE = _schema("arm:text kernel:text from:whole to:whole")
COMPLEMENTARITY_PAIRS = _schema("panel:text a:text b:text d_score:real d_final:real d_attainment:real")
COMPLEMENTARITY_GRID = _schema("max_score:real min_final:real min_attainment:real count:whole")
ROBUSTNESS = _schema("""
    a:text b:text better:text choices:whole holds:whole ties:whole flips:whole share:real text:text
""")
ROBUSTNESS_VERDICTS = _schema("a:text b:text factor:text choice:text difference:real verdict:text")
RUNNING_TIMES = _schema("arm:text goal:real runs:whole successes:whole success_rate:real ert:real spent:real")
PENALISED_TIMES = _schema("arm:text goal:real runs:whole missed:whole")
MEAN_RANKS = _schema("arm:text mean_rank:real median_rank:real")
RATINGS = _schema("arm:text rating:real low:real high:real wins:whole ties:whole losses:whole")
ARM_AVERAGES = _schema("arm:text iqm:real iqm_low:real iqm_high:real geometric_score:real")
CURVE_AREAS = _schema("a:text b:text signed:real absolute:real ahead:real")
PAIRS = _schema("""
    a:text b:text declared:flag instances:whole signed_rank:real p:real p_holm:real smallest_p:real method:text
    nemenyi_p:real improvement:real improvement_low:real improvement_high:real signed_area:real absolute_area:real
    ahead:real reason:text
""")
ATTAINMENT_DIFFERENCE = _schema("time:real until:real gap:real below:real difference:real")
# Where M·K + C breaks the order of observed solutions: M must be above `needed` for K (`primary`) to stay ahead of
# a larger one (`over`).
HIERARCHY_VIOLATIONS = _schema("instance:text primary:real over:real needed:real multiplier:real")


def model_note(arm: str, model: str) -> str:
    """Return the note that an arm is of tier 2 because of its model, and how to declare the model exact."""
    return (
        f"{arm} solves a simplified model ({model}): it is described, not ranked (tier 2); "
        f'model = "{EXACT_MODEL}" in its [[arms]] states that the model is exact'
    )


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


# Complete runs that ended badly; a run that gapline cut short is not a run.
FAILED = tuple(status.value for status in (RunStatus.CRASHED, RunStatus.MEMORY_LIMIT, RunStatus.KILLED, RunStatus.LOST))


class Proof(StrEnum):
    """What a solver claims to have proven, in the column `claim`."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"


class VerdictCode(IntEnum):
    """The values of the `verdict` column for a captured event."""

    INVALID = 0
    VALID = 1
    UNCHECKED = 2
    # Not a candidate: an event with only a dual bound, which no count of candidates includes.
    BOUND = 3


class Reason(StrEnum):
    """Why a reader, not a checker, rejected a candidate."""

    OBJECTIVE_MISSING = "objective missing"
    OBJECTIVE_NOT_A_NUMBER = "objective not a number"
    OBJECTIVE_NOT_FINITE = "objective not finite"
    OBJECTIVE_NOT_EXACT = "objective not exact"
    TIME_MISSING = "time missing"
    TIME_NOT_A_NUMBER = "time not a number"
    TIME_NOT_FINITE = "time not finite"
    TIME_NOT_EXACT = "time not exact"
    TIME_NEGATIVE = "time negative"
    ROW_CUT = "row cut short"
    DECLARED_INVALID = "declared invalid"
