"""The reference of each run's instance on the scored scale, and the choices printed with the results."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from gapline.contract.fact_origins import reading_origins
from gapline.contract.instance_set import InstanceSet, decide_instance_set
from gapline.contract.names import TimeWeight, parse_weight
from gapline.contract.reading import TOLERANCE, Coverage, Reading, ReferenceLabel
from gapline.contract.result_table import ResultTable
from gapline.contract.row_groups import count_words, distinct
from gapline.contract.tables import EXACT_MODEL, FAILED, RunStatus
from gapline.contract.time_scale import time_scale_of
from gapline.contract.user_code import code_digests
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.native.arrays import Floats
from gapline.references.resolve import (
    instance_sizes,
    refuse_changed_instances,
    refuse_other_sense,
    resolve_references,
    unreferenced_instances,
)
from gapline.references.snapshot import Snapshot
from gapline.scoring.user_functions import weight_error
from gapline.text import meant

# References by snapshot, for envelopes in use: a report asks for the same ones dozens of times.
_resolved: WeakKeyDictionary[Envelopes, list[tuple[Snapshot, Floats]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadTable(ResultTable):
    """A table with the choices behind its numbers."""

    reading: Reading

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels of the scores or gaps."""
        return self.reading.kernels

    @property
    def goals(self) -> tuple[float, ...]:
        """The raw gaps with hitting times or attainment in the table."""
        return self.reading.goals

    @property
    def statistics(self) -> tuple[str, ...]:
        """The user-defined numbers per run, by the names of their functions."""
        return self.reading.statistics


def reference_column(snapshot: Snapshot, envelopes: Envelopes) -> Floats:
    """Return the reference of every run, transformed as its objectives were; changed instances are refused.

    NaN stands for runs on instances that no run solved and that have no known value: these runs are all empty, and an
    empty run scores the same whatever the reference.
    """
    resolved = _resolved.setdefault(envelopes, [])
    column = next((column for known, column in resolved if known is snapshot), None)
    if column is None:
        column = _resolve_column(snapshot, envelopes)
        resolved.append((snapshot, column))
    return column.copy()


def _resolve_column(snapshot: Snapshot, envelopes: Envelopes) -> Floats:
    refuse_changed_instances(snapshot, envelopes.runs)
    refuse_other_sense(snapshot, envelopes.scale)
    # Once per instance, not once per run.
    instance = envelopes.rows.by("instance")
    first = instance.first_row
    order = np.argsort(first)
    values = resolve_references(
        snapshot,
        envelopes.runs["instance"].gather(first[order]).to_list(),
        scale=envelopes.scale,
        sizes=instance_sizes(envelopes.runs),
        unreferenced=unreferenced_instances(snapshot, envelopes),
    )
    by_number = np.empty(instance.size)
    by_number[order] = values
    return by_number[instance.row]


def build_reading(
    envelopes: Envelopes,
    reference: ReferenceLabel,
    *,
    kernels: tuple[str, ...],
    weight: str | TimeWeight = "uniform",
    goals: tuple[float, ...] = (),
    tolerance: float = TOLERANCE,
    weighting: str | None = None,
    coverage: Coverage | None = None,
    statistics: tuple[str, ...] = (),
    tier_two: Sequence[str] | None = None,
    instance_set: InstanceSet | None = None,
) -> Reading:
    """Build the choices behind numbers of these envelopes; without a plan, the coverage counts the existing runs.

    By default, the tiers are those that the runs record, and the instance set is decided by the default rule.
    """
    runs, chosen = envelopes.runs, parse_weight(weight)
    descriptive = descriptive_arms(runs) if tier_two is None else tuple(tier_two)
    horizons = tuple(distinct(runs["horizon"]))
    return Reading(
        reference=reference,
        kernels=kernels,
        weight=chosen.name,
        horizons=horizons,
        announced=tuple(distinct(runs["announced"].drop_nulls())),
        validation=envelopes.validation,
        transform=str(envelopes.scale),
        goals=goals,
        tolerance=tolerance,
        weighting=weighting,
        tier_two=descriptive,
        instance_set=instance_set or decide_instance_set(envelopes.rows, tier_two=descriptive),
        coverage=coverage or count_coverage(runs, reference.unreferenced),
        time_unit=_time_unit(runs),
        time_scale=time_scale_of(runs),
        statistics=statistics,
        code=code_digests((*kernels, *statistics, chosen.name)),
        weight_error=weight_error(chosen, horizons),
        origins=reading_origins(runs),
    )


def count_coverage(runs: pl.DataFrame, unreferenced: Sequence[str] = ()) -> Coverage:
    """Count the existing runs, for a campaign without a plan."""
    ended = count_words(runs, "status", [status.value for status in RunStatus])
    return Coverage(
        runs=runs.height,
        empty=int((runs["steps"] == 0).sum()),
        failed=sum(ended[status] for status in FAILED),
        unknown=ended[RunStatus.UNKNOWN],
        unreferenced=count_unreferenced(runs, unreferenced),
    )


def count_unreferenced(runs: pl.DataFrame, unreferenced: Sequence[str]) -> int:
    """Count the runs on instances without a reference, which no run solved."""
    return int(runs["instance"].is_in(list(unreferenced)).sum()) if unreferenced else 0


def simplified_models(runs: pl.DataFrame, exact: Collection[str] = ()) -> dict[str, str]:
    """Return the arms whose runs record a simplified model, with the model; arms that are `exact` are left out.

    >>> simplified_models(pl.DataFrame({"arm": ["a", "b"], "simplified_model": ["mean travel times", None]}))
    {'a': 'mean travel times'}
    """
    if "simplified_model" not in runs.columns:
        return {}
    rows = runs.select("arm", "simplified_model").drop_nulls().unique().sort("arm", "simplified_model").iter_rows()
    found: dict[str, list[str]] = {}
    for arm, model in rows:
        if model != EXACT_MODEL and arm not in exact:
            found.setdefault(arm, []).append(model)
    return {arm: " and ".join(models) for arm, models in found.items()}


def descriptive_arms(runs: pl.DataFrame, named: Sequence[str] = (), *, exact: Collection[str] = ()) -> tuple[str, ...]:
    """Return the arms of tier 2, which are described and never compared: those named, and those marked in the runs.

    The runs mark an arm by its tier, or by the simplified model that it solves unless the arm is `exact`.

    >>> runs = pl.DataFrame({"arm": ["a", "b", "c"], "tier": [1, 2, 1]})
    >>> descriptive_arms(runs, ["c"])
    ('b', 'c')
    """
    simplified = simplified_models(runs, exact)
    if not named and not simplified and "tier" not in runs.columns:
        return ()
    arms = sorted(runs["arm"].unique().to_list())
    for name in named:
        if name not in arms:
            raise UsageError(f"tier 2: {name!r} matches no arm", hint=meant(name, arms, show=True))
    marked = {*named, *simplified}
    if "tier" in runs.columns:
        marked |= set(runs.filter(pl.col("tier").cast(pl.Int64, strict=False) > 1)["arm"].to_list())
    return tuple(arm for arm in arms if arm in marked)


def _time_unit(runs: pl.DataFrame) -> str:
    """Return the unit of the horizons: seconds, unless every run counts evaluations."""
    counted = "clock" in runs.columns and runs["clock"].drop_nulls().unique().to_list() == ["evaluations"]
    return "evaluations" if counted else "s"
