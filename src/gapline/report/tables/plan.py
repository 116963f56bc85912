"""The table of `gapline plan`: what a larger campaign would need."""

from typing import Any

from gapline.report.numbers import DASH, count
from gapline.report.table import Column, Table, capital, one_part
from gapline.report.tables.means import sentence
from gapline.summary.power import PowerTable

# The largest number of instances that an interval names.
_TOLD = 10_000


def plan_table(plan: PowerTable, /) -> Table:
    """Return the instances, runs and hours that each difference takes; what cannot be said is a dash, with a note."""
    timed = plan.frame["hours"].null_count() < plan.frame.height
    columns = (
        *capital("a", "b", text=True), *capital("difference", "seeds", "instances"),
        Column(f"{plan.level:.0%} between"), Column("per panel", text=True),
        *capital("runs", *(["hours"] if timed else [])),
    )  # fmt: skip
    worth = (
        f"Between: where the true number may lie ({plan.level:.0%} interval of the pilot's variance); a pilot of few "
        "instances knows its own spread poorly."
    )
    reasons = dict.fromkeys(reason for reason in plan.frame["reason"] if reason is not None)
    return Table(
        name="plan",
        caption=f"Instances that show a difference in {plan.power:.0%} of campaigns",
        columns=columns,
        parts=one_part(_row(row, timed=timed) for row in plan.frame.iter_rows(named=True)),
        frame=plan.frame,
        notes=(sentence(plan.caption()), worth, *(f"{DASH}: {reason}" for reason in reasons)),
    )


def _row(row: dict[str, Any], *, timed: bool) -> list[str]:
    head = [row["a"], row["b"], f"{row['delta']:g}", count(row["seeds"])]
    if row["instances"] is None:
        return [*head, *[DASH] * (5 if timed else 4)]
    # Beyond that the pilot says nothing, and digits would pretend that it did.
    most = count(row["instances_high"]) if row["instances_high"] <= _TOLD else f"over {count(_TOLD)}"
    between = f"{count(row['instances_low'])} and {most}"
    hours = [f"{row['hours']:,.1f}" if row["hours"] >= 0.1 else f"{row['hours']:.2g}"] if timed else []
    return [*head, count(row["instances"]), between, row["per_panel"], count(row["runs"]), *hours]
