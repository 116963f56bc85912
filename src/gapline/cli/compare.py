"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options

if TYPE_CHECKING:
    from gapline.analysis.comparison import Side


# How the interval is drawn; it is no part of the question, so contracts may differ in it.
_DRAWN = ("level", "draws", "seed")


@click.command("compare")
@click.argument("first", metavar="SOURCE[:ARM]")
@click.argument("second", metavar="SOURCE[:ARM]")
@click.option("--panel", multiple=True, help="Keep panels that match this name or pattern (repeatable).")
@click.option("--instance", multiple=True, help="Keep instances that match this name or pattern (repeatable).")
@options.references
@options.acceptance
@click.option("--kernel", default=None, help="Kernel of the score (default: squeezed).")
@click.option("--weight", default=None, help="uniform, early-log:TMIN, end-log:TCUT, steps:…")
@click.option("--weighting", default=None, help="panel (default), instance or run.")
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True)
@click.option("--level", type=float, default=None, help="Level of the interval (default: 0.95).")
@click.option("--draws", type=int, default=None, help="Bootstrap draws of instances (default: 10,000).")
@click.option("--seed", type=int, default=None, help="Seed of the draws (default: 1).")
@click.option(
    "--fail-if-worse",
    type=float,
    default=None,
    metavar="X",
    help="Exit 1 when the whole interval says worse by more than X score units.",
)
@options.as_json
def command(first: str, second: str, fail_if_worse: float | None, as_json: bool, **choices: Any) -> int:
    """Compare two arms of one source, or one arm in two sources, paired by instance against one reference.

    The difference is second minus first in score units; smaller scores are better. Snapshots, horizons or checkers that
    differ are refused.

    Example: gapline compare old/campaign new/campaign --snapshot references/2026-08.json --fail-if-worse 0.002
    """
    import json

    from gapline.analysis.comparison import compare
    from gapline.model.text import printable
    from gapline.report import printing
    from gapline.report.tables.contrasts import verdict_line

    sides = [_side(given, choices) for given in (first, second)]
    comparison = compare(*sides, interval=choices["interval"], **_agreed([side.source for side in sides], choices))
    failed = fail_if_worse is not None and comparison.fails(fail_if_worse)
    if as_json:
        document = comparison.document() | {"fail_if_worse": fail_if_worse, "failed": failed}
        click.echo(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))
        return 1 if failed else 0
    printing.print_comparison(comparison)
    for line in printing.note_lines(comparison.notes):
        click.echo(line)
    click.echo(printable(verdict_line(comparison)))
    if failed:
        click.echo(f"failed: worse by more than {fail_if_worse:g}")
    return 1 if failed else 0


def _side(given: str, choices: dict[str, Any]) -> "Side":
    """Read one side: `SOURCE:ARM` where no file has that whole name, else a source with one arm."""
    from dataclasses import replace
    from pathlib import Path

    from gapline.analysis.comparison import Side, find_arm
    from gapline.cli import sources as reading
    from gapline.cli.study_defaults import study_defaults
    from gapline.errors import UsageError

    source, _, name = given.rpartition(":")
    if Path(given).exists() or not source:
        source, name = given, ""
    declared = study_defaults([source])
    campaign = reading.read_sources([source], arm=(), panel=choices["panel"], instance=choices["instance"])
    arm = find_arm(campaign, source, name or None)
    campaign = campaign.filter(arm=_literal(arm))
    accepted = {key: choices[key] for key in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, declared, **accepted)
    if choices["policy"] in ("analysis", "both"):
        raise UsageError(
            f"--policy {choices['policy']}: expected a reference that both sides share, got one folded from each",
            hint="fold it once with `gapline snapshot fold` and give it with --snapshot",
        )
    # A contract that folds its own runs in shares no reference with another: its snapshot is taken as stored.
    declared = declared if declared.policy == "frozen" else replace(declared, policy=None)
    picked = reading.choose_references(
        envelopes, [source], declared, **{key: choices[key] for key in ("references", "snapshots", "policy")}
    )
    if len(picked) > 1:
        raise UsageError(f"compare: expected one reference, got {len(picked)}", hint="give one --snapshot")
    return Side(source, arm, campaign, envelopes, picked[0].snapshot)


def _agreed(sources: list[str], choices: dict[str, Any]) -> dict[str, Any]:
    """Settle the choices that neither side may make alone: as typed, else as the contracts of both declare."""
    from gapline.cli.study_defaults import NO_STUDY, study_defaults
    from gapline.errors import MixedScoresError

    # A source without a contract declares nothing, so the other side's holds.
    declared = [found for source in sources if (found := study_defaults([source])) != NO_STUDY] or [NO_STUDY]
    settled = {name: getattr(declared[0], name) if choices[name] is None else choices[name] for name in _DRAWN}
    for name in ("kernel", "weight", "weighting"):
        values = [next(iter(d.kernels), "squeezed") if name == "kernel" else getattr(d, name) for d in declared]
        if choices[name] is None and values[0] != values[-1]:
            raise MixedScoresError(
                f"contracts differ in {name}: {sources[0]} declares {values[0]}, {sources[1]} declares {values[-1]}",
                hint=f"state it with --{name}",
            )
        settled[name] = values[0] if choices[name] is None else choices[name]
    return settled


def _literal(name: str) -> str:
    """Escape what a pattern would read as a wildcard."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
