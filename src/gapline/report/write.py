"""`write_report`: all outputs for readers and for papers, in one directory."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gapline.campaign.store import file_digest
from gapline.contract.argument_checks import expect
from gapline.contract.layout import RESULTS_FILE
from gapline.contract.progress import doing
from gapline.contract.version import VERSION
from gapline.errors import UsageError
from gapline.files.atomic_write import check_directory, refuse_no_file
from gapline.files.open_file import read_regular
from gapline.process.machine import package_version
from gapline.report.analysis_tables import study_tables
from gapline.report.canvas import Canvas
from gapline.report.drawing import FILE_FORMATS, style, write_drawing, write_file
from gapline.report.facts import Statements, heading, make_statements, study_notes
from gapline.report.figures.study import study_figures
from gapline.report.macros import study_macros
from gapline.report.order import order_arms
from gapline.report.page.build import write_page
from gapline.report.page.seal import vega_bundle
from gapline.report.results import SCHEMA
from gapline.report.statements.methods import methods_clauses, methods_latex, methods_markdown
from gapline.report.table import Table, shortened
from gapline.report.tables.contrasts import compared_rows
from gapline.report.tables.health import run_frame
from gapline.report.tables.means import score_document
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import table_caption, to_latex
from gapline.report.writers.latex_text import caption_macros, macro_file
from gapline.report.writers.markdown import to_markdown
from gapline.scoring.kernels import PAPER_KERNELS
from gapline.statistics.means import summarise
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse

PAGE = "report.html"
TEXTS = ("macros.tex", "methods.md", "methods.tex")
# The kernels that a reader of the page can select.
SHOWN_KERNELS = (*PAPER_KERNELS, "raw")


def write_report(
    study: Study,
    directory: str | Path,
    /,
    *,
    formats: tuple[str, ...] = FILE_FORMATS,
    log_time: bool = False,
    canvas: Canvas | None = None,
) -> Path:
    """Write the page, figures, tables, macros, methods paragraph and `results.json`.

    Parameters
    ----------
    study
        A study returned by `gapline.open_study`.
    formats
        Formats of the figures: any of svg, png, pdf.
    log_time
        Draw the curves and the horizon sweep on logarithmic time, and open the page with it.
    canvas
        How the figures are drawn: width, font size, with or without title and caption, in colour or grey.

    The same study gives the same bytes, except for PDF, whose digests are therefore not in `results.json`. Every file
    is written atomically; `results.json`, which lists the others, comes last. Figures and tables that an earlier report
    in the directory listed and this one does not write are removed.
    """
    if unknown := [name for name in formats if name not in FILE_FORMATS]:
        raise UsageError(f"formats: expected {', '.join(FILE_FORMATS)}, got {', '.join(unknown)}")
    folder = Path(directory)
    check_report_folder(folder)
    study = for_report(expect(study, Study, "write_report"))
    # First, while memory is free: bundling the drawing libraries of the page briefly takes a hundred megabytes.
    vega_bundle()
    analysis, said = analyse(study), make_statements(study)
    head = heading(study)
    doing("analysing")
    charts = study_figures(study, analysis, said.order, log_time=log_time)
    chosen = canvas or Canvas()
    written, captions = write_figures(charts, folder / "figures", formats, canvas=chosen, provenance=head)
    doing("writing the tables")
    tables = study_tables(study, analysis, said)
    written += write_tables(tables, folder / "tables", head)
    texts: dict[str, str | bytes] = {
        f"tables/runs{f'-{number}' if number > 1 else ''}.csv": to_csv(run_frame(scores))
        for number, scores in enumerate(study.scores, 1)
    }
    texts |= {
        "macros.tex": macro_file(study_macros(analysis, said), head)
        + caption_macros("table", {table.name: table_caption(shortened(table)) for table in tables})
        + caption_macros("figure", captions),
        "methods.md": methods_markdown(said),
        "methods.tex": methods_latex(said),
    }
    for name, text in texts.items():
        write_file(folder / name, text)
        written.append(folder / name)
    doing("building the page")
    written.append(write_page(study, folder / PAGE, said, analysis, log_time=log_time))
    document = results_document(study, analysis, said)
    document["drawing"] = chosen.document() | {"log_time": log_time}
    names = {path: path.relative_to(folder).as_posix() for path in sorted(written)}
    document["files"] = {name: file_digest(path) for path, name in names.items() if path.suffix != ".pdf"}
    document["derived"] = [name for path, name in names.items() if path.suffix == ".pdf"]
    # After all files are written and before the list is replaced: the old list tells which files a report wrote.
    remove_stale(folder, written)
    write_file(folder / RESULTS_FILE, json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return folder


def check_report_folder(folder: Path) -> None:
    """Refuse a folder into which a report cannot be written; other files in it stay unchanged."""
    for name in ("", "figures", "tables"):
        check_directory(folder / name)
    for name in (PAGE, *TEXTS, RESULTS_FILE):
        refuse_no_file(folder / name)


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that determine the bytes of a report."""
    names = ("numpy", "polars", "altair", "vl-convert-python")
    return {"gapline": VERSION} | {name: package_version(name) or "missing" for name in names}


