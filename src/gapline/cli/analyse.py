"""`gapline analyse`: what changes when the choices change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options

if TYPE_CHECKING:
    from gapline.cli.study_defaults import StudyDefaults
    from gapline.envelope.build import Envelopes
    from gapline.reference.snapshot import Snapshot


@click.command("analyse")
@options.sources
@options.references
@options.acceptance
@click.option("--kernel", "kernels", multiple=True, help="Kernels to compare, the default one first (repeatable).")
@click.option("--tier2", "tier_two", multiple=True, metavar="ARM", help="A descriptive arm: shown, not compared.")
@click.option(
    "--contrast", "contrasts", nargs=2, multiple=True, metavar="A B", help="A declared contrast (repeatable)."
)
@click.option("--goal", type=float, default=None, help="Raw gap goal of attainment and times (default: 0.01).")
@click.option("--ladder", "ladders", multiple=True, help="Runs column along which health is counted (repeatable).")
@click.option("--max-score", type=float, default=None, help="Complementarity: scores as near as this are similar.")
@click.option("--min-final", type=float, default=None, help="Complementarity: final gaps as far apart differ.")
@click.option("--min-attainment", type=float, default=None, help="Complementarity: attainment as far apart differs.")
@click.option("--weighting", default=None, help="Of the intervals: panel (default), instance or run.")
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True)
@click.option("--level", type=float, default=None, help="Level of the intervals (default: 0.95).")
@click.option("--draws", type=int, default=None, help="Bootstrap draws of instances (default: 10,000).")
@click.option("--seed", type=int, default=None, help="Seed of the draws (default: 1).")
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
    A study's contract gives the defaults: contrasts, tiers, kernel, goal, weighting, draws.

    Example: gapline analyse traces.csv --references refs.csv --horizon 30 --contrast mine theirs
    """
    import json

    from gapline.analysis.analyse import analyse
    from gapline.cli import sources as reading
    from gapline.cli.study_defaults import study_defaults
    from gapline.model.text import printable
    from gapline.reference.alarm import find_alarms
    from gapline.report import printing
    from gapline.scoring.kernels import PAPER_KERNELS

    declared = study_defaults(sources)
    campaign = reading.read_sources(sources, **{name: choices[name] for name in ("arm", "panel", "instance")})
    accepted = {name: choices[name] for name in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, declared, **accepted)
    snapshots = _snapshots(envelopes, sources, declared, choices)
    alarms = find_alarms(snapshots, envelopes) if snapshots else []
    screen = {name: choices[name] for name in ("max_score", "min_final", "min_attainment") if choices[name] is not None}
    arms = set(campaign.runs["arm"].to_list())
    analysis = analyse(
        campaign,
        envelopes,
        snapshots,
        kernels=kernels or tuple(dict.fromkeys([*declared.kernels, *PAPER_KERNELS])),
        tier_two=[*tier_two, *(arm for arm in declared.tier_two if arm in arms and arm not in tier_two)],
        declared=contrasts or [pair for pair in declared.contrasts if arms.issuperset(pair)],
        ladders=ladders or None,
        screen=screen,
        goal=_goal(declared.goals) if choices["goal"] is None else choices["goal"],
        interval=choices["interval"],
        **{
            name: getattr(declared, name) if choices[name] is None else choices[name]
            for name in ("weighting", "level", "draws", "seed")
        },
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
    printing.print_analysis(analysis)
    notes = [*analysis.sensitivity.notes, *analysis.statistics.ranking.notes, *campaign.diagnostics.notes]
    for line in printing.note_lines(notes):
        click.echo(line)
    if campaign.diagnostics.problem_count:
        click.echo(printing.unread_line(campaign.diagnostics.problems, campaign.diagnostics.problem_count))
    for alarm in alarms:
        click.echo(f"ALARM {printable(alarm)}")
    return 1 if alarms else 0


def _goal(declared: Sequence[float]) -> float:
    """Return the paper's goal of 1 % unless a contract declares others alone."""
    return 0.01 if not declared or 0.01 in declared else declared[0]


def _snapshots(
    envelopes: "Envelopes", sources: Sequence[str], declared: "StudyDefaults", choices: dict[str, Any]
) -> "list[Snapshot]":
    """Find the snapshots as they are stored: folding the runs in is what this command compares them with.

    A claim to have frozen is checked; without any snapshot the policy `analysis` leaves the runs' own best.
    """
    from dataclasses import replace

    from gapline.cli import sources as reading
    from gapline.errors import UsageError

    policy = choices["policy"] or declared.policy
    given = {name: choices[name] for name in ("references", "snapshots")}
    try:
        picked = reading.choose_references(
            envelopes, sources, replace(declared, policy=None), policy="frozen" if policy == "frozen" else None, **given
        )
    except UsageError:
        if policy != "analysis" or any(given.values()):
            raise
        return []
    return [choice.snapshot for choice in picked]
