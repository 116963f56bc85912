"""`gapline curve`: mean convergence and goal attainment over time."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("curve")
@options.sources
@options.references
@options.acceptance
@click.option("--kernel", default=None, help="Kernel of the mean curve (default: the contract's, or squeezed).")
@click.option("--goal", "goals", multiple=True, type=float, help="Raw gap goal of the attainment curve (repeatable).")
@click.option("--weighting", default=None, help="panel, instance or run (default: the contract's, or panel).")
@click.option("--by", multiple=True, help="Columns that make the curves (repeatable; default: arm).")
@click.option("--relative", is_flag=True, help="Relative time t/Γ, needed where horizons differ.")
@click.option("--bands", is_flag=True, help="Add pointwise 95 % bootstrap bands over instances.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(),
    help="File to write (repeatable): .csv and .json hold the numbers, .svg, .png and .pdf the drawing.",
)
@options.as_json
def command(
    sources: tuple[str, ...],
    kernel: str | None,
    goals: tuple[float, ...],
    weighting: str | None,
    by: tuple[str, ...],
    relative: bool,
    bands: bool,
    outputs: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> None:
    """Write or draw the mean convergence and goal-attainment curves.

    Without -o the curves are plotted on the terminal.

    Example: gapline curve traces.csv --references refs.csv --horizon 30 -o curves.csv -o curves.svg
    """
    import json
    from pathlib import Path

    from gapline.cli import sources as reading
    from gapline.cli.study_defaults import study_defaults
    from gapline.errors import UsageError
    from gapline.report import curves as report
    from gapline.scoring.attainment import attainment_curve
    from gapline.scoring.curve import mean_curve
    from gapline.summary.bands import curve_bands

    declared = study_defaults(sources)
    campaign = reading.read_sources(sources, **{name: choices[name] for name in ("arm", "panel", "instance")})
    accepted = {name: choices[name] for name in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, declared, **accepted)
    picked = reading.choose_references(
        envelopes, sources, declared, **{name: choices[name] for name in ("references", "snapshots", "policy")}
    )
    if len(picked) > 1:
        raise UsageError(f"curve: expected one reference, got {len(picked)}", hint="draw one curve per snapshot")
    snapshot, policy = picked[0].snapshot, picked[0].policy
    groups = list(by or ("arm",))
    kernel = kernel or (declared.kernels or ("squeezed",))[0]
    shared: dict[str, Any] = {"by": groups, "weighting": weighting or declared.weighting, "relative": relative}
    mean = mean_curve(envelopes, snapshot, kernel=kernel, policy=policy, **shared)
    attained = attainment_curve(
        envelopes, snapshot, goals=goals or declared.goals[:1] or (0.01,), policy=policy, **shared
    )
    pair = report.CurvePair(mean, attained)
    if bands:
        pair = report.CurvePair(
            mean,
            attained,
            mean_bands=curve_bands(envelopes, snapshot, kernel=kernel, **shared),
            attainment_bands=curve_bands(envelopes, snapshot, goal=attained.goals[0], **shared),
        )
    for output in outputs:
        report.write_curves(pair, Path(output))
        click.echo(f"wrote {output}", err=as_json)
    if as_json:
        click.echo(json.dumps(report.curve_document(pair), allow_nan=False, ensure_ascii=False))
    elif not outputs:
        report.print_curves(pair)
