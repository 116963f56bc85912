"""All figures of a study, by the name of their file."""

from dataclasses import replace
from typing import Any

from gapline.contract.tables import RUN_KEY, RunKey
from gapline.report.curve_figure import CurveFigure, attainment_figure, draw_curves, mean_curve_figure
from gapline.report.curves import study_attainment, study_mean_curve
from gapline.report.figures.attainment_difference import difference_figure, draw_difference
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.critical_difference import draw_ranks, rank_figure
from gapline.report.figures.distributions import final_gap_figure, profile_figure
from gapline.report.figures.gap_area import area_figure, draw_area
from gapline.report.figures.health import draw_health, health_figure
from gapline.report.figures.intervals import (
    contrast_figure,
    draw_contrasts,
    draw_intervals,
    draw_ratings,
    interval_figure,
    rating_figure,
)
from gapline.report.figures.replication import draw_replication, replication_figure
from gapline.report.figures.sensitivity import draw_shift, draw_slopes, shift_figure, slope_figure
from gapline.report.figures.sweeps import cutoff_figure, draw_cutoffs, draw_sweep, sweep_figure
from gapline.report.order import ArmOrder
from gapline.report.replication import shown_replication
from gapline.report.tables.contrasts import compared_rows
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.moments import log_start
from gapline.study import Study
from gapline.study.analyse import Analysis


def study_figures(study: Study, analysis: Analysis, order: ArmOrder, /, *, log_time: bool = False) -> dict[str, Any]:
    """Draw every figure for which the study has data.

    The area of one run stays on linear time, where the area is the score.
    """
    # Separate ladders have their own tables: a curve for each of their steps would hide the arms.
    main = analysis.main_study
    start = log_start(main.envelopes, relative=study.relative) if log_time else None
    entry, label = study.references[0], study.scores[0].reference
    kernel = study.kernels[0]
    # Raw is undefined before the first incumbent, so it has no curve from time 0, no sweep and no area.
    bounded = parse_kernel(kernel).before is not None
    arms: dict[str, Any] = {"arms": study.arms}
    looks = arms | {"best": order.arms}
    charts: dict[str, Any] = {}

    def curves(figure: CurveFigure) -> Any:
        """Draw the curves of the main campaign; the caption names the arms that are shown separately."""
        whole = replace(figure, caption=figure.caption + analysis.apart_words)
        return draw_curves(whole, best=order.arms, arms=main.arms)

    if bounded:
        mean = study_mean_curve(main, by=["arm"], relative=study.relative)
        charts["mean-convergence"] = curves(mean_curve_figure(mean, main.mean_bands, main.band_words, start=start))
    attained = study_attainment(main, by=["arm"], relative=study.relative)
    end = 1.0 if study.relative else float(main.envelopes.runs["horizon"].to_numpy().max())
    bands: dict[str, Any] = {"bands": main.attainment_bands, "band_words": main.band_words}
    charts["attainment"] = curves(attainment_figure(attained, end=end, start=start, **bands))
    charts["final-gaps"] = curves(final_gap_figure(main.scores[0], weighting=study.weighting))
    intervals = interval_figure(study.summary, study.intervals, order, why_none=study.no_intervals)
    charts["score-intervals"] = draw_intervals(intervals, **arms)
    if study.contrasts is not None and compared_rows(study.contrasts, order.descriptive).height:
        charts["contrasts"] = draw_contrasts(contrast_figure(study.contrasts, label, descriptive=order.descriptive))
    found = shown_replication(study)
    if found is not None and any(one.new.difference is not None for one in found.conclusions):
        charts["replication"] = draw_replication(replication_figure(found))
    charts["metric-sensitivity"] = draw_slopes(
        slope_figure(analysis.metrics, next(iter(analysis.labels)), label), **looks
    )
    if analysis.references is not None:
        after, shown = list(analysis.labels.values())[-1], kernel if bounded else "squeezed"
        shift = shift_figure(analysis.references, label, after, kernel=shown, descriptive=order.descriptive)
        charts["reference-shift"] = draw_shift(shift)
    charts["complementarity"] = draw_segments(segment_figure(analysis.complementarity, analysis.folded_scores), **arms)
    health = health_figure(analysis.health, validation=study.envelopes.validation, checker=study.checker)
    charts["health"] = draw_health(health, **looks)
    if bounded:
        sweep = sweep_figure(analysis.horizon, label, descriptive=order.descriptive, start=start)
        charts["horizon-sweep"] = draw_sweep(sweep, **looks)
        cutoffs = cutoff_figure(analysis.cutoffs, label, unit=study.reading.time_unit)
        charts["cutoff-sweep"] = draw_cutoffs(cutoffs, **looks)
    charts["performance-profile"] = draw_curves(profile_figure(analysis.profile, label), **looks)
    if analysis.ranks is not None and analysis.ranks.friedman is not None:
        charts["critical-difference"] = draw_ranks(rank_figure(analysis.ranks))
    if analysis.ratings is not None and analysis.ratings.frame["rating"].count():
        charts["ratings"] = draw_ratings(rating_figure(analysis.ratings), **looks)
    for number, pair in enumerate(analysis.attainment_differences, 1):
        name = "attainment-difference" + (f"-{number}" if number > 1 else "")
        charts[name] = draw_difference(difference_figure(pair, replace(study.reading, weighting=None).line()), **arms)
    if bounded:
        area = area_figure(study.envelopes, entry.snapshot, example_run(study), kernel=kernel, policy=entry.policy)
        charts["gap-area"] = draw_area(area)
    return charts


def example_run(study: Study) -> RunKey:
    """Choose the run to draw alone: the lowest of those that end below their reference, or else the median score."""
    order = list(RUN_KEY)
    frame = study.scores[0].frame
    below = frame.filter("beaten").sort("final_gap", *order)
    ranked = frame.sort(study.kernels[0], *order, nulls_last=True)
    chosen = below.row(0, named=True) if below.height else ranked.row(ranked.height // 2, named=True)
    return RunKey(*(chosen[name] for name in order))
