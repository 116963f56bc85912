"""`write_paper`: the paper's figures and computable tables in one directory."""

from pathlib import Path
from typing import Any

from gapline.envelope.build import build_envelopes
from gapline.model.version import VERSION
from gapline.paper.companion import companion_figure, draw_companion
from gapline.paper.log_weights import draw_early, draw_end, early_figure, end_figures
from gapline.paper.scale import draw_scale, draw_shapes, landmark_table, scale_figure, shape_figure
from gapline.paper.sensitivity import draw_sensitivity
from gapline.paper.synthetic import NAME, TIER_TWO, synthetic_campaign, synthetic_snapshot
from gapline.paper.two_regime import draw_regimes, regime_figure
from gapline.paper.worked_example import draw_worked, worked_figure, worked_table
from gapline.reference.policy import Policy, analysis_snapshot
from gapline.report.analyses import analyse_study
from gapline.report.drawing import FILE_FORMATS
from gapline.report.input import ReportInput, prepare_report
from gapline.report.statements import make_statements
from gapline.report.write import heading, study_tables, write_figures, write_tables

# The tables of the paper that need a campaign.
OF_A_STUDY = ("health", "pooled", "pairs", "grid")
SYNTHETIC = f"{NAME} made by gapline, no solver ran"


def synthetic_study() -> ReportInput:
    """Return the built-in campaign, read against its published values and against the analysis reference."""
    campaign, snapshot = synthetic_campaign(), synthetic_snapshot()
    envelopes = build_envelopes(campaign)
    folded = analysis_snapshot(snapshot, envelopes)
    return prepare_report(
        campaign, envelopes, [(snapshot, None), (folded, Policy.ANALYSIS.value)], title=NAME, draws=1000, band_draws=200
    )


def paper_figures(study: ReportInput, *, source: str, tier_two: tuple[str, ...] = ()) -> dict[str, Any]:
    """Draw the paper's figures; those that need a campaign show the study, and their captions say which."""
    analyses = analyse_study(study, tier_two=tier_two)
    return {
        "scale-conversion": draw_scale(scale_figure()),
        "gap-shapes": draw_shapes(shape_figure()),
        "worked-example": draw_worked(worked_figure()),
        "two-regime": draw_regimes(regime_figure(study, source=source)),
        "companion": draw_companion(companion_figure()),
        "metric-sensitivity": draw_sensitivity(study, analyses, source=source),
        "early-log": draw_early(early_figure()),
        "end-log": draw_end(*end_figures()),
    }


def write_paper(
    directory: str | Path,
    study: ReportInput | None = None,
    /,
    *,
    tier_two: tuple[str, ...] = (),
    formats: tuple[str, ...] = FILE_FORMATS,
) -> list[Path]:
    """Write the figures, and the tables of the worked example and the scale landmarks.

    With a study, its figures show it, and the tables of health, pooled metrics, pairs and thresholds are written too;
    without one they show a small campaign made by gapline itself.
    """
    folder = Path(directory)
    source = SYNTHETIC if study is None else study.title
    shown = synthetic_study() if study is None else study
    descriptive = TIER_TWO if study is None else tier_two
    written = write_figures(paper_figures(shown, source=source, tier_two=descriptive), folder / "figures", formats)
    written += write_tables([worked_table(), landmark_table()], folder / "tables", [f"gapline {VERSION}"])
    if study is not None:
        analyses = analyse_study(study, tier_two=descriptive)
        said = make_statements(study, tier_two=descriptive)
        tables = [table for table in study_tables(study, analyses, said) if table.name in OF_A_STUDY]
        written += write_tables(tables, folder / "tables", heading(study))
    return written
