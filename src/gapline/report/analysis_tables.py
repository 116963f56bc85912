"""The tables of `gapline analyse` and `gapline compare` on a terminal."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.analysis.analyse import Analysis
from gapline.analysis.comparison import Comparison
from gapline.report.terminal import number, percent, print_table

_MOST_SWAPS = 3


def print_analysis(analysis: Analysis) -> None:
    """Print every table, the question it answers above it."""
    part, drawn = analysis.sensitivity, analysis.statistics
    _frame("Health: what was captured and what was left out", part.health.frame)
    if part.health.reasons.height:
        _frame("Rejected, by reason", part.health.reasons, text=2)
    for name, ladder in part.ladders.items():
        _frame(f"Health along {name}", ladder.frame, text=2)
    missing = part.completeness.filter(pl.col("missing") > 0)
    if missing.height:
        _frame("Cells that other arms have", missing, text=2)
    print_metrics(analysis)
    _frame(
        f"References: {part.references.before} against {part.references.after}",
        part.references.shift,
        text=2,
        caption=f"{part.references.changed} of {part.references.instances} reference values differ; "
        f"{len(part.references.reversals)} panel orderings reverse",
    )
    similar = part.complementarity
    _frame(
        "Complementarity",
        similar.contrasts,
        text=3,
        caption=f"{similar.contrasts.height} of {similar.pairs.height} within-panel pairs: similar scores, different "
        f"ends or attainment; absolute differences, "
        f"{similar.kernel} score, goal {similar.goal:g}, against {similar.reference}; counts with halved and doubled "
        f"thresholds: {_range(similar.grid)}",
    )
    print_robustness(analysis)
    _frame("Means with their uncertainty", drawn.intervals.frame, caption=drawn.intervals.caption())
    _frame("Contrasts", drawn.contrasts.frame, text=2, caption=drawn.contrasts.caption())
    _frame("Ranking", drawn.ranking.frame, text=2, caption=drawn.ranking.caption())
    _frame("Classical neighbours", part.neighbours)
    power = part.power.frame
    if power.height:
        _frame("Instances that would show a difference", _wide_power(power), text=2, caption=part.power.caption())


def print_metrics(analysis: Analysis) -> None:
    """Print the pooled scores under every kernel and reference, and what reverses."""
    part = analysis.sensitivity
    names = part.metrics.pooled["reference"].unique(maintain_order=True).to_list()
    for name in names:
        chosen = part.metrics.pooled.filter(pl.col("reference") == name)
        wide = chosen.pivot("kernel", index=["arm", "tier"], values="score")
        outside = chosen.filter("out_of_envelope")["kernel"].unique().sort().to_list()
        label = part.labels[name]
        caption = f"panel-equal means, {label.policy}, {label.digest[:19]}…"
        if outside:
            caption += f"; out of its envelope, not ranked: {', '.join(outside)}"
        _frame(f"Scores against {name}", wide, text=1, caption=caption)
    _frame("Saturated runs", part.metrics.saturated, text=2)
    _frame("Signs of run scores", part.metrics.signs, text=2)
    found = part.metrics.reversals
    rows = [
        (r.panel, r.a, r.b, f"{r.before.kernel} against {r.before.reference}",
         f"{r.after.kernel} against {r.after.reference}", "out of its envelope" if r.out_of_envelope else "")
        for r in found
    ]  # fmt: skip
    counted = sum(not r.out_of_envelope for r in found)
    print_table(
        "Panel orderings that reverse",
        ["panel", "a", "b", "from", "to", "mark"],
        rows,
        text_columns=6,
        caption=f"{counted} inside the envelopes, all readings; {part.metrics.pairs} non-tied tier-1 orderings in each",
    )


def print_robustness(analysis: Analysis) -> None:
    """Print how far each contrast depends on the choices."""
    part = analysis.sensitivity
    rows = [
        (row["a"], row["b"], row["text"], percent(row["share"], digits=0)) for row in part.robustness.summary.to_dicts()
    ]
    swaps = [
        (a, b, f"{swap.horizon:.6g}", swap.before, swap.after)
        for (a, b), found in part.horizon.swaps.items()
        for swap in found[:_MOST_SWAPS]
    ]
    left_out = f"left out: {'; '.join(part.robustness.left_out)}" if part.robustness.left_out else ""
    print_table("Robustness", ["a", "b", "verdict", "holds"], rows, text_columns=3, caption=left_out)
    if swaps:
        unit = "shares of each run's own horizon" if part.horizon.relative else "seconds"
        header = ["a", "b", "horizon", "better before", "better after"]
        caption = f"exact, in {unit}; the first {_MOST_SWAPS} of a pair"
        print_table("Horizons at which two arms swap", header, swaps, text_columns=2, caption=caption)


def print_comparison(comparison: Comparison) -> None:
    """Print the verdict and the panels; a differing machine is flagged on every line."""
    flag = "  [machines differ]" if comparison.machine_differs else ""
    header = ["panel", "instances", "first", "second", "difference", "low", "high", "wins", "ties", "losses"]
    rows = []
    for row in comparison.frame.to_dicts():
        numbers = [number(row[name]) for name in ("first", "second", "difference", "low", "high")]
        counts = [str(row[name]) for name in ("wins", "ties", "losses")]
        rows.append([f"{row['panel']}{flag}", str(row["instances"]), *numbers, *counts])
    whole = [number(value) for value in (*comparison.means, comparison.difference, comparison.low, comparison.high)]
    totals = [str(int(comparison.frame[name].sum())) for name in ("wins", "ties", "losses")]
    rows.append([f"all{flag}", str(comparison.instances), *whole, *totals])
    print_table(f"first: {comparison.first}   second: {comparison.second}", header, rows, caption=comparison.caption())


def verdict_line(comparison: Comparison) -> str:
    """Word the verdict in one line.

    The numbers are score units: a relative percentage would not survive a mean near zero.
    """
    flag = " [machines differ]" if comparison.machine_differs else ""
    if comparison.low is None or comparison.high is None:
        return f"{comparison.second}: {comparison.verdict} ({comparison.reason}){flag}"
    level = f"{comparison.choices['level']:.0%}"
    return (
        f"{comparison.second}: {comparison.verdict}: {comparison.difference:+.5f} "
        f"({level} interval {comparison.low:+.5f} to {comparison.high:+.5f}) against {comparison.first}{flag}"
    )


def _frame(title: str, frame: pl.DataFrame, *, text: int = 1, caption: str = "") -> None:
    # A column of reasons says something only where something is missing.
    shown = frame.drop(
        [name for name in frame.columns if name == "reason" and frame[name].null_count() == frame.height]
    )
    rows = [[_cell(value) for value in row] for row in shown.iter_rows()]
    print_table(title, shown.columns, rows, text_columns=text, caption=caption)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _range(grid: pl.DataFrame) -> str:
    counts: Sequence[int] = grid["count"].to_list()
    return f"{min(counts)} to {max(counts)}"


def _wide_power(power: pl.DataFrame) -> pl.DataFrame:
    named = power.with_columns(name=pl.format("{} seeds", "seeds"))
    return named.pivot("name", index=["a", "b", "delta"], values="instances")
