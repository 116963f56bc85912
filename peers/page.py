"""The page docs/compared.md, written from what was measured and from the table of features."""

import datetime
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from gapline.process.machine import describe_machine
from peers.costs import Cost
from peers.features import FEATURES, NO, OTHERS_ARE_BETTER, PART, YES, Feature
from peers.traces import ARMS
from peers.values import ALIKE, Absent, SideBySide

PACKAGES = ("pandas", "moocore", "cocopp", "iohinspector", "rliable")


def page_text(rows: Sequence[SideBySide | Absent], costs: Sequence[Cost], *, runs: int) -> str:
    """Return the page as Markdown."""
    parts = [_head(), _values(rows, runs), _costs(costs), others_part(), features_part()]
    return "\n\n".join(parts) + "\n"


def values_part(rows: Iterable[SideBySide | Absent]) -> str:
    """Return the table of values, two lines for each measure, and below it why they differ."""
    lines = [_line("measure", "by", *ARMS, "largest difference", "values")]
    lines.append("|---|---|" + "---:|" * (len(ARMS) + 2))
    why = []
    for row in rows:
        if isinstance(row, Absent):
            why.append(f"- **{row.peer}** is not installed here: {row.why}.")
            continue
        lines.append(_line(row.measure, "gapline", *(_value(row.ours.get(arm)) for arm in ARMS), "", ""))
        theirs = (_value(row.theirs.get(arm)) for arm in ARMS)
        lines.append(_line("", row.peer, *theirs, _difference(row.apart), str(row.values)))
        left = "" if row.explained is None else f" What is left then: {_difference(row.explained)}."
        why.append(f"- **{row.peer}**, {row.measure}: {row.said}{left}")
    return "\n".join(lines) + "\n\nDifferences, and why:\n\n" + "\n".join(why)


def _head() -> str:
    machine = describe_machine()
    versions = ", ".join(f"{name} {held}" for name in PACKAGES if (held := _version(name)))
    return f"""# gapline and other tools

Which tool for which question? This page asks others the same as gapline on the same traces, says where values differ
and why, what it costs, and what each can do. `make compare-peers` writes it anew; it was written on
{datetime.datetime.now(datetime.UTC).date()} with gapline {machine["gapline"]}, Python {machine["python"]}, {versions}.
Others change: whoever finds a row that is no longer true is asked to say so."""


def _values(rows: Sequence[SideBySide | Absent], runs: int) -> str:
    compared = [row for row in rows if isinstance(row, SideBySide)]
    agree = sum(row.agrees for row in compared)
    values = sum(row.values for row in compared)
    unequal = [row.measure for row in compared if not row.agrees]
    verdict = f"All {agree} measures agree" if not unequal else f"{agree} of {len(compared)} measures agree"
    rest = "" if not unequal else f" **Not explained: {', '.join(unequal)}.**"
    return f"""## The same question, the same traces

{runs} drawn runs of four arms: one steady, one that sprints and stalls, one that begins late and sometimes finds
nothing, one that beats its reference. {verdict} to {ALIKE:g}, over {values:,} values, once the difference that is
named has been taken out.{rest}

{values_part(rows)}"""


def _costs(costs: Sequence[Cost]) -> str:
    few = max((cost.few for cost in costs), default=0)
    lines = [_line("tool", "job", f"time of {few} runs", "time of many", "how many", "memory of many")]
    lines.append("|---|---|---:|---:|---:|---:|")
    lines += [
        _line(cost.peer, cost.job, *map(_ratio, (cost.time_of_few, cost.time)), f"{cost.runs:,}", _ratio(cost.memory))
        for cost in costs
    ]
    said = [
        f"Faster than gapline on {few} runs: {_who(cost for cost in costs if cost.time_of_few < 1)};",
        f"on many: {_who(cost for cost in costs if cost.time < 1)}.",
        f"In less memory: {_who(cost for cost in costs if cost.memory < 1)}.",
    ]
    return f"""## What it costs

What the other tool took over what gapline took: processor time of the best of several rounds and memory beyond what was
held before, each side in a process of its own that had done the same on a few runs before. Below 1 the other tool is
cheaper; less than a megabyte counts as one. Loading is not in it: the first call of gapline on much data also compiles.

{chr(10).join(lines)}

{" ".join(said)}"""


def _who(costs: Iterable[Cost]) -> str:
    return ", ".join(f"{cost.peer} ({cost.job})" for cost in costs) or "none of these"


def others_part() -> str:
    """Return where others are better."""
    return "## Where others are better\n\n" + "\n".join(f"- {line}" for line in OTHERS_ARE_BETTER)


def features_part() -> str:
    """Return the table of features, with how many gapline has."""
    rows = [row for group in FEATURES.values() for row in group]
    counts = {state: sum(row.state == state for row in rows) for state in (YES, PART, NO)}
    alone = sum(not row.have and row.state == YES for row in rows)
    parts = [
        f"""## Who has what

{len(rows)} things that users of such tools ask for. gapline has {counts[YES]}, part of {counts[PART]} and {counts[NO]}
not; {alone} are whole nowhere else that we know of. Each row names the page or the test that shows it."""
    ]
    for group, features in FEATURES.items():
        lines = ["| what | gapline | has it | has part of it |", "|---|---|---|---|"]
        lines += [_line(row.what, _state(row), row.have or "–", row.partly or "–") for row in features]
        parts.append(f"### {group}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _state(row: Feature) -> str:
    shown = f"{row.state}, `{row.shown}`" if row.shown.startswith("tests/") else f"[{row.state}]({row.shown})"
    return shown + (f": {row.note}" if row.note else "")


def _ratio(value: float) -> str:
    """Two digits, whole where there are more."""
    return f"{float(f'{value:.2g}'):g}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.5g}"


def _difference(apart: float) -> str:
    return f"{apart:.1g}" if apart < 1 else _ratio(apart)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
