"""`write_report`: everything people look at and paste into their paper, in one directory."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gapline.errors import UsageError
from gapline.model.environment import package_version
from gapline.model.store import file_digest, write_atomically
from gapline.model.version import VERSION
from gapline.report.analyses import Analyses, analyse_study
from gapline.report.documents import score_document
from gapline.report.drawing import FILE_FORMATS, style, write_drawing
from gapline.report.figures.study import study_figures
from gapline.report.input import ReportInput
from gapline.report.macro_file import macro_file
from gapline.report.macros import study_macros
from gapline.report.methods import methods_clauses, methods_latex, methods_markdown
from gapline.report.order import order_arms
from gapline.report.page.build import write_page
from gapline.report.statements import Statements, make_statements
from gapline.report.table import Table
from gapline.report.tables.complementarity import grid_table, pairs_table
from gapline.report.tables.contrasts import compared_rows, contrast_table
from gapline.report.tables.health import health_table
from gapline.report.tables.instances import instance_table
from gapline.report.tables.means import arm_table, panel_table
from gapline.report.tables.runs import run_frame
from gapline.report.tables.sensitivity import pooled_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.markdown import to_markdown
from gapline.summary.means import summarise

SCHEMA = "gapline.results/1"
PAGE, RESULTS = "report.html", "results.json"


def write_report(
    study: ReportInput,
    directory: str | Path,
    /,
    *,
    tier_two: tuple[str, ...] = (),
    formats: tuple[str, ...] = FILE_FORMATS,
) -> Path:
    """Write the page, figures, tables, macros, methods paragraph and `results.json`.

    Parameters
    ----------
    study
        What the report is made from; see `gapline.report.input.prepare_report`.
    tier_two
        Arms that are descriptive; those that the runs mark as tier 2 are anyway.
    formats
        Of the figures: any of svg, png, pdf.

    The same study gives the same bytes, PDF apart, whose digest `results.json` therefore does not have. Every file
    appears as a whole or not at all; `results.json`, which lists the others, comes last. Figures and tables that an
    earlier report in the directory listed and this one does not write are removed.
    """
    if unknown := [name for name in formats if name not in FILE_FORMATS]:
        raise UsageError(f"formats: expected {', '.join(FILE_FORMATS)}, got {', '.join(unknown)}")
    folder = Path(directory)
    for part in ("figures", "tables"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    analyses = analyse_study(study, tier_two=tier_two)
    said = make_statements(study, tier_two=tier_two)
    head = heading(study)
    written = write_figures(study_figures(study, analyses, said.order), folder / "figures", formats)
    written += write_tables(study_tables(study, analyses, said), folder / "tables", head)
    for number, scores in enumerate(study.scores):
        path = folder / "tables" / ("runs.csv" if number == 0 else f"runs-{number + 1}.csv")
        _write(path, to_csv(run_frame(scores)))
        written.append(path)
    texts = {
        "macros.tex": macro_file(study_macros(study, analyses, said.facts, said.order, said.headline), head),
        "methods.md": methods_markdown(study, said.facts),
        "methods.tex": methods_latex(study, said.facts),
    }
    for name, text in texts.items():
        _write_text(folder / name, text)
        written.append(folder / name)
    written.append(write_page(study, folder / PAGE, said))
    document = results_document(study, analyses, said)
    names = {path: path.relative_to(folder).as_posix() for path in sorted(written)}
    document["files"] = {name: file_digest(path) for path, name in names.items() if path.suffix != ".pdf"}
    document["derived"] = [name for path, name in names.items() if path.suffix == ".pdf"]
    remove_stale(folder, written)
    _write_text(folder / RESULTS, json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return folder


def remove_stale(folder: Path, written: list[Path]) -> list[Path]:
    """Remove figures and tables that an earlier report listed and this one did not write; nothing else is touched.

    A PNG of last week beside an SVG of today would be pasted into a paper as if they belonged together.
    """
    try:
        before = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        listed = [*before["files"], *before.get("derived", [])]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    kept = {path.relative_to(folder).as_posix() for path in written}
    stale = []
    for name in listed:
        parts = str(name).split("/")
        ours = len(parts) == 2 and parts[0] in ("figures", "tables") and parts[1] not in ("", ".", "..")
        if ours and name not in kept and (folder / name).is_file():
            (folder / name).unlink()
            stale.append(folder / name)
    return stale


def heading(study: ReportInput) -> list[str]:
    """Return what every file says of where it comes from: version, campaign, references."""
    return [
        f"gapline {VERSION}; campaign {study.campaign.digest()}",
        *(f"reference {e.snapshot.name} ({e.policy}): {e.snapshot.digest}" for e in study.snapshots),
    ]


def study_tables(study: ReportInput, analyses: Analyses, said: Statements) -> list[Table]:
    """Return the tables of a study."""
    order = said.order
    empties = dict(analyses.health.frame.select("arm", "empty").iter_rows())
    labels = dict(zip(analyses.names, analyses.labels, strict=True))
    first, against = study.kernels[:1], str(study.scores[0].reference)
    tables = [
        arm_table(study.summary, order, kernels=first, intervals=study.intervals, no_intervals=study.no_intervals),
        panel_table(study.scores[0], order),
        instance_table(study, order),
        health_table(analyses.health, validation=said.facts.validation),
        pooled_table(analyses.metric, labels, empties),
        pairs_table(analyses.complementarity, against=against, descriptive=order.descriptive),
        grid_table(analyses.complementarity, against=against),
    ]
    if study.contrasts is not None and compared_rows(study.contrasts, order.descriptive).height:
        tables.insert(
            2, contrast_table(study.contrasts, against=against, empties=empties, descriptive=order.descriptive)
        )
    return tables


def write_figures(charts: dict[str, Any], folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """Write every chart in every format, in the look of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, chart in charts.items():
        paths = [folder / f"{name}.{form}" for form in formats]
        write_drawing(style(chart), *paths)
        written += paths
    return written


