"""What the commands print on a terminal: the same tables as in a report, and the lines below them."""

from collections.abc import Sequence

import polars as pl

from gapline.analysis.analyse import Analysis
from gapline.analysis.comparison import Comparison
from gapline.analysis.readings import tier_one_arms
from gapline.errors import listing
from gapline.model.text import printable
from gapline.report.order import order_arms
from gapline.report.table import Table, frame_table
from gapline.report.tables.complementarity import pairs_table
from gapline.report.tables.contrasts import comparison_table, contrast_table
from gapline.report.tables.health import completeness_table, health_table, reason_table
from gapline.report.tables.means import arm_table, group_table, sentence
from gapline.report.tables.runs import run_table
from gapline.report.tables.sensitivity import (
    pooled_table,
    reversal_table,
    robustness_table,
    shift_table,
    sign_tables,
    swap_table,
)
from gapline.report.writers.terminal import print_table
from gapline.scoring.scores import Scores
from gapline.summary.means import Summary


def print_scores(scores: Scores, summary: Summary, /, *, tier_two: Sequence[str] = ()) -> None:
    """Print one reading: the arms, best first, or the groups that were asked for."""
    if summary.by != ("arm",):
        print_table(group_table(summary))
        return
    tier_one = tier_one_arms(scores.frame, tier_two=tier_two)
    descriptive = [arm for arm in summary.frame["arm"] if arm not in tier_one]
    order = order_arms(summary, tier_two=descriptive, beaten=int(scores.frame["beaten"].sum()))
    print_table(arm_table(summary, order))


def print_runs(scores: Scores, /) -> None:
    """Print one row per run."""
    print_table(run_table(scores))


def print_comparison(comparison: Comparison, /) -> None:
    """Print the panels of a comparison."""
    print_table(comparison_table(comparison))


def print_analysis(analysis: Analysis, /) -> None:
    """Print every table, the question it answers above it."""
    for table in analysis_tables(analysis):
        print_table(table)


def analysis_tables(analysis: Analysis, /) -> list[Table]:
    """Return the tables of `gapline analyse`, in the order of its questions."""
    part, drawn = analysis.sensitivity, analysis.statistics
    counts = part.health.frame
    empties = dict(counts.select("arm", "empty").iter_rows())
    tiers = part.metrics.pooled.select("arm", "tier").unique()
    descriptive = sorted(tiers.filter(pl.col("tier") > 1)["arm"].to_list())
    validation = "their sources"
    against = str(part.labels.get("analysis", part.complementarity.reference))
    tables = [health_table(part.health, validation=validation)]
    if part.health.reasons.height:
        tables.append(reason_table(part.health))
    tables += [
        health_table(ladder, validation=validation, name=f"health-{name}") for name, ladder in part.ladders.items()
    ]
    if part.completeness["missing"].sum():
        tables.append(completeness_table(part.completeness))
    tables += [pooled_table(part.metrics, part.labels, empties), *sign_tables(part.metrics)]
    tables += [reversal_table(part.metrics), shift_table(part.references)]
    tables += [
        pairs_table(part.complementarity, against=against, descriptive=descriptive),
        robustness_table(part.robustness),
    ]
    if any(part.horizon.swaps.values()):
        tables.append(swap_table(part.horizon))
    tables += [
        frame_table(
            "intervals", "Means with their uncertainty", drawn.intervals.frame, text=("arm", "reason"),
            notes=[f"{sentence(drawn.intervals.caption())[:-1]}; against {against}."],
        ),
        contrast_table(drawn.contrasts, against=against, empties=empties, descriptive=descriptive),
        frame_table(
            "ranking", "Ranking", drawn.ranking.frame,
            notes=[f"{sentence(drawn.ranking.caption())[:-1]}; against {against}."],
        ),
        frame_table("neighbours", "Classical neighbours", part.neighbours, notes=[f"Against {against}."]),
    ]  # fmt: skip
    if part.power.frame.height:
        tables.append(
            frame_table(
                "power", "Instances that would show a difference", _wide_power(part.power.frame), text=("a", "b"),
                notes=[sentence(part.power.caption())],
            )
        )  # fmt: skip
    return tables


def _wide_power(power: pl.DataFrame) -> pl.DataFrame:
    named = power.with_columns(name=pl.format("{} seeds", "seeds"))
    return named.pivot("name", index=["a", "b", "delta"], values="instances")


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {printable(note)}" for note in notes]


def unread_line(problems: Sequence[str], count: int) -> str:
    """Return one line on candidates that a reader could not use."""
    return f"{count:,} candidates could not be read: {listing(map(printable, problems), most=3)}"
