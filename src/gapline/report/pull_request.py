"""A judged comparison in Markdown, for a pull request or the summary of a workflow: the outcome first."""

from dataclasses import replace

from gapline.analysis.judged import Judged
from gapline.errors import GaplineError, listing
from gapline.model.reading import Reading, vouched
from gapline.model.text import counted
from gapline.report.judged import gate_name, outcome
from gapline.report.numbers import p_value, signed
from gapline.report.table import text_table
from gapline.report.tables.contrasts import comparison_table, verdict_line
from gapline.report.writers.markdown import plain, to_markdown

# Of runs that are missing; the count is always there.
_SHOWN = 20


def to_pull_request(judged: Judged, /) -> str:
    """Return the outcome, alarms, the table of panels, the interval, the gate, the choices and what is missing."""
    comparison = judged.comparison
    panels = replace(comparison_table(comparison), notes=())
    facts = [*_interval(judged), *_gate(judged), *_reading(comparison.reading)]
    table = text_table("choices", "Under these choices", ("choice", "value"), facts, text=2, notes=())
    alarms = [f"- {plain(str(alarm))}" for alarm in comparison.alarms]
    parts = [
        f"### {plain(_capital(outcome(judged)))}\n",
        *(["\n".join([f"**{counted(len(alarms), 'alarm')}**", "", *alarms]) + "\n"] if alarms else []),
        *([f"{plain(beaten)}.\n"] if (beaten := comparison.scores.beaten) is not None else []),
        f"**{plain(verdict_line(comparison))}**\n",
        to_markdown(panels),
        to_markdown(table),
    ]
    absent = [f"- {plain(one)}" for one in comparison.absent[:_SHOWN]]
    if len(comparison.absent) > _SHOWN:
        absent.append(f"- and {len(comparison.absent) - _SHOWN:,} more")
    lists = (
        (f"{len(comparison.absent):,} runs are missing on one side", absent),
        ("Notes", [f"- {plain(note)}" for note in comparison.notes]),
    )
    parts += ["\n".join([f"**{head}**", "", *lines]) + "\n" for head, lines in lists if lines]
    return "\n".join(parts)


def refused_pull_request(first: str, second: str, error: GaplineError) -> str:
    """Return what there is to say of a comparison that could not be made."""
    lines = [f"### {plain(second)} against {plain(first)}: not judged", "", *map(plain, str(error).split("\n"))]
    return "  \n".join(lines) + "\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _interval(judged: Judged) -> list[tuple[str, str]]:
    comparison = judged.comparison
    interval = f"none: {comparison.reason}"
    if comparison.low is not None:
        ends = f"{signed(comparison.low)} to {signed(comparison.high)}"
        interval = f"{ends} ({comparison.level:.0%}, by {comparison.how})"
    return [
        ("difference", f"{signed(comparison.difference)}, second minus first; smaller scores are better"),
        ("interval", interval),
        *([("p", p_value(comparison.p))] if comparison.p is not None else []),
    ]


def _gate(judged: Judged) -> list[tuple[str, str]]:
    name = gate_name(judged)
    if judged.gate is None or name is None:
        return [("gate", "none")]
    words = "; ".join(judged.gate.words()) or "not judged"
    return [("gate", f"{name}, error {judged.gate.error:g}"), ("its rates", words)]


def _reading(reading: Reading) -> list[tuple[str, str]]:
    """Return the choices behind the numbers one by one, the digest of the reference in full."""
    rows = [
        ("reference", f"{reading.reference.name} ({reading.reference.policy})"),
        ("digest", reading.reference.digest),
        ("kernel", reading.kernels[0]),
        ("weight", reading.weight),
        ("weighting", f"{reading.weighting}-equal"),
        ("horizon", f"{listing((f'{h:g}' for h in reading.horizons), most=4)} {reading.time_unit}"),
        ("candidates", vouched(reading.validation, reading.checker)),
        ("coverage", str(reading.coverage)),
    ]
    if reading.transform != "none":
        rows.append(("transform", reading.transform))
    if reading.time_scale is not None:
        rows.append(("time scale", str(reading.time_scale)))
    return [*rows, *((f"code of {name}", digest) for name, digest in reading.code)]
