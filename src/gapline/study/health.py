"""Health of a campaign: captured, rejected, late and missing candidates and runs, per arm and per ladder step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.result_table import ResultTable
from gapline.contract.tables import CARRIED, FAILED, RETIRED, RUN_RECORD, RUNS, Reason, RunStatus, VerdictCode
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.files.scratch_arrays import piece_size
from gapline.native.slices import step_places

# Columns that are never varied on purpose: counts, and records of the runner except its settings.
_NO_LADDER = {
    *RUNS, *CARRIED, *RUN_RECORD, *RETIRED, "announced", "captured", "rejected", "unchecked", "late", "steps",
    "terminal_valid", "best", "best_raw", "best_time", "best_primary", "best_secondary",
} - {"threads"}  # fmt: skip
_MOST_STEPS = 50
# States of planned cells that are not done (`gapline.journal.plan_coverage`).
_ABSENT = ("unchecked", "running", "interrupted", "missing")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Health(ResultTable):
    """One row of counts per group, and the rejections by reason.

    `rejected` counts candidates with verdict invalid, late ones included; `terminal_invalid` runs whose last candidate
    in the horizon is invalid; `empty` runs without a valid incumbent, which stay in every mean; `crashed` runs that
    crashed, were killed or lost; `unknown` runs whose end is not recorded.
    """

    by: tuple[str, ...]
    reasons: pl.DataFrame

    def caption(self) -> str:
        """Return the groups of the counts."""
        return f"completeness by {listing(self.by)}"


def health(campaign: Campaign, envelopes: Envelopes, /, *, by: str | Sequence[str] = "arm") -> Health:
    """Count what happened to the candidates and runs of each group, by any columns of the runs table.

    >>> import gapline as gl
    >>> campaign = gl.Campaign.from_runs([
    ...     {"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0, True), (2, 4.0, False)]},
    ...     {"arm": "a", "instance": "i", "seed": 2, "horizon": 9, "trace": []}])
    >>> health(campaign, gl.build_envelopes(campaign)).frame.select(
    ...     "captured", "rejected", "terminal_invalid", "empty").row(0)
    (2, 1, 1, 1)
    """
    groups = [by] if isinstance(by, str) else list(by)
    runs = envelopes.runs
    if unknown := [name for name in groups if name not in runs.columns]:
        raise UsageError(f"by: expected columns of the runs table, got {listing(unknown)}")
    if not campaign.runs.select("arm", "instance", "seed").equals(runs.select("arm", "instance", "seed")):
        raise UsageError("health: expected the campaign that the envelopes were built from, got other runs")
    return Health(frame=count_runs(envelopes, groups), by=tuple(groups), reasons=_reasons(campaign, runs, groups))


def count_runs(envelopes: Envelopes, groups: Sequence[str]) -> pl.DataFrame:
    """Return the counts of `Health`, one row per group."""
    return (
        envelopes.runs.group_by(groups)
        .agg(
            runs=pl.len().cast(pl.Int64),
            captured=pl.col("captured").sum(),
            rejected=pl.col("rejected").sum(),
            # A run without candidates has no last one: null, and not counted as invalid.
            terminal_invalid=(~pl.col("terminal_valid")).fill_null(False).sum().cast(pl.Int64),
            empty=(pl.col("steps") == 0).sum().cast(pl.Int64),
            late=pl.col("late").sum(),
            unchecked=pl.col("unchecked").sum(),
            crashed=pl.col("status").is_in(FAILED).sum().cast(pl.Int64),
            unknown=(pl.col("status") == RunStatus.UNKNOWN.value).sum().cast(pl.Int64),
        )
        .sort(groups)
    )


def ladder_columns(runs: pl.DataFrame) -> list[str]:
    """Name the further numeric columns that take several values, as a ladder of settings does (slices, threads)."""
    found = []
    for name in runs.columns:
        if name not in _NO_LADDER and runs[name].dtype.is_numeric():
            steps = runs[name].drop_nulls().n_unique()
            # A column that differs in almost every run is a measurement, not a setting.
            if 1 < steps <= min(_MOST_STEPS, runs.height // 2):
                found.append(name)
    return found


def completeness(cells: pl.DataFrame, runs: pl.DataFrame, /) -> pl.DataFrame:
    """Return, per arm and panel, how many cells of a `Study` were planned, and how many are in each state."""
    keys = ["arm", "panel"]
    states = cells.group_by(keys).agg(
        expected=pl.len().cast(pl.Int64), present=_in_state("done"), **{name: _in_state(name) for name in _ABSENT}
    )
    empty = runs.group_by(keys).agg(empty=(pl.col("steps") == 0).sum().cast(pl.Int64))
    return states.join(empty, on=keys, how="left").with_columns(pl.col("empty").fill_null(0)).sort(keys)


def _in_state(name: str) -> pl.Expr:
    return (pl.col("state") == name).sum().cast(pl.Int64)


def _reasons(campaign: Campaign, runs: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    """Count rejections by group and reason; a rejection without a reason was declared invalid."""
    # Code 0 is "no reason given": the source itself declared the candidate invalid.
    names = [reason or Reason.DECLARED_INVALID.value for reason in campaign.reasons]
    with_rejections = np.flatnonzero(runs["rejected"].to_numpy() > 0)
    tally = np.zeros((len(with_rejections), len(names)), np.int64)
    rejecting = replace(campaign, runs=campaign.runs[with_rejections])
    for rows, piece in rejecting.pieces(piece_size()):
        first, count = piece.runs["first"].to_numpy(), piece.runs["count"].to_numpy()
        places, _ = step_places(first, count)
        invalid = np.asarray(piece.verdict[places]) == VerdictCode.INVALID
        codes = 0 if piece.reason is None else np.asarray(piece.reason[places])[invalid].astype(np.int64)
        kinds = np.repeat(np.arange(len(rows)), count)[invalid] * len(names) + codes
        tally[rows] = np.bincount(kinds, minlength=len(rows) * len(names)).reshape(len(rows), len(names))
    rows, kinds = np.nonzero(tally)
    found = runs.select(groups)[with_rejections[rows]].with_columns(
        reason=pl.Series([names[kind] for kind in kinds.tolist()], dtype=pl.String),
        rejected=pl.Series(tally[rows, kinds], dtype=pl.Int64),
    )
    return found.group_by(*groups, "reason").agg(pl.col("rejected").sum()).sort(*groups, "reason")