def write_tables(tables: list[Table], folder: Path, head: list[str]) -> list[Path]:
    """Write every table as Markdown, CSV and LaTeX."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables:
        _write_text(folder / f"{table.name}.md", to_markdown(table, head))
        _write_text(folder / f"{table.name}.tex", to_latex(table, head))
        _write(folder / f"{table.name}.csv", to_csv(table.frame))
        written += [folder / f"{table.name}.{form}" for form in ("md", "tex", "csv")]
    return written


def results_document(study: ReportInput, analyses: Analyses, said: Statements) -> dict[str, Any]:
    """Return the numbers of the report for machines."""
    facts, order = said.facts, said.order
    readings = []
    for scores in study.scores:
        summary = summarise(scores, weighting=study.weighting)
        beaten = int(scores.frame["beaten"].sum())
        placed = order_arms(summary, tier_two=order.descriptive, beaten=beaten)
        readings.append(score_document(scores, summary, per_run=False, order=placed))
    tested = None if study.contrasts is None else compared_rows(study.contrasts, order.descriptive)
    return {
        "schema": SCHEMA,
        "title": study.title,
        "versions": {"gapline": VERSION}
        | {name: package_version(name) or "missing" for name in ("numpy", "polars", "altair", "vl-convert-python")},
        "campaign": {"digest": study.campaign.digest(), "runs": len(study.campaign), "notes": study.notes()},
        "headline": asdict(said.headline),
        "facts": facts.document(),
        "readings": readings,
        "intervals": None if study.intervals is None else study.intervals.frame.to_dicts(),
        "contrasts": None if tested is None else tested.to_dicts(),
        "no_intervals": study.no_intervals,
        "health": analyses.health.frame.to_dicts(),
        "rejections": analyses.health.reasons.to_dicts(),
        "metric_sensitivity": analyses.metric.document(),
        "reference_sensitivity": None if analyses.reference is None else analyses.reference.document(),
        "complementarity": analyses.complementarity.document(),
        "horizon_sweep": None if analyses.sweep is None else analyses.sweep.document(),
        "alarms": [alarm.document() for alarm in study.alarms],
        "methods": [clause._asdict() for clause in methods_clauses(study, facts)],
    }


def _write_text(path: Path, text: str) -> None:
    _write(path, text.encode("utf-8"))


def _write(path: Path, data: bytes) -> None:
    write_atomically(path, lambda stream: stream.write(data))
