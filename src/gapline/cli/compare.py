"""`gapline compare`: is the second arm better, worse, or is no difference shown."""

from typing import Any

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("compare")
@click.argument("first", metavar="SOURCE[:ARM]")
@click.argument("second", metavar="SOURCE[:ARM]")
@options.choices
@click.option(
    "--fail-if-worse",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Exit 1 when shown to be worse by more than X score units, or when runs are missing.",
)
@click.option(
    "--fail-unless-non-inferior",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="Exit 1 unless shown to be worse by less than X.",
)
@click.option(
    "--fail-unless-superior",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Exit 1 unless shown to be better by more than X (0: better at all).",
)
@click.option(
    "--gate-error",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="In how many comparisons the gate may be wrong about an arm at the limit.",
)
@click.option("--suggest", is_flag=True, help="Say which limit a gate on runs like these can hold, and what it finds.")
@click.option("--allow-missing", is_flag=True, help="Judge what is there, although runs are missing on one side.")
@options.as_json
def command(
    first: str,
    second: str,
    fail_if_worse: float | None,
    fail_unless_non_inferior: float | None,
    fail_unless_superior: float | None,
    gate_error: float,
    suggest: bool,
    allow_missing: bool,
    as_json: bool,
    **choices: Any,
) -> int:
    """Compare two arms of one source, or one arm in two sources, paired by instance against one reference.

    The difference is second minus first in score units; smaller scores are better. Snapshots, horizons or checkers that
    differ are refused. A gate says how often it errs and what it finds, simulated on the given runs.

    Example: gapline compare old/campaign new/campaign --snapshot references/2026-08.json --fail-if-worse 0.002
    """
    from gapline.analysis.comparison import compare
    from gapline.errors import UsageError
    from gapline.model.text import printable
    from gapline.report.printing import print_comparison
    from gapline.report.tables.contrasts import suggestion_line, verdict_line

    limits = {"worse": fail_if_worse, "non-inferior": fail_unless_non_inferior, "superior": fail_unless_superior}
    asked = [(question, limit) for question, limit in limits.items() if limit is not None]
    if len(asked) > 1:
        raise UsageError(f"compare: expected one gate, got {len(asked)}")
    comparison = compare(first, second, **choices)
    judged: dict[str, Any] = {"error": gate_error, "allow_missing": allow_missing}
    gate = comparison.gate(asked[0][1], question=asked[0][0], **judged) if asked else None
    hint = comparison.gate(question=asked[0][0] if asked else "worse", **judged) if suggest else None
    failed = gate is not None and gate.failed
    code = 1 if failed or comparison.alarms else 0
    if as_json:
        answer = {
            "fail_if_worse": fail_if_worse,
            "failed": failed,
            "failed_because": None if gate is None else gate.because,
            "gate": None if gate is None else gate.document(),
            "suggested": None if hint is None else hint.document(),
        }
        options.print_json(comparison.document() | answer)
        return code
    print_comparison(comparison)
    options.print_lines("note: ", comparison.notes)
    if comparison.absent:
        say(f"note: {len(comparison.absent):,} runs are missing on one side")
    say(printable(verdict_line(comparison)))
    if gate is not None:
        options.print_lines("gate: ", gate.words())
    if hint is not None:
        say(suggestion_line(hint))
    if gate is not None and gate.because is not None:
        say(f"failed: {printable(gate.because)}")
    options.print_lines("ALARM ", comparison.alarms)
    return code
