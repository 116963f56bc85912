"""The summary of an analysis on one screen: what is settled, what another choice flips, what is broken."""

from collections.abc import Iterable, Mapping, Sequence

from gapline.contract.progress import doing
from gapline.report.analysis_tables import TABLES
from gapline.report.facts import make_statements
from gapline.report.numbers import number, signed
from gapline.report.statements.headline import FEW_INSTANCES, is_shown
from gapline.report.statements.remarks import first_lines
from gapline.report.writers.terminal import short_names
from gapline.study.analyse import Analysis
from gapline.terminal import wrapped
from gapline.text import counted, printable

# The lines of a screen, and the most lines of each part.
MOST = 40
_TOP, _HEAD, _SETTLED, _FLIPS, _BROKEN, _TABLES, _READING = 5, 6, 6, 7, 6, 6, 4
_ALARMS = 2


def screenful(analysis: Analysis, room: int, /) -> list[str]:
    """Return the summary in at most one screen of lines, each at most `room` columns wide."""
    doing("comparing the arms")
    study, said = analysis.study, make_statements(analysis.study)
    first = first_lines(study.alarms[:_ALARMS], study.scores[0])
    if (more := len(study.alarms) - _ALARMS) > 0:
        first.insert(_ALARMS, f"and {counted(more, 'more alarm')}")
    texts = [said.headline.text, said.headline.detail]
    top, head = (
        [line for text in part for line in wrapped(printable(text), room, hang="  ")] for part in (first, texts)
    )
    spare = 0 if top else _TOP // 2
    # Two names and a number fit on a line.
    names = short_names(map(printable, said.order.arms), max(16, (room - 24) // 2))
    settled, flips = _pairs(analysis, said.order.arms, names)
    tables = f"Tables: {', '.join(TABLES)}; --table NAME prints one, --all every one."
    return [
        *(_first(top, _TOP, "more") if top else []),
        *_first(head, _HEAD, "more"),
        *_section(*settled, room=room, most=_SETTLED + spare, more="--table contrasts"),
        *_section(*flips, room=room, most=_FLIPS + spare, more="--table robustness"),
        *_section(*_broken(analysis, names), room=room, most=_BROKEN, more="--table health, --all"),
        *_first(wrapped(tables, room, hang="  "), _TABLES, "--table ? lists them all"),
        *_first(wrapped(printable(f"Reading: {analysis.study.reading.line()}."), room, hang="  "), _READING, "--json"),
    ]


def _pairs(
    analysis: Analysis, order: Sequence[str], names: Mapping[str, str]
) -> tuple[tuple[str, list[str]], tuple[str, list[str]]]:
    """List the pairs that are settled under every choice, and those that a choice flips; best arms first."""
    study, ranking = analysis.study, analysis.study.ranking
    pairs = {} if study.contrasts is None else {(row["a"], row["b"]): row for row in study.contrasts.frame.to_dicts()}
    doing("varying the choices")
    settled, flips, open_, tied = [], [], 0, 0
    place = {arm: k for k, arm in enumerate(order)}
    rows = sorted(analysis.robustness.summary.to_dicts(), key=lambda row: sorted((place[row["a"]], place[row["b"]])))
    few = study.instance_set.instances <= FEW_INSTANCES
    for row in rows:
        one, other = (names[printable(row[name])] for name in ("a", "b"))
        pair = pairs.get((row["a"], row["b"])) or pairs.get((row["b"], row["a"])) or {}
        apart = ranking is not None and frozenset((row["a"], row["b"])) in ranking.distinguished
        sure = not few and is_shown(pair, study.level, distinguished=apart)
        tied += row["better"] is None
        open_ += row["better"] is not None and not sure
        if row["flips"]:
            lower = names[printable(row["better"])]
            flips.append(f"{one} and {other}: {lower}{row['text'].removeprefix(row['better'])}")
        elif sure and not study.alarms:
            first, second = (one, other) if row["better"] == row["a"] else (other, one)
            # Smaller scores are better: this is the excess of the second arm.
            low, high = sorted(abs(pair[end]) for end in ("low", "high"))
            span = f"[{number(low)}, {number(high)}]"
            settled.append(f"{first} before {second}: {signed(abs(pair['difference']))} {span}")
    every = counted(len(rows), "pair")
    why = "the interval excludes 0, Holm-adjusted, and no choice flips it"
    head = f"Settled: {len(settled):,} of {every} ({why})" if rows else "Settled: nothing, there is no pair of arms"
    if study.why_unranked is not None:
        head = "Settled: nothing, the arms are not ranked"
    elif study.alarms:
        head += "; an integrity alarm settles nothing"
    elif few and rows:
        head += f"; {counted(study.instance_set.instances, 'instance')} only"
    elif study.no_intervals is not None:
        head += f"; no intervals: {study.no_intervals}"
    elif open_:
        head += f"; {counted(open_, 'pair')} without a significant difference"
    head += f"; {counted(tied, 'pair')} tied" if tied else ""
    return (head, settled), (f"Flips under another choice: {len(flips):,} of {every}", flips)


def _broken(analysis: Analysis, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """List problems of the runs: missing ones, and per arm failures, rejected and late candidates."""
    study = analysis.study
    found = []
    if study.left_out:
        found.append(f"{counted(len(study.left_out), 'instance')} left out, because they cannot be scored")
    if problems := study.campaign.diagnostics.problem_count:
        found.append(f"{counted(problems, 'problem')} while reading")
    # Changed contracts and omitted runs come before problems that the table of health also shows.
    found += [f"note: {note}" for note in study.remarks]
    # Arms with failed or empty runs come first, since there may be room for only a few lines.
    health = sorted(analysis.health.frame.to_dicts(), key=lambda row: -(row["crashed"] + row["empty"]))
    for row in health:
        counts = [
            *(f"{row[name]:,} {words}" for name, words in (("crashed", "crashed, killed or lost"), ("empty", "empty"))
              if row[name]),
            *(f"{counted(row[name], 'candidate')} {name}" for name in ("rejected", "late", "unchecked") if row[name]),
        ]  # fmt: skip
        if counts:
            arm = printable(row["arm"])
            found.append(f"{names.get(arm, arm)}, of {counted(row['runs'], 'run')}: {', '.join(counts)}")
    # Other notes come last: most of them report facts, not problems.
    said = {*study.remarks, study.scores[0].beaten}
    found += [f"note: {note}" for note in study.notes() if note not in said]
    return ("Broken, or to know" if found else "Broken: nothing that is known", found)


def _section(head: str, items: Sequence[str], *, room: int, most: int, more: str) -> list[str]:
    """Return a head with as many complete items as fit, and the count of the others."""
    lines = ["", *wrapped(printable(head), room, hang="  ")]
    for place, item in enumerate(items):
        text = wrapped(f"  {printable(item)}", room, hang="    ")
        left = len(items) - place
        # Reserve the last line for the count of the others, unless this is the last item.
        room_left = most - len(lines) - (left > 1)
        if len(text) > room_left and place:
            return [*lines, f"  and {left:,} more: {more}"]
        lines += text if len(text) <= room_left else [*text[: max(1, room_left - 1)], f"    … {more}"]
    return lines


def _first(lines: Iterable[str], most: int, more: str) -> list[str]:
    """Return a blank line and the first lines of a paragraph, and where to find the rest."""
    found = list(lines)
    if len(found) <= most - 1:
        return ["", *found]
    return ["", *found[: most - 2], f"  … {more}"]
