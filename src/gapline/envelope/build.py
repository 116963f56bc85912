"""Build envelopes from candidates: valid, strictly improving steps within the horizon, per run.

Of candidates with equal times the best counts. A candidate exactly at the horizon counts (with zero width). A later one
is evidence of an overrun, not of quality: it stays in the campaign but not in the envelope, and is counted as late. The
last incumbent is held to the horizon, so a run that stops early or crashes is neither punished nor rewarded for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Scale, Senses, choose_scale
from gapline.contract.argument_checks import expect
from gapline.contract.fact_origins import was_announced
from gapline.contract.result_table import Shown
from gapline.contract.row_groups import Numbered, rows_of
from gapline.contract.tables import RUN_KEY, RunKey, VerdictCode
from gapline.contract.time_scale import is_scaled
from gapline.contract.transforms import SYNTAX, Declared
from gapline.envelope.hierarchy import HierarchyCheck, check_hierarchy
from gapline.envelope.worker_steps import WorkerSteps, accept_on_workers
from gapline.errors import HorizonError, ObjectiveError, TraceError, UncheckedError, UsageError, listing
from gapline.executors.executors import Workers
from gapline.native.accept import Accepted, accept_candidates
from gapline.traces.candidate_checks import check_accepted, note_far_late

Floats = NDArray[np.float64]
_ROUNDING = 1e-12
NOT_POSITIVE = (
    "mark what is not feasible with valid=false; or let `gapline score` use --kernel berthold alone, which is defined "
    f"at zero and below, or a transform declared for all or for some (--transform 'INSTANCE=shift:C'; {SYNTAX}), or "
    "leave these instances out (--leave-out-unscorable)"
)


class Unchecked(StrEnum):
    """How unchecked candidates are treated."""

    REFUSE = "refuse"
    TRUST_SOLVER = "solver"
    LEAVE_OUT = "leave-out"


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Envelopes(Shown):
    """Best-so-far steps of every run, and counts of the candidates that were left out.

    `runs` has one row per run: its key, panel, status and carried columns; `horizon` (the one scored) and `announced`
    (the one given to the solver); `first` and `count`, the slice of `time` and `objective`; `captured`, `rejected`,
    `unchecked`, `late` and `steps`; `terminal_valid` (verdict of the last candidate in the horizon, null without one);
    `best`, `best_raw` (before the transform) and `best_time`, null for an empty run; `validation`, the source of the
    verdicts; `print_slack`, the largest amount by which rounding in the source's print may have improved `best`.
    With a hierarchical transform there are also `best_primary` and `best_secondary` (K and C of the best), and
    `hierarchy`, which says whether the multiplier M keeps the order of all solutions of the campaign.
    If workers hold the steps (`held`), `time` and `objective` are empty, and passes go through `envelope.passes`.
    `known` is a cached numbering of the names in `runs`; it is not used once `runs` was replaced.
    """

    runs: pl.DataFrame
    time: Floats
    objective: Floats
    scale: Scale
    unchecked: Unchecked
    notes: tuple[str, ...] = ()
    hierarchy: HierarchyCheck | None = None
    held: WorkerSteps | None = None
    known: Numbered | None = None

    def __len__(self) -> int:
        return self.runs.height

    def to_polars(self) -> pl.DataFrame:
        """Return the table of runs; the steps are in `time` and `objective`."""
        return self.runs

    def caption(self) -> str:
        """Return a one-line summary."""
        empty = int((self.runs["steps"] == 0).sum())
        return f"{len(self):,} runs, {empty:,} empty, {int(self.runs['steps'].sum()):,} steps"

    @property
    def rows(self) -> Numbered:
        """The runs, numbered by their names."""
        return rows_of(self.runs, self.known)

    @property
    def validation(self) -> str:
        """The source of the verdicts: `checker`, `declared`, `solver`, or several with their numbers of runs."""
        said = pl.col("validation")
        if not len(self) or self.runs.select((said == said.first()).all()).item():
            return str(self.runs.item(0, "validation")) if len(self) else "declared"
        counts = self.runs.group_by("validation").len().sort("validation")
        return ", ".join(f"{name} ({number} runs)" for name, number in counts.iter_rows())

    @property
    def worst_best(self) -> Floats:
        """The best objective of each run, at the worst value that its print allows; infinite for an empty run."""
        best = self.runs["best"].fill_null(np.inf).to_numpy()
        slack = self.runs["print_slack"].fill_null(0.0).to_numpy() if "print_slack" in self.runs.columns else 0.0
        return np.asarray(best + slack)

    def select(self, rows: pl.Expr | Sequence[int]) -> "Envelopes":
        """Select some runs; the step columns are shared, not copied."""
        runs = self.runs.filter(rows) if isinstance(rows, pl.Expr) else self.runs[list(rows)]
        return replace(self, runs=runs)

    def steps(self, row: int) -> tuple[Floats, Floats]:
        """Return times and objectives of the accepted steps of one run."""
        if self.held is not None:
            return self.held.bring(self.runs[[row]])
        first, count = self.runs["first"][row], self.runs["count"][row]
        return self.time[first : first + count], self.objective[first : first + count]


def build_envelopes(
    campaign: Campaign,
    /,
    *,
    horizon: float | Floats | None = None,
    transform: Declared | Scale = None,
    sense: Senses = None,
    signed: bool = False,
    unchecked: str | Unchecked = Unchecked.REFUSE,
    allow_empty: bool = False,
    workers: Workers | None = None,
) -> Envelopes:
    """Accept the candidates that may be scored, and return the envelopes of all runs.

    Parameters
    ----------
    campaign
        The captured candidates.
    horizon
        The horizon of runs that state none, and a shorter one for the others. A horizon beyond a run's own is refused,
        because nothing was observed there. An array gives one for each run.
    transform
        A declared transform of the objective, such as `shift:10` (see `contract/transforms.py`), and rules such as
        `INSTANCE=shift:10` or `panel:NAME=shift:10`.
    sense
        `min` or `max` for runs whose source gives neither; a maximised objective without a transform is scored by its
        reciprocal.
    signed
        Accept objectives of any sign, for which only Berthold's gap is defined.
    unchecked
        Treatment of unchecked candidates: `refuse` (default), `solver` (count them as valid) or `leave-out`.
    allow_empty
        Accept a campaign in which every candidate is later than a horizon that no run states; its runs count as empty.
    workers
        Worker processes that accept the candidates and keep the steps; they need access to the campaign directory.

    >>> from gapline.campaign.campaign import Campaign
    >>> campaign = Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 30.0,
    ...                                 "trace": [(5, 30.0), (7, 31.0), (7, 29.0), (31, 20.0)]}])
    >>> envelopes = build_envelopes(campaign)
    >>> envelopes.time.tolist(), envelopes.objective.tolist(), envelopes.runs["late"].to_list()
    ([5.0, 7.0], [30.0, 29.0], [1])
    """
    expect(campaign, Campaign, "build_envelopes")
    try:
        policy = Unchecked(unchecked)
    except ValueError:
        raise UsageError(f"unchecked: expected {listing(Unchecked)}, got {unchecked!r}") from None
    scale = choose_scale(campaign, transform, sense=sense, signed=signed)
    scored = _scored_horizons(campaign, horizon)
    trusting = policy is Unchecked.TRUST_SOLVER
    held = None
    if workers is None:
        columns = accept_candidates(campaign, scale, scored, count_unchecked=trusting)
    else:
        columns, held = accept_on_workers(campaign, scale, scored, workers, count_unchecked=trusting)
    _refuse_bad_runs(campaign, columns, scale)
    if policy is Unchecked.REFUSE and (total := int(columns.counts["unchecked"].sum())):
        runs = int(np.count_nonzero(columns.counts["unchecked"]))
        raise UncheckedError(
            f"expected a verdict for every candidate, got {total:,} unchecked in {runs:,} runs",
            hint="check them (`gapline check`), count them as valid (`gapline score --validation solver`), "
            "or leave them out (`gapline score --allow-unchecked`)",
        )
    about_horizon = _judge_horizon(campaign, columns, scored, allow_empty=allow_empty)
    hierarchy = check_hierarchy(campaign, scale.default, count_unchecked=trusting) if scale.hierarchical else None
    notes = [
        *_notes(campaign, columns, policy, scored),
        *about_horizon,
        *([] if hierarchy is None else [str(hierarchy)]),
    ]
    table = _with_print_slack(_runs_table(campaign, columns, scored, policy, scale), scale)
    return Envelopes(
        runs=table,
        time=columns.time,
        objective=columns.objective,
        scale=scale,
        unchecked=policy,
        notes=tuple(notes),
        hierarchy=hierarchy,
        held=held,
        known=campaign.rows.carried(table),
    )


def _scored_horizons(campaign: Campaign, horizon: float | Floats | None) -> Floats:
    """Return the horizon of every run: the requested one, else the stated one, but never beyond the observed time."""
    runs, budget = campaign.runs, campaign.runs["horizon"]
    if horizon is not None and not np.all(np.isfinite(horizon) & (np.asarray(horizon) > 0)):
        raise UsageError(f"horizon: expected positive finite seconds, got {horizon}")
    # For scaled times, the stated number counts as seconds of the reference machine.
    scaled = is_scaled(runs)
    stated = pl.select(pl.coalesce(runs["own_horizon"], budget)).to_series() if scaled else budget
    if horizon is None and stated.null_count():
        missing = runs.filter(stated.is_null())
        names = listing((str(RunKey(*row)) for row in missing.select(RUN_KEY).iter_rows()), most=3)
        # A truncated row may have lost its horizon.
        cut = campaign.diagnostics.problems if missing.height < len(runs) else ()
        raise HorizonError(
            f"expected a horizon for every run, got none for {missing.height:,}: {names}",
            hint="give --horizon SECONDS, or a `horizon` column" + (f"; while reading: {cut[0]}" if cut else ""),
        )
    if horizon is None and not scaled:
        return stated.to_numpy()
    asked_for = None if horizon is None else np.broadcast_to(np.asarray(horizon, np.float64), len(campaign))
    wanted = stated if asked_for is None else pl.Series(asked_for, dtype=pl.Float64)
    # A budget that was multiplied by a factor may differ from the number in its last bits.
    beyond = runs.filter(budget < wanted * (1 - _ROUNDING if scaled else 1.0))
    if beyond.height:
        shown = listing(
            (f"{RunKey(*row[:3])} ({row[3]:g})" for row in beyond.select(*RUN_KEY, "horizon").iter_rows()), most=3
        )
        asked = listing((f"{h:g}" for h in wanted.unique().sort()), most=3)
        own = "budget in seconds of the reference machine" if scaled else "own"
        hint = "nothing was observed beyond a run's own horizon; score at a shorter one"
        if scaled:
            hint = (
                f"nothing was observed beyond it; the largest that works is --horizon {_at_most(budget.drop_nulls())}"
            )
        raise HorizonError(
            f"horizon {asked}: expected at most each run's {own}, got {beyond.height:,} runs with less: {shown}",
            hint=hint,
        )
    return wanted.to_numpy()


def _judge_horizon(campaign: Campaign, found: Accepted, scored: Floats, *, allow_empty: bool) -> list[str]:
    """Check the candidates of runs without a stated horizon against the one that the caller gave; return notes."""
    silent = campaign.runs["horizon"].is_null().to_numpy()
    if not np.any(found.counts["late"][silent]):
        return []
    stated = campaign.runs["horizon"].fill_null(np.inf).to_numpy()
    far = note_far_late(campaign, scored, silent)
    notes = check_accepted(campaign, np.where(silent, scored, stated), allow_empty=allow_empty)
    return [*([] if far is None else [far]), *notes]


def _at_most(budgets: pl.Series) -> str:
    """Return the smallest budget as text, in few digits if these do not exceed it."""
    value = float(np.min(budgets.to_numpy()))
    short = f"{value:g}"
    return short if float(short) <= value else repr(value)


def _refuse_bad_runs(campaign: Campaign, found: Accepted, scale: Scale) -> None:
    """Raise one error for the faults of the compiled pass, with runs and values."""
    backwards, bad = _faults(campaign, found)
    if backwards:
        raise TraceError(
            f"expected times in order inside each run, got them backwards in {listing(backwards)}",
            hint="gl.read sorts; from_arrays takes sorted columns",
        )
    if bad:
        instances = len({key.instance for key, _ in bad})
        raise ObjectiveError(
            f"expected {'finite' if scale.signed else 'positive finite'} objectives (and times of 0 or more) under "
            f"transform {scale}, got others in {len(bad):,} runs of {instances:,} instances: "
            + listing((f"{key} has {what}" for key, what in bad), most=3),
            hint="mark what is not feasible with valid=false" if scale.signed else NOT_POSITIVE,
        )


def _faults(campaign: Campaign, found: Accepted) -> tuple[list[str], list[tuple[RunKey, str]]]:
    """Return the runs whose times decrease, and the runs with a candidate that cannot be scored, with its value."""
    backwards: list[str] = []
    bad: list[tuple[RunKey, str]] = []
    keys = campaign.runs.select(RUN_KEY)
    for row, k in sorted(found.faults.items()):
        begin = int(campaign.runs["first"][row])
        key = RunKey(*keys.row(row))
        if k > begin and not campaign.time[k] >= campaign.time[k - 1]:
            backwards.append(str(key))
        else:
            bad.append((key, f"{float(campaign.objective[k])!r} at time {float(campaign.time[k])!r}"))
    return backwards, bad


def unscorable_instances(
    campaign: Campaign, scale: Scale, *, horizon: float | None = None, unchecked: Unchecked = Unchecked.REFUSE
) -> tuple[dict[str, str], set[str]]:
    """Return the instances with an accepted objective that cannot be scored, with the reason, and the unsolved ones.

    Such an objective is not positive and finite on the transformed scale; on an unsolved instance no run has a step.
    """
    trusting = unchecked is Unchecked.TRUST_SOLVER
    columns = accept_candidates(campaign, scale, _scored_horizons(campaign, horizon), count_unchecked=trusting)
    _, bad = _faults(campaign, columns)
    names = campaign.runs["instance"]
    unsolved = set(names) - set(names.filter(pl.Series(columns.counts["steps"] > 0)))
    found = {key.instance: f"{key} has {what}" for key, what in reversed(bad)}
    return found, unsolved - found.keys()


def _notes(campaign: Campaign, found: Accepted, policy: Unchecked, scored: Floats) -> list[str]:
    notes = []
    unchecked = int(found.counts["unchecked"].sum())
    if unchecked and policy is Unchecked.TRUST_SOLVER:
        notes.append(f"{unchecked:,} unchecked candidates count as valid because the solver said so")
    if unchecked and policy is Unchecked.LEAVE_OUT:
        notes.append(f"{unchecked:,} unchecked candidates were left out")
    announced = campaign.runs["horizon"]
    if _differ(announced, scored):
        told = ("announced to the solvers", "announced") if was_announced(campaign.runs) else ("stated", "stated")
        notes.append("scored at a shorter horizon than the one {}: conditional on the {} one".format(*told))
    if "clock" in campaign.runs.columns and campaign.runs["clock"].drop_nulls().n_unique() > 1:
        clocks = sorted(campaign.runs["clock"].drop_nulls().unique().to_list())
        notes.append(f"clocks differ between runs: {listing(clocks)}")
    return notes


def _differ(announced: pl.Series, scored: Floats) -> bool:
    """Say whether any run with a stated horizon is scored at another one."""
    if not announced.null_count() and np.shares_memory(announced.to_numpy(), scored):
        return False
    stated = announced.fill_null(np.inf).to_numpy()
    return bool(np.any((stated != scored) & np.isfinite(stated)))


def _runs_table(campaign: Campaign, found: Accepted, scored: Floats, policy: Unchecked, scale: Scale) -> pl.DataFrame:
    empty = found.counts["steps"] == 0
    nobody_knows = (found.terminal < 0) | (found.terminal == VerdictCode.UNCHECKED)

    def unless_empty(values: NDArray[np.float64]) -> pl.Series:
        return _with_nulls(pl.Series(values, dtype=pl.Float64), empty)

    def at_best(column: NDArray[Any]) -> pl.Series:
        if not len(column):
            return pl.Series([None] * len(empty), dtype=pl.Float64)
        return unless_empty(column[np.where(empty, 0, found.best_index)])

    best, counts = unless_empty(found.best), {name: pl.Series(values) for name, values in found.counts.items()}
    extra: dict[str, pl.Series] = {}
    if campaign.primary is not None and campaign.secondary is not None:
        extra = {"best_primary": at_best(campaign.primary), "best_secondary": at_best(campaign.secondary)}
    runs = campaign.runs
    validation = runs["validation"].fill_null("declared") if "validation" in runs.columns else pl.lit("declared")
    table = runs.with_columns(validation=validation)
    if policy is Unchecked.TRUST_SOLVER:
        trusted = pl.Series(found.counts["unchecked"] > 0)
        table = table.with_columns(validation=pl.when(trusted).then(pl.lit("solver")).otherwise(pl.col("validation")))
    return table.with_columns(
        # The announced horizon is in seconds of the solver's own machine.
        announced=runs["own_horizon" if is_scaled(runs) else "horizon"],
        horizon=pl.Series(scored, dtype=pl.Float64),
        first=pl.Series(found.first, dtype=pl.Int64),
        count=counts["steps"],
        **counts,
        terminal_valid=_with_nulls(pl.Series(found.terminal == VerdictCode.VALID), nobody_knows),
        best=best,
        # Without a transform, the raw objective equals the scored one.
        best_raw=best if scale.keeps else at_best(campaign.objective),
        best_time=unless_empty(found.best_time),
        **extra,
    )


def _with_nulls(column: pl.Series, rows: NDArray[np.bool_]) -> pl.Series:
    return column.set(pl.Series(rows), None) if rows.any() else column


def _with_print_slack(runs: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Add the column `print_slack`: how much worse than printed the best of each run may be, after the transform."""
    if "value_resolution" not in runs.columns or scale.hierarchical:
        return runs
    names, raw = runs["instance"].to_list(), runs["best_raw"].fill_null(np.nan).to_numpy()
    half = 0.5 * runs["value_resolution"].fill_null(0.0).to_numpy()
    worst = np.maximum(scale.apply(names, raw - half), scale.apply(names, raw + half)) - scale.apply(names, raw)
    return runs.with_columns(print_slack=pl.Series(worst).fill_nan(None))
