"""What the commands print on a terminal: the same tables as in a report, and the lines below them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from gapline.model.tables import RUN_KEY, RunKey
from gapline.model.text import printable
from gapline.reference.alarm import negative_notes
from gapline.report.order import order_arms
from gapline.report.table import Table, frame_table
from gapline.report.tables.means import arm_table, group_table, sentence
from gapline.report.tables.runs import run_table
from gapline.report.writers.terminal import print_table
from gapline.scoring.scores import Scores
from gapline.summary.means import Summary

if TYPE_CHECKING:
    # Whoever prints scores does without all that is in an analysis.
    from gapline.analysis.analyse import Analysis
    from gapline.analysis.comparison import Comparison


def print_scores(scores: Scores, summary: Summary, /) -> None:
    """Print one reading: the arms, best first, or the groups that were asked for."""
    if summary.by != ("arm",):
        print_table(group_table(summary))
        return
    order = order_arms(summary, tier_two=summary.reading.tier_two, beaten=int(scores.frame["beaten"].sum()))
    print_table(arm_table(summary, order))


def print_runs(scores: Scores, /) -> None:
    """Print one row per run."""
    print_table(run_table(scores))


def print_comparison(comparison: "Comparison", /) -> None:
    """Print the panels of a comparison."""
    from gapline.report.tables.contrasts import comparison_table

    print_table(comparison_table(comparison))


def print_analysis(analysis: "Analysis", /) -> None:
    """Print every table, the question it answers above it."""
    for table in analysis_tables(analysis):
        print_table(table)


def analysis_tables(analysis: "Analysis", /) -> list[Table]:
    """Return the tables of `gapline analyse`, in the order of its questions; each says what it is against."""
    from gapline.report.tables import sensitivity
    from gapline.report.tables.complementarity import pairs_table
    from gapline.report.tables.contrasts import contrast_table
    from gapline.report.tables.design import design_tables
    from gapline.report.tables.health import completeness_table, health_table, reason_table
    from gapline.report.tables.kernels import kernel_tables
    from gapline.report.tables.ladders import ladder_tables
    from gapline.report.tables.neighbours import neighbour_tables
    from gapline.report.tables.transforms import transform_table

    study = analysis.study
    empties = dict(analysis.health.frame.select("arm", "empty").iter_rows())
    descriptive = study.tier_two
    declared, folded = study.reading.line(), str(study.folded.label)
    who: dict[str, Any] = {"validation": study.envelopes.validation, "checker": study.checker}
    tables = design_tables(analysis)
    tables.append(health_table(analysis.main_health, **who, over=analysis.main_words))
    if analysis.health.reasons.height:
        tables.append(reason_table(analysis.health))
    tables += ladder_tables(analysis.ladders.values())
    # Without a gap in the plan the table would only repeat the number of runs.
    if not (study.cells["state"] == "done").all():
        tables.append(completeness_table(analysis.completeness, planned=study.contract is not None))
    tables += [
        sensitivity.pooled_table(analysis.metrics, analysis.labels, empties, over=analysis.main_words),
        *kernel_tables(analysis.metrics, analysis.labels, over=analysis.main_words),
        sensitivity.reversal_table(analysis.metrics),
    ]
    if analysis.references is not None:
        tables.append(sensitivity.shift_table(analysis.references))
    if analysis.transforms is not None:
        tables.append(transform_table(analysis.transforms, against=str(study.references[0].label)))
    tables += [
        pairs_table(analysis.complementarity, against=folded, descriptive=descriptive),
        sensitivity.robustness_table(analysis.robustness, baseline=declared),
    ]
    if any(analysis.horizon.swaps.values()):
        tables.append(sensitivity.swap_table(analysis.horizon, against=str(study.references[0].label)))
    tables.append(analysis_cutoff_table(analysis))
    # All three come from the same bootstrap: where there is none, none of them exists.
    if study.intervals is not None and study.contrasts is not None and study.ranking is not None:
        tables += [
            frame_table(
                "intervals", "Means with their uncertainty", study.intervals.frame, text=("arm", "reason"),
                notes=[sentence(study.intervals.caption())],
            ),
            contrast_table(study.contrasts, empties=empties, descriptive=descriptive),
            frame_table("ranking", "Ranking", study.ranking.frame, notes=[sentence(study.ranking.caption())]),
        ]  # fmt: skip
    tables += neighbour_tables(analysis)
    if analysis.power.frame.height:
        tables.append(
            frame_table(
                "power", "Instances that would show a difference", _wide_power(analysis.power.frame), text=("a", "b"),
                notes=[sentence(analysis.power.caption())],
            )
        )  # fmt: skip
    return tables


def analysis_cutoff_table(analysis: "Analysis", /) -> Table:
    """Return the scores over the cutoff of logarithmic weights, against the declared reference."""
    from gapline.report.tables.cutoffs import cutoff_table

    reading = analysis.study.reading
    return cutoff_table(
        analysis.cutoffs,
        against=str(reading.reference),
        descriptive=reading.tier_two,
        unit=reading.time_unit,
    )


def _wide_power(power: pl.DataFrame) -> pl.DataFrame:
    named = power.with_columns(name=pl.format("{} seeds", "seeds"))
    return named.pivot("name", index=["a", "b", "delta"], values="instances")


def negative_lines(scores: Scores, /) -> list[str]:
    """List the runs that score below zero by more than the tolerance, with what that may mean."""
    kernel = scores.kernels[0]
    # A run that equals its reference may score below zero by rounding, here or in the print of its source.
    below = scores.frame.filter(pl.col("beaten") & (pl.col(kernel) < -scores.reading.tolerance))
    return negative_notes([(str(RunKey(*row[:3])), row[3]) for row in below.select(*RUN_KEY, kernel).iter_rows()])


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {printable(note)}" for note in notes]
