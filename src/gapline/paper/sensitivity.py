"""Figure metric-sensitivity: kernels, references and complementary pairs of one study, one panel per question."""

from typing import Any

from gapline.analysis.analyse import Analysis
from gapline.report.drawing import load_altair, titled
from gapline.report.figures.complementarity import draw_segments, segment_figure
from gapline.report.figures.metric_slopes import draw_slopes, slope_figure
from gapline.report.figures.reference_shift import draw_shift, shift_figure


def draw_sensitivity(analysis: Analysis, *, source: str) -> Any:
    """Draw the three panels one above the other; that of the references only where there are two."""
    alt = load_altair()
    labels = list(analysis.labels.items())
    # The pooled table of the paper is the post-fold one.
    name, folded = next(((name, label) for name, label in labels if label.policy == "analysis"), labels[-1])
    panels = [draw_slopes(slope_figure(analysis.metrics, name, folded), height=240)]
    if analysis.references is not None:
        kernel = analysis.metrics.pooled["kernel"][0]
        shift = shift_figure(analysis.references, labels[0][1], labels[-1][1], kernel=kernel)
        panels.append(draw_shift(shift))
    panels.append(draw_segments(segment_figure(analysis.complementarity, analysis.folded_scores)))
    # Arms, references and ends of pairs are coloured by other scales.
    chart = alt.vconcat(*panels, spacing=34).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
    return titled(chart, "Sensitivity to kernel, reference and companion view", source, width=660)