def remove_stale(folder: Path, written: list[Path]) -> list[Path]:
    """Remove figures and tables that an earlier report listed and this one did not write; other files stay."""
    # Old and new figures next to each other could end up in one paper as if they belonged together.
    try:
        before = json.loads(read_regular(folder / RESULTS_FILE))
        listed = [*before["files"], *before.get("derived", [])]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    kept = {path.relative_to(folder).as_posix() for path in written}
    stale = []
    for name in listed:
        parts = str(name).split("/")
        # Only names that a report can have written: an edited list must not remove other files.
        ours = len(parts) == 2 and parts[0] in ("figures", "tables") and parts[1] not in ("", ".", "..")
        if ours and name not in kept and (folder / name).is_file():
            (folder / name).unlink()
            stale.append(folder / name)
    return stale


def for_report(study: Study) -> Study:
    """Return the study as in a report: under every kernel and both policies, the declared ones first."""
    # The declared kernel stays first, since it ranks. For objectives of any sign, only Berthold's gap exists.
    shown = () if study.envelopes.scale.signed else SHOWN_KERNELS
    kernels = (*study.kernels, *(kernel for kernel in shown if kernel not in study.kernels))
    return replace(study, kernels=kernels, references=study.both)


def write_figures(
    charts: dict[str, Any], folder: Path, formats: tuple[str, ...], *, canvas: Canvas, provenance: Sequence[str]
) -> tuple[list[Path], dict[str, str]]:
    """Write every chart in every format with its texts; return the files, and the caption of each figure."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    captions: dict[str, str] = {}
    for place, (name, chart) in enumerate(charts.items(), 1):
        doing("drawing figures", place, len(charts))
        paths = [folder / f"{name}.{form}" for form in formats]
        about = write_drawing(style(chart), *paths, canvas=canvas, provenance=provenance)
        captions[name] = " ".join(f"{one.title}. {one.caption}" for one in about.words)
        # Without a drawing, its texts are not written either.
        if paths:
            paths.append(folder / f"{name}.txt")
            write_file(paths[-1], about.text())
        written += paths
    return written, captions


def write_tables(tables: list[Table], folder: Path, head: list[str]) -> list[Path]:
    """Write every table as Markdown, CSV and LaTeX; for a very long one, only the CSV has every row."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables:
        printed = shortened(table)
        forms: dict[str, str | bytes] = {
            "md": to_markdown(printed, head),
            "tex": to_latex(printed, head),
            "csv": to_csv(table.frame),
        }
        for form, text in forms.items():
            write_file(folder / f"{table.name}.{form}", text)
            written.append(folder / f"{table.name}.{form}")
    return written


def results_document(study: Study, analysis: Analysis, said: Statements) -> dict[str, Any]:
    """Return the numbers of the report for `results.json`."""
    facts, order = said.facts, said.order
    readings = []
    for scores in study.scores:
        summary = summarise(scores, weighting=study.weighting)
        # Each reference has its own order; the headline is that of the first.
        placed = order_arms(summary)
        readings.append(score_document(scores, summary, per_run=False, order=placed))
    tested = None if study.contrasts is None else compared_rows(study.contrasts, order.descriptive)
    return {
        "schema": SCHEMA,
        "title": study.title,
        "versions": library_versions(),
        "campaign": {"digest": study.campaign_digest, "runs": len(study.campaign), "notes": study_notes(study)},
        "headline": asdict(said.headline),
        "reading": study.reading.document(),
        "facts": facts.document(),
        "readings": readings,
        "intervals": None if study.intervals is None else study.intervals.frame.to_dicts(),
        "contrasts": None if tested is None else tested.to_dicts(),
        "no_intervals": study.no_intervals,
        "health": analysis.health.frame.to_dicts(),
        "design": None if analysis.design is None else analysis.design.to_dicts(),
        "ladders": {name: ladder.frame.to_dicts() for name, ladder in analysis.ladders.items()},
        "rejections": analysis.health.reasons.to_dicts(),
        "metric_sensitivity": analysis.metrics.document(),
        "reference_sensitivity": None if analysis.references is None else analysis.references.document(),
        "transform_sensitivity": None if analysis.transforms is None else analysis.transforms.document(),
        "complementarity": analysis.complementarity.document(),
        "horizon_sweep": analysis.horizon.document(),
        "cutoff_sweep": analysis.cutoffs.document(),
        **analysis.neighbours_document(),
        "alarms": [alarm.document() for alarm in study.alarms],
        "methods": [clause._asdict() for clause in methods_clauses(facts)],
    }
