"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options

if TYPE_CHECKING:
    from gapline.analysis.comparison import Side


@click.command("compare")
@click.argument("first", metavar="SOURCE[:ARM]")
@click.argument("second", metavar="SOURCE[:ARM]")
@click.option("--panel", multiple=True, help="Keep panels that match this name or pattern (repeatable).")
@click.option("--instance", multiple=True, help="Keep instances that match this name or pattern (repeatable).")
@options.references
@options.acceptance
@click.option("--kernel", default="squeezed", show_default=True, help="Kernel of the score.")
@click.option("--weight", default="uniform", show_default=True, help="uniform, early-log:TMIN, end-log:TCUT, steps:…")
@click.option("--weighting", default="panel", show_default=True, help="panel, instance or run.")
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the interval.")
@click.option("--draws", type=int, default=10_000, show_default=True, help="Bootstrap draws of instances.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the draws.")
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
    from gapline.report import analysis_tables, score_table
    from gapline.report.terminal import shown

    sides = [_side(given, choices) for given in (first, second)]
    names = ("kernel", "weight", "weighting", "interval", "level", "draws", "seed")
    comparison = compare(*sides, **{name: choices[name] for name in names})
    failed = fail_if_worse is not None and comparison.fails(fail_if_worse)
    if as_json:
        document = comparison.document() | {"fail_if_worse": fail_if_worse, "failed": failed}
        click.echo(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))
        return 1 if failed else 0
    analysis_tables.print_comparison(comparison)
    for line in score_table.note_lines(comparison.notes):
        click.echo(line)
    click.echo(shown(analysis_tables.verdict_line(comparison)))
    if failed:
        click.echo(f"failed: worse by more than {fail_if_worse:g}")
    return 1 if failed else 0


def _side(given: str, choices: dict[str, Any]) -> "Side":
    """Read one side: `SOURCE:ARM` where no file has that whole name, else a source with one arm."""
    from pathlib import Path

    from gapline.analysis.comparison import Side, find_arm
    from gapline.cli import sources as reading
    from gapline.errors import UsageError

    source, _, name = given.rpartition(":")
    if Path(given).exists() or not source:
        source, name = given, ""
    campaign = reading.read_sources([source], arm=(), panel=choices["panel"], instance=choices["instance"])
    arm = find_arm(campaign, source, name or None)
    campaign = campaign.filter(arm=_literal(arm))
    accepted = {key: choices[key] for key in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, **accepted)
    if choices["policy"] in ("analysis", "both"):
        raise UsageError(
            f"--policy {choices['policy']}: expected a reference that both sides share, got one folded from each",
            hint="fold it once with `gapline snapshot fold` and give it with --snapshot",
        )
    picked = reading.choose_references(
        envelopes, [source], **{key: choices[key] for key in ("references", "snapshots", "policy")}
    )
    if len(picked) > 1:
        raise UsageError(f"compare: expected one reference, got {len(picked)}", hint="give one --snapshot")
    return Side(source, arm, campaign, envelopes, picked[0].snapshot)


def _literal(name: str) -> str:
    """Escape what a pattern would read as a wildcard."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
