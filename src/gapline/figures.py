"""Figures for a notebook: each function returns an Altair chart that composes with others.

    from gapline import figures

    figures.mean_convergence(study) & figures.attainment(study)

They take a study (`gl.open_study`), its analysis (`gl.analyse`), or the objects that a figure is made from. `width` is
that of the whole figure in centimetres, or `column` or `page`; `title` is another title, or False for none. The charts
have no configuration of their own, so they can be layered, joined and facetted; `style` gives a chart, also a composed
one, the look of the report, and `write` saves it as SVG, PNG, PDF, or as a page (.html) that needs no network.

Unless the user chose a renderer of Altair, charts show themselves without a network: as a drawing, and as a
specification for front ends that draw it themselves.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapline.contract.argument_checks import expect, several
from gapline.contract.reading import ReferenceLabel
from gapline.contract.tables import RunKey
from gapline.contract.version import VERSION
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.measures.running_times import Profiles
from gapline.references.choice import References, as_snapshot
from gapline.references.snapshot import Snapshot
from gapline.report.canvas import FONT_SIZE, Canvas, parse_width
from gapline.report.curve_figure import attainment_figure, draw_curves, mean_curve_figure
from gapline.report.curves import study_attainment, study_mean_curve
from gapline.report.drawing import style, write_drawing
from gapline.report.facts import heading
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.distributions import final_gap_figure, profile_figure
from gapline.report.figures.gap_area import area_figure, draw_area
from gapline.report.figures.health import draw_health, health_figure
from gapline.report.figures.intervals import contrast_figure, draw_contrasts, draw_intervals, interval_figure
from gapline.report.figures.sensitivity import draw_shift, draw_slopes, shift_figure, slope_figure
from gapline.report.figures.sweeps import draw_sweep, sweep_figure
from gapline.report.notebook import notebook_chart, write_html
from gapline.report.order import order_arms
from gapline.scoring.attainment import AttainmentCurves, attainment_curve
from gapline.scoring.curve import MeanCurves, mean_curve
from gapline.scoring.moments import log_start
from gapline.scoring.scores import Scores
from gapline.statistics.bands import curve_bands, drawn_bands
from gapline.statistics.bootstrap import ArmIntervals
from gapline.statistics.contrasts import Contrasts
from gapline.statistics.means import Summary
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse
from gapline.study.complementarity import Complementarity
from gapline.study.health import Health
from gapline.study.horizon_sweep import HorizonSweep
from gapline.study.sensitivity import MetricSensitivity, ReferenceSensitivity

__all__ = [
    "attainment", "complementarity", "contrasts", "final_gaps", "gap_area", "health", "horizon_sweep",
    "mean_convergence", "metric_sensitivity", "performance_profile", "reference_shift", "score_intervals", "style",
    "write",
]  # fmt: skip

Width = str | float | None
Title = str | bool
Label = ReferenceLabel | None


def mean_convergence(
    of: Study | Envelopes | MeanCurves,
    references: References | None = None,
    /,
    *,
    kernel: str | None = None,
    by: str | Sequence[str] = "arm",
    weighting: str | None = None,
    relative: bool = False,
    bands: bool = False,
    log_time: bool = False,
    policy: str | None = None,
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the mean gap over time, as steps; `bands` adds pointwise 95 % bands over instances.

    Takes a study, envelopes with references, or curves from `gl.mean_curve`. `kernel`, `weighting` and `policy` are for
    envelopes; a study uses its declared choices.
    """
    what, keys = "mean_convergence", several(by)
    if isinstance(of, MeanCurves):
        _refuse(what, "MeanCurves", references=references, kernel=kernel, bands=bands, log_time=log_time)
        return notebook_chart(draw_curves(mean_curve_figure(of)), width, title)
    envelopes = _envelopes(of, what)
    start = log_start(envelopes, relative=relative) if log_time else None
    if isinstance(of, Study):
        _refuse(what, "Study", references=references, kernel=kernel, weighting=weighting, policy=policy)
        curves = study_mean_curve(of, by=keys, relative=relative)
        choices: dict[str, Any] = {"kernel": of.kernels[0], "weighting": of.weighting, "tolerance": of.tolerance}
        snapshot, arms = of.snapshot, of.arms
    else:
        snapshot, arms = _snapshot(references, what), ()
        choices = {"kernel": kernel or "squeezed", "weighting": weighting or "panel"}
        curves = mean_curve(envelopes, snapshot, policy=policy, by=keys, relative=relative, **choices)
    band = drawn_bands(curve_bands(envelopes, snapshot, by=keys, relative=relative, **choices)) if bands else None
    return notebook_chart(draw_curves(mean_curve_figure(curves, band, start=start), arms=arms), width, title)


