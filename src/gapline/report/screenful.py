"""What an analysis comes to, on one screen: what is settled, what flips under which choice, what is broken."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from gapline.analysis.analyse import Analysis
from gapline.model.doing import doing
from gapline.model.text import counted, printable
from gapline.report.analysis_tables import TABLES
from gapline.report.numbers import number, signed
from gapline.report.statements import make_statements
from gapline.report.tables.contrasts import compared_rows
from gapline.report.writers.short_names import short_names
from gapline.terminal import wrapped

# Lines of a screen, and of it the most that each part may take.
MOST = 40
_HEAD, _SETTLED, _FLIPS, _BROKEN, _TABLES, _READING = 5, 8, 9, 7, 7, 5


def screenful(analysis: Analysis, room: int, /) -> list[str]:
    """Return the summary in lines of at most `room` columns, never more than a screen of them."""
    doing("comparing the arms")
    said = make_statements(analysis.study)
    texts = (said.headline.text, said.headline.detail)
    head = [line for text in texts for line in wrapped(printable(text), room, hang="  ")]
    # Two names and a number fit on a line.
    names = short_names(map(printable, said.order.arms), max(16, (room - 24) // 2))
    settled, flips = _pairs(analysis, said.order.arms, names)
    tables = f"Tables: {', '.join(TABLES)}; --table NAME prints one, --all every one."
    return [
        *_first(head, _HEAD, "more"),
        *_section(*settled, room=room, most=_SETTLED, more="--table contrasts"),
        *_section(*flips, room=room, most=_FLIPS, more="--table robustness"),
        *_section(*_broken(analysis, names), room=room, most=_BROKEN, more="--table health, --all"),
        *_first(wrapped(tables, room, hang="  "), _TABLES, "--table ? lists them all"),
        *_first(wrapped(printable(f"Reading: {analysis.study.reading.line()}."), room, hang="  "), _READING, "--json"),
    ]


def _pairs(
    analysis: Analysis, order: Sequence[str], names: Mapping[str, str]
) -> tuple[tuple[str, list[str]], tuple[str, list[str]]]:
    """Say which pairs are settled under every choice, and which are not, and why; those of the best arms first."""
    study = analysis.study
    shown = {} if study.contrasts is None else _shown(compared_rows(study.contrasts, study.tier_two))
    doing("varying the choices")
    settled, flips, open_ = [], [], 0
    place = {arm: k for k, arm in enumerate(order)}
    rows = sorted(analysis.robustness.summary.to_dicts(), key=lambda row: sorted((place[row["a"]], place[row["b"]])))
    for row in rows:
        one, other = (names[printable(row[name])] for name in ("a", "b"))
        found = shown.get((row["a"], row["b"]))
        better, words = row["better"], row["text"]
        sure = found is not None and found["sure"]
        open_ += not sure
        if better is None or row["flips"]:
            said = words if better is None else names[printable(better)] + words.removeprefix(better)
            flips.append(f"{one} and {other}: {said}")
        elif sure and found is not None:
            first, second = (one, other) if better == row["a"] else (other, one)
            span = f"[{number(found['low'])}, {number(found['high'])}]"
            settled.append(f"{first} before {second}: {signed(found['difference'])} {span}")
    every = counted(len(rows), "pair")
    why = "the interval excludes 0 and no choice flips it"
    head = f"Settled: {len(settled):,} of {every} ({why})" if rows else "Settled: nothing, there is no pair of arms"
    if study.no_intervals is not None:
        head += f"; no intervals: {study.no_intervals}"
    elif open_:
        head += f"; of {counted(open_, 'pair')} the interval holds 0"
    return (head, settled), (f"Flips under another choice: {len(flips):,} of {every}", flips)


def _shown(frame: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Return each pair both ways round, the worse minus the better, and whether its interval excludes 0."""
    found = {}
    for row in frame.iter_rows(named=True):
        low, high, apart = row["low"], row["high"], row["difference"]
        sure = low is not None and (low > 0 or high < 0)
        # Smaller scores are better: turned so that the difference is how much the better one is ahead.
        ends = (low, high) if apart is None or apart > 0 or low is None else (-high, -low)
        fact = {"sure": sure, "difference": None if apart is None else abs(apart), "low": ends[0], "high": ends[1]}
        found[row["a"], row["b"]] = found[row["b"], row["a"]] = fact
    return found


def _broken(analysis: Analysis, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """Say what is wrong with the runs: alarms, what is missing, and per arm what failed, was rejected or came late."""
    study = analysis.study
    found = [f"ALARM {alarm}" for alarm in study.alarms]
    if study.coverage.short:
        found.append(str(study.coverage))
    if study.left_out:
        found.append(f"{counted(len(study.left_out), 'instance')} left out, because they cannot be scored")
    if problems := study.campaign.diagnostics.problem_count:
        found.append(f"{counted(problems, 'problem')} while reading")
    for row in analysis.health.frame.iter_rows(named=True):
        counts = [
            *(f"{row[name]:,} {words}" for name, words in (("crashed", "crashed or killed"), ("empty", "empty"))
              if row[name]),
            *(f"{counted(row[name], 'candidate')} {name}" for name in ("rejected", "late", "unchecked") if row[name]),
        ]  # fmt: skip
        if counts:
            arm = printable(row["arm"])
            found.append(f"{names.get(arm, arm)}, of {counted(row['runs'], 'run')}: {', '.join(counts)}")
    # In no order of weight after what is above: notes are facts to know, most of them no fault.
    found += [f"note: {note}" for note in study.notes()]
    return ("Broken, or to know" if found else "Broken: nothing that is known", found)


def _section(head: str, items: Sequence[str], *, room: int, most: int, more: str) -> list[str]:
    """Return a head and as many of its items as there is room for, whole ones, and how many there are more."""
    lines = ["", *wrapped(printable(head), room, hang="  ")]
    for place, item in enumerate(items):
        text = wrapped(f"  {printable(item)}", room, hang="    ")
        left = len(items) - place
        # The last line is kept for what is left, unless nothing is.
        room_left = most - len(lines) - (left > 1)
        if len(text) > room_left and place:
            return [*lines, f"  and {left:,} more: {more}"]
        lines += text if len(text) <= room_left else [*text[: max(1, room_left - 1)], f"    … {more}"]
    return lines


def _first(lines: Iterable[str], most: int, more: str) -> list[str]:
    """Return the first lines of a paragraph behind a blank one, and where the rest is."""
    found = list(lines)
    if len(found) <= most - 1:
        return ["", *found]
    return ["", *found[: most - 2], f"  … {more}"]
