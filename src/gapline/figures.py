"""Figures for a notebook: each function returns an Altair chart that composes with others.

    from gapline import figures

    figures.mean_convergence(envelopes, snapshot) & figures.attainment(envelopes, snapshot)

The charts carry no configuration of their own, so they can be layered, joined and facetted; `style` gives one, or the
whole that was composed, the look of the report, and `write` saves it as SVG, PNG or PDF.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapline.analysis.complementarity import Complementarity
from gapline.analysis.health import Health
from gapline.analysis.horizon_sweep import HorizonSweep
from gapline.analysis.metric_sensitivity import MetricSensitivity
from gapline.analysis.neighbours.profiles import Profiles
from gapline.analysis.reference_sensitivity import ReferenceSensitivity
from gapline.envelope.build import Envelopes
from gapline.model.reading import ReferenceLabel
from gapline.model.tables import RunKey
from gapline.reference.snapshot import Snapshot
from gapline.report.curve_figure import attainment_figure, draw_curves, mean_curve_figure
from gapline.report.drawing import style, write_drawing
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.contrasts import contrast_figure, draw_contrasts
from gapline.report.figures.final_gaps import final_gap_figure
from gapline.report.figures.gap_area import area_figure, draw_area
from gapline.report.figures.health import draw_health, health_figure
from gapline.report.figures.horizon_sweep import draw_sweep, sweep_figure
from gapline.report.figures.intervals import draw_intervals, interval_figure
from gapline.report.figures.metric_slopes import draw_slopes, slope_figure
from gapline.report.figures.profile import profile_figure
from gapline.report.figures.reference_shift import draw_shift, shift_figure
from gapline.report.order import order_arms
from gapline.report.time_axis import log_start
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.curve import mean_curve
from gapline.scoring.scores import Scores
from gapline.summary.bands import curve_bands, drawn_bands
from gapline.summary.bootstrap import ArmIntervals
from gapline.summary.contrasts import Contrasts
from gapline.summary.means import Summary

__all__ = [
    "attainment", "complementarity", "contrasts", "final_gaps", "gap_area", "health", "horizon_sweep",
    "mean_convergence", "metric_sensitivity", "performance_profile", "reference_shift", "score_intervals", "style",
    "write",
]  # fmt: skip


def mean_convergence(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    kernel: str = "squeezed",
    by: str | Sequence[str] = "arm",
    weighting: str = "panel",
    relative: bool = False,
    bands: bool = False,
    log_time: bool = False,
    policy: str | None = None,
) -> Any:
    """Draw the mean gap over time, as steps; `bands` adds pointwise 95 % bands over instances."""
    choices: dict[str, Any] = {"kernel": kernel, "by": by, "weighting": weighting, "relative": relative}
    band = drawn_bands(curve_bands(envelopes, snapshot, **choices)) if bands else None
    start = log_start(envelopes, relative=relative) if log_time else None
    return draw_curves(mean_curve_figure(mean_curve(envelopes, snapshot, policy=policy, **choices), band, start=start))


def attainment(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = (0.01,),
    by: str | Sequence[str] = "arm",
    weighting: str = "panel",
    relative: bool = False,
    log_time: bool = False,
    policy: str | None = None,
) -> Any:
    """Draw the share of runs that have reached a goal by each time."""
    curves = attainment_curve(
        envelopes, snapshot, goals=goals, by=by, weighting=weighting, relative=relative, policy=policy
    )
    end = 1.0 if relative else float(envelopes.runs["horizon"].to_numpy().max())
    start = log_start(envelopes, relative=relative) if log_time else None
    return draw_curves(attainment_figure(curves, end=end, start=start))


def final_gaps(scores: Scores, /, *, weighting: str = "panel") -> Any:
    """Draw the distribution of final raw gaps, empty runs in the denominator."""
    return draw_curves(final_gap_figure(scores, weighting=weighting))


def score_intervals(summary: Summary, intervals: ArmIntervals | None = None, /, *, tier_two: Sequence[str] = ()) -> Any:
    """Draw the mean score of every arm, with its interval; descriptive arms stand below the others."""
    return draw_intervals(interval_figure(summary, intervals, order_arms(summary, tier_two=tier_two)))


def contrasts(found: Contrasts, reference: ReferenceLabel, /) -> Any:
    """Draw the forest of paired differences."""
    return draw_contrasts(contrast_figure(found, reference))


def metric_sensitivity(found: MetricSensitivity, name: str, reference: ReferenceLabel, /) -> Any:
    """Draw the pooled scores under every kernel, against the reference that the analysis knows as `name`."""
    return draw_slopes(slope_figure(found, name, reference))


def reference_shift(
    found: ReferenceSensitivity, before: ReferenceLabel, after: ReferenceLabel, /, *, kernel: str = "squeezed"
) -> Any:
    """Draw what another reference does to the pooled scores."""
    return draw_shift(shift_figure(found, before, after, kernel=kernel))


def complementarity(found: Complementarity, scores: Scores, /) -> Any:
    """Draw the pairs of arms with similar scores and different attainment; `scores` need the goal of the screen."""
    return draw_segments(segment_figure(found, scores))


def health(found: Health, /, *, validation: str = "checker") -> Any:
    """Draw what was rejected, empty, late or crashed, per arm."""
    return draw_health(health_figure(found, validation=validation))


def horizon_sweep(sweep: HorizonSweep, reference: ReferenceLabel, /) -> Any:
    """Draw the mean score at every horizon, with the swaps of arms."""
    return draw_sweep(sweep_figure(sweep, reference))


def performance_profile(profiles: Profiles, reference: ReferenceLabel, /) -> Any:
    """Draw a performance or data profile."""
    return draw_curves(profile_figure(profiles, reference))


def gap_area(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    arm: str,
    instance: str,
    seed: int,
    kernel: str = "squeezed",
    policy: str | None = None,
) -> Any:
    """Draw the gap of one run with the signed area that is its score."""
    return draw_area(area_figure(envelopes, snapshot, RunKey(arm, instance, seed), kernel=kernel, policy=policy))


def write(chart: Any, path: str | Path, /) -> Path:
    """Save a chart in the look of the report; the name ends in .svg, .png or .pdf."""
    write_drawing(style(chart), Path(path))
    return Path(path)