def attainment(
    of: Study | Envelopes | AttainmentCurves,
    references: References | None = None,
    /,
    *,
    goals: float | Sequence[float] | None = None,
    by: str | Sequence[str] = "arm",
    weighting: str | None = None,
    relative: bool = False,
    log_time: bool = False,
    policy: str | None = None,
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the share of runs that have reached a goal by each time; takes the same objects as `mean_convergence`."""
    what, keys = "attainment", several(by)
    if isinstance(of, AttainmentCurves):
        _refuse(what, "AttainmentCurves", references=references, goals=goals, log_time=log_time)
        last = of.frame["time"].to_numpy().max(initial=0.0) if not of.relative else 1.0
        return notebook_chart(draw_curves(attainment_figure(of, end=float(last))), width, title)
    envelopes = _envelopes(of, what)
    if isinstance(of, Study):
        _refuse(what, "Study", references=references, goals=goals, weighting=weighting, policy=policy)
        curves, arms = study_attainment(of, by=keys, relative=relative), of.arms
    else:
        snapshot, wanted, arms = _snapshot(references, what), several([] if goals is None else goals) or [0.01], ()
        choices: dict[str, Any] = {"weighting": weighting or "panel", "relative": relative, "policy": policy}
        curves = attainment_curve(envelopes, snapshot, goals=wanted, by=keys, **choices)
    end = 1.0 if relative else float(envelopes.runs["horizon"].to_numpy().max())
    start = log_start(envelopes, relative=relative) if log_time else None
    return notebook_chart(draw_curves(attainment_figure(curves, end=end, start=start), arms=arms), width, title)


def final_gaps(of: Study | Scores, /, *, weighting: str | None = None, width: Width = None, title: Title = True) -> Any:
    """Draw the distribution of final raw gaps, with empty runs in the denominator."""
    scores = of.scores[0] if isinstance(of, Study) else expect(of, Scores, "final_gaps")
    declared, arms = (of.weighting, of.arms) if isinstance(of, Study) else ("panel", ())
    figure = final_gap_figure(scores, weighting=weighting or declared)
    return notebook_chart(draw_curves(figure, arms=arms), width, title)


def score_intervals(
    of: Study | Summary,
    intervals: ArmIntervals | None = None,
    /,
    *,
    tier_two: Sequence[str] = (),
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the mean score of every arm with its interval; descriptive arms are below the others."""
    summary = of.summary if isinstance(of, Study) else expect(of, Summary, "score_intervals")
    found = of.intervals if isinstance(of, Study) and intervals is None else intervals
    order = order_arms(summary, tier_two=tier_two)
    arms = of.arms if isinstance(of, Study) else ()
    return notebook_chart(draw_intervals(interval_figure(summary, found, order), arms=arms), width, title)


def contrasts(of: Study | Contrasts, reference: Label = None, /, *, width: Width = None, title: Title = True) -> Any:
    """Draw the forest of paired differences of a study, or of contrasts with the label of their reference."""
    descriptive: Sequence[str] = ()
    if isinstance(of, Study):
        if of.contrasts is None:
            raise UsageError(f"contrasts: expected a study with contrasts, got one without: {of.no_intervals}")
        reference, descriptive, of = of.scores[0].reference, of.tier_two, of.contrasts
    found = expect(of, Contrasts, "contrasts")
    figure = contrast_figure(found, _label(reference, "contrasts"), descriptive=descriptive)
    return notebook_chart(draw_contrasts(figure), width, title)


def metric_sensitivity(
    of: Study | Analysis | MetricSensitivity,
    name: str | None = None,
    reference: Label = None,
    /,
    *,
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the pooled scores under every kernel, against the reference called `name` in the analysis."""
    analysis = _analysis(of)
    if analysis is not None:
        names = list(analysis.labels)
        name, of, reference = name or names[0], analysis.metrics, analysis.labels[name or names[0]]
    found = expect(of, MetricSensitivity, "metric_sensitivity")
    figure = slope_figure(found, str(name), _label(reference, "metric_sensitivity"))
    return notebook_chart(draw_slopes(figure, arms=_arms(analysis)), width, title)


def reference_shift(
    of: Study | Analysis | ReferenceSensitivity,
    before: Label = None,
    after: Label = None,
    /,
    *,
    kernel: str = "squeezed",
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the effect of another reference on the pooled scores."""
    analysis = _analysis(of)
    if analysis is not None:
        labels = list(analysis.labels.values())
        of, before, after = analysis.references, labels[0], labels[-1]  # type: ignore[assignment]
    found = expect(of, ReferenceSensitivity, "reference_shift")
    ends = [_label(label, "reference_shift") for label in (before, after)]
    return notebook_chart(draw_shift(shift_figure(found, *ends, kernel=kernel)), width, title)


def complementarity(
    of: Study | Analysis | Complementarity, scores: Scores | None = None, /, *, width: Width = None, title: Title = True
) -> Any:
    """Draw the pairs of arms with similar scores and different attainment; `scores` need the goal of the screen."""
    analysis = _analysis(of)
    if analysis is not None:
        of, scores = analysis.complementarity, analysis.folded_scores
    found = expect(of, Complementarity, "complementarity")
    figure = segment_figure(found, expect(scores, Scores, "complementarity: scores"))
    return notebook_chart(draw_segments(figure, arms=_arms(analysis)), width, title)


def health(
    of: Study | Analysis | Health, /, *, validation: str = "checker", width: Width = None, title: Title = True
) -> Any:
    """Draw what was rejected, empty, late or crashed, per arm."""
    analysis = _analysis(of)
    checker = None
    if analysis is not None:
        of, validation, checker = analysis.health, analysis.study.envelopes.validation, analysis.study.checker
    figure = health_figure(expect(of, Health, "health"), validation=validation, checker=checker)
    return notebook_chart(draw_health(figure, arms=_arms(analysis)), width, title)


def horizon_sweep(
    of: Study | Analysis | HorizonSweep,
    reference: Label = None,
    /,
    *,
    log_time: bool = False,
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the mean score at every horizon, with the swaps of arms; only a study has logarithmic time."""
    analysis, start = _analysis(of), None
    if analysis is not None:
        study = analysis.study
        start = log_start(analysis.main, relative=study.relative) if log_time else None
        of, reference = analysis.horizon, study.scores[0].reference
    else:
        _refuse("horizon_sweep", "HorizonSweep", log_time=log_time)
    sweep = expect(of, HorizonSweep, "horizon_sweep")
    figure = sweep_figure(sweep, _label(reference, "horizon_sweep"), start=start)
    return notebook_chart(draw_sweep(figure, arms=_arms(analysis)), width, title)


def performance_profile(
    of: Study | Analysis | Profiles, reference: Label = None, /, *, width: Width = None, title: Title = True
) -> Any:
    """Draw a performance or data profile."""
    analysis = _analysis(of)
    if analysis is not None:
        of, reference = analysis.profile, analysis.study.scores[0].reference
    figure = profile_figure(expect(of, Profiles, "performance_profile"), _label(reference, "performance_profile"))
    return notebook_chart(draw_curves(figure, arms=_arms(analysis)), width, title)


def gap_area(
    of: Study | Envelopes,
    references: References | None = None,
    /,
    *,
    arm: str,
    instance: str,
    seed: int,
    kernel: str | None = None,
    policy: str | None = None,
    width: Width = None,
    title: Title = True,
) -> Any:
    """Draw the gap of one run with the signed area that is its score."""
    envelopes, run = _envelopes(of, "gap_area"), RunKey(arm, instance, seed)
    if isinstance(of, Study):
        _refuse("gap_area", "Study", references=references, policy=policy)
        kernel, references, policy = kernel or of.kernels[0], of.snapshot, of.references[0].policy
    snapshot = _snapshot(references, "gap_area")
    figure = area_figure(envelopes, snapshot, run, kernel=kernel or "squeezed", policy=policy)
    return notebook_chart(draw_area(figure), width, title)


def write(
    chart: Any,
    path: str | Path,
    /,
    *,
    width: Width = None,
    title: bool = True,
    caption: bool = True,
    font_size: float = FONT_SIZE,
    grey: bool = False,
    study: Study | None = None,
) -> Path:
    """Save a chart in the look of the report; the name ends in .svg, .png, .pdf or .html.

    The file's metadata contain the digests of a `study`.
    """
    canvas = Canvas(parse_width(width), title=title, caption=caption, font_size=font_size, grey=grey)
    target = Path(path)
    if target.suffix.lower() == ".html":
        write_html(chart, target)
        return target
    provenance = [f"gapline {VERSION}"] if study is None else heading(expect(study, Study, "write"))
    write_drawing(style(chart), target, canvas=canvas, provenance=provenance)
    return target


def _envelopes(of: Any, what: str) -> Envelopes:
    return of.envelopes if isinstance(of, Study) else expect(of, Envelopes, what)


def _analysis(of: Any) -> Analysis | None:
    return of if isinstance(of, Analysis) else analyse(of) if isinstance(of, Study) else None


def _arms(analysis: Analysis | None) -> Sequence[str]:
    return () if analysis is None else analysis.study.arms


def _label(given: Label, what: str) -> ReferenceLabel:
    return expect(given, ReferenceLabel, f"{what}: reference")


def _snapshot(given: References | None, what: str) -> Snapshot:
    if given is None:
        raise UsageError(f"{what}: expected references, got nothing", hint="values by instance, a file or a Snapshot")
    return as_snapshot(given)


def _refuse(what: str, kind: str, /, **given: Any) -> None:
    """Refuse choices that are already made, rather than ignore them."""
    if named := [name for name, value in given.items() if value not in (None, False)]:
        raise UsageError(f"{what}: expected no {named[0]} with {kind}, which has its own", hint="leave it out")
