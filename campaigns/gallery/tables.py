"""What came out of a campaign, as Markdown tables."""

from collections.abc import Iterable, Sequence

import gapline as gl
from gapline.cli.demo_campaign import delivered
from gapline.report.numbers import number, percent


def health_table(envelopes: gl.Envelopes) -> str:
    """Return what each arm delivered, before any score."""
    counts = delivered(envelopes)
    return _table(counts.columns, [[str(value) for value in row] for row in counts.iter_rows()])


def score_table(summary: gl.Summary) -> str:
    """Return the mean scores of the arms, the best first."""
    goals = [name for name in summary.frame.columns if name.startswith("attainment:")]
    header = ["arm", "runs", "empty", *summary.kernels, "final gap", *(f"≤ {100 * goal:g} %" for goal in summary.goals)]
    rows = [
        [
            *(str(row[name]) for name in ("arm", "runs", "empty")),
            *(number(row[kernel]) for kernel in summary.kernels),
            percent(row["final_gap"]),
            *(percent(row[goal], digits=1) for goal in goals),
        ]
        for row in summary.frame.sort(summary.kernels[0]).iter_rows(named=True)
    ]
    return _table(header, rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; numbers stand to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)])
