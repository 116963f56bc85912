"""`gapline analyse`: what changes when the choices change."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("analyse")
@options.sources
@options.references
@options.acceptance
@click.option("--kernel", "kernels", multiple=True, help="Kernels to compare, the default one first (repeatable).")
@click.option("--tier2", "tier_two", multiple=True, metavar="ARM", help="A descriptive arm: shown, not compared.")
@click.option(
    "--contrast", "contrasts", nargs=2, multiple=True, metavar="A B", help="A declared contrast (repeatable)."
)
@click.option("--goal", type=float, default=0.01, show_default=True, help="Raw gap goal of attainment and times.")
@click.option("--ladder", "ladders", multiple=True, help="Runs column along which health is counted (repeatable).")
@click.option("--max-score", type=float, default=None, help="Complementarity: scores as near as this are similar.")
@click.option("--min-final", type=float, default=None, help="Complementarity: final gaps as far apart differ.")
@click.option("--min-attainment", type=float, default=None, help="Complementarity: attainment as far apart differs.")
@click.option("--weighting", default="panel", show_default=True, help="Of the intervals: panel, instance or run.")
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--draws", type=int, default=10_000, show_default=True, help="Bootstrap draws of instances.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the draws.")
@options.as_json
def command(
    sources: tuple[str, ...],
    kernels: tuple[str, ...],
    tier_two: tuple[str, ...],
    contrasts: tuple[tuple[str, str], ...],
    ladders: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> int:
    """Rescore the same runs under other choices and say what survives.

    With one snapshot the references are `frozen` and `analysis` (the runs folded into it); with several, their names.

    Example: gapline analyse traces.csv --references refs.csv --horizon 30 --contrast mine theirs
    """
    import json

    from gapline.analysis.analyse import analyse
    from gapline.cli import sources as reading
    from gapline.reference.alarm import find_alarms
    from gapline.report import analysis_tables, score_table
    from gapline.report.terminal import shown
    from gapline.score.kernels import PAPER_KERNELS

    campaign = reading.read_sources(sources, **{name: choices[name] for name in ("arm", "panel", "instance")})
    accepted = {name: choices[name] for name in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, **accepted)
    # Both policies are what this command compares: only a claim to have frozen is checked here.
    policy = choices["policy"] if choices["policy"] == "frozen" else None
    own = choices["policy"] == "analysis" and not (choices["references"] or choices["snapshots"])
    picked = reading.choose_references(
        envelopes,
        sources,
        references=choices["references"],
        snapshots=choices["snapshots"],
        policy="analysis" if own else policy,
    )
    snapshots = [choice.snapshot for choice in picked if choice.policy is None]
    alarms = find_alarms(snapshots, envelopes) if snapshots else []
    screen = {name: choices[name] for name in ("max_score", "min_final", "min_attainment") if choices[name] is not None}
    analysis = analyse(
        campaign,
        envelopes,
        snapshots,
        kernels=kernels or PAPER_KERNELS,
        tier_two=tier_two,
        declared=contrasts,
        ladders=ladders or None,
        screen=screen,
        **{name: choices[name] for name in ("goal", "weighting", "interval", "level", "draws", "seed")},
    )
    if as_json:
        document = analysis.document()
        document["notes"] += list(campaign.diagnostics.notes)
        document["alarms"] = [alarm.document() for alarm in alarms]
        document["unreadable"] = {
            "count": campaign.diagnostics.problem_count,
            "problems": list(campaign.diagnostics.problems),
        }
        click.echo(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))
        return 1 if alarms else 0
    analysis_tables.print_analysis(analysis)
    notes = [*analysis.sensitivity.notes, *analysis.statistics.ranking.notes, *campaign.diagnostics.notes]
    for line in score_table.note_lines(notes):
        click.echo(line)
    if campaign.diagnostics.problem_count:
        click.echo(score_table.unread_line(campaign.diagnostics.problems, campaign.diagnostics.problem_count))
    for alarm in alarms:
        click.echo(f"ALARM {shown(alarm)}")
    return 1 if alarms else 0
