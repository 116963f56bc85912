"""`gapline report`: the page, figures, tables, macros and methods paragraph of a study."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("report")
@options.sources
@options.references
@options.acceptance
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Directory; a study has its own results/.")
@click.option("--kernel", "kernels", multiple=True, help="Kernels to show; the first is the declared one (repeatable).")
@click.option("--weight", default=None, help="uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5.")
@click.option("--goal", "goals", multiple=True, type=float, help="Raw gap goals; the first leads (repeatable).")
@click.option("--weighting", default=None, help="panel, instance or run: which units count alike.")
@click.option("--contrast", "declared", multiple=True, nargs=2, metavar="A B", help="Declared contrast (repeatable).")
@click.option("--tier2", "tier_two", multiple=True, metavar="ARM", help="Arm that is descriptive (repeatable).")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Level of the intervals.")
@click.option("--draws", type=click.IntRange(min=1), help="Bootstrap draws.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the bootstrap.")
@click.option("--title", default=None, help="Title of the page.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["svg", "png", "pdf"]),
    help="Formats of the figures (repeatable; default: all three).",
)
@options.as_json
def command(
    sources: tuple[str, ...],
    output: str | None,
    kernels: tuple[str, ...],
    weight: str | None,
    goals: tuple[float, ...],
    weighting: str | None,
    declared: tuple[tuple[str, str], ...],
    tier_two: tuple[str, ...],
    level: float | None,
    draws: int | None,
    seed: int | None,
    title: str | None,
    formats: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> int:
    """Write one offline page, figures, tables, LaTeX macros, the methods paragraph and results.json.

    What a study's contract declares is taken from there; options stand in for it. Without a contract the clauses that
    nobody stated are marked "not declared".

    Example: gapline report traces.csv --references refs.csv --horizon 30 -o results
    """
    import json
    from pathlib import Path

    from gapline.cli.report_input import read_report_input
    from gapline.model.layout import CONTRACT_FILE
    from gapline.model.text import printable
    from gapline.report.drawing import FILE_FORMATS
    from gapline.report.write import PAGE, RESULTS, write_report

    given: dict[str, Any] = {
        "title": title,
        "kernels": kernels or None,
        "weight": weight,
        "goals": goals or None,
        "weighting": weighting,
        "declared": declared or None,
        "level": level,
        "draws": draws,
        "seed": seed,
    }
    study = read_report_input(sources, given, choices)
    folder = Path(sources[0])
    own = len(sources) == 1 and (folder / CONTRACT_FILE).is_file()
    target = Path(output) if output is not None else folder / "results" if own else Path("results")
    write_report(study, target, tier_two=tier_two, formats=formats or FILE_FORMATS)
    if as_json:
        answer = {
            "directory": str(target),
            "page": str(target / PAGE),
            "results": str(target / RESULTS),
            "alarms": [alarm.document() for alarm in study.alarms],
        }
        click.echo(json.dumps(answer, indent=1, allow_nan=False, ensure_ascii=False))
    else:
        click.echo(f"wrote {target / PAGE}, {RESULTS}, methods.md, methods.tex, macros.tex, figures/ and tables/")
        for alarm in study.alarms:
            click.echo(f"ALARM {printable(alarm)}")
    return 1 if study.alarms else 0
