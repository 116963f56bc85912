"""`write_paper`: the paper's figures and computable tables in one directory."""

from pathlib import Path
from typing import Any

from gapline.contract.version import VERSION
from gapline.files.atomic_write import check_directory
from gapline.report.analysis_tables import study_tables
from gapline.report.canvas import Canvas
from gapline.report.drawing import FILE_FORMATS
from gapline.report.facts import heading, make_statements
from gapline.report.figures.sweeps import cutoff_figure, draw_cutoffs
from gapline.report.paper.examples import companion_figure, draw_companion, draw_worked, worked_figure, worked_table
from gapline.report.paper.log_weights import draw_early, draw_end
from gapline.report.paper.scale import draw_scale, draw_shapes, landmark_table, scale_figure, shape_figure
from gapline.report.paper.sensitivity import SYNTHETIC, draw_regimes, draw_sensitivity, regime_figure, synthetic_study
from gapline.report.write import for_report, write_figures, write_tables
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse

# The tables of the paper that need a campaign; those of design and ladders need a contract that declares them.
OF_A_STUDY = (
    "design", "health", "ladder-validity", "ladder-means", "pooled", "saturation", "signs", "ratios", "kernel-ratios",
    "pairs", "grid", "cutoffs", "transforms",
)  # fmt: skip


def paper_figures(analysis: Analysis, *, source: str) -> dict[str, Any]:
    """Draw the paper's figures; those that need a campaign show the study, and their captions name it."""
    regimes = regime_figure(analysis.study, source=source, envelopes=analysis.main)
    return {
        "scale-conversion": draw_scale(scale_figure()),
        "gap-shapes": draw_shapes(shape_figure()),
        "worked-example": draw_worked(worked_figure()),
        "two-regime": draw_regimes(regimes),
        "companion": draw_companion(companion_figure()),
        "metric-sensitivity": draw_sensitivity(analysis, source=source),
        "early-log": draw_early(),
        "end-log": draw_end(),
    }


def check_paper_folder(folder: Path) -> None:
    """Refuse a folder into which the paper cannot be written."""
    for name in ("figures", "tables"):
        check_directory(folder / name)


def write_paper(
    directory: str | Path,
    study: Study | None = None,
    /,
    *,
    formats: tuple[str, ...] = FILE_FORMATS,
    canvas: Canvas | None = None,
) -> list[Path]:
    """Write the figures, and the tables of the worked example and the scale landmarks.

    With a study, its figures show it, and the tables of its design, health, ladders, pooled metrics, saturation, signs,
    ratios, pairs and thresholds are written too; without one they show a small synthetic campaign.
    """
    folder = Path(directory)
    check_paper_folder(folder)
    source = SYNTHETIC if study is None else study.title
    shown = for_report(synthetic_study() if study is None else study)
    analysis = analyse(shown)
    figures = paper_figures(analysis, source=source)
    # The paper shows its weights on its worked example; for a study, the question is the cutoff.
    if study is not None:
        label, unit = shown.references[0].label, shown.reading.time_unit
        figures["cutoff-sweep"] = draw_cutoffs(cutoff_figure(analysis.cutoffs, label, unit=unit))
    head = heading(shown) if study is not None else [f"gapline {VERSION}"]
    written, _ = write_figures(figures, folder / "figures", formats, canvas=canvas or Canvas(), provenance=head)
    written += write_tables([worked_table(), landmark_table()], folder / "tables", [f"gapline {VERSION}"])
    # Tables of the synthetic campaign would look like real results.
    if study is not None:
        tables = study_tables(shown, analysis, make_statements(shown))
        chosen = [table for table in tables if table.name in OF_A_STUDY]
        written += write_tables(chosen, folder / "tables", head)
    return written
