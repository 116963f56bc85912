"""Under what two studies were measured, fact by fact: machine, versions, how fair the measurement was."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import polars as pl

from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.fairness import Fairness, summarise_fairness
from gapline.journal.records import read_order
from gapline.report.facts import recorded
from gapline.study import Study
from gapline.study.replication import DISTURBED, Condition

MACHINE, VERSIONS, FAIRNESS = "machine", "versions", "fairness"
_FACTS = {"processor": MACHINE, "cores": MACHINE, "memory": MACHINE, "system": MACHINE} | dict.fromkeys(
    ("python", "gapline"), VERSIONS
)


@dataclass(slots=True)
class Recorded:
    """What the orders of a study's runs say of machine and versions, and of the files of each arm, by their digests."""

    facts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    programs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def read_recorded(study: Path) -> Recorded:
    """Read the orders in the journals of a study; one that cannot be read says nothing."""
    found = Recorded()
    for cell in cells_of(study):
        for attempt in attempts_of(cell):
            try:
                order = read_order(attempt)
            except (OSError, ValueError, msgspec.MsgspecError):
                continue
            for name in _FACTS:
                if name in order.machine:
                    found.facts[name].add(order.machine[name])
            found.programs[order.arm].update(order.programs.values())
    return found


def conditions(
    old: Study, new: Study, said: tuple[Recorded, Recorded] = (Recorded(), Recorded()), /
) -> tuple[Condition, ...]:
    """Return the facts of the compared runs, those that are alike too: who reads wants to know what was looked at."""
    runs = (old.envelopes.runs, new.envelopes.runs)
    rows = [Condition(kind=MACHINE, what="machine", old=_words(runs[0], "machine"), new=_words(runs[1], "machine"))]
    for name, kind in _FACTS.items():
        one, two = (_joined(record.facts.get(name, ())) for record in said)
        rows.append(Condition(kind=kind, what=name, old=one, new=two))
    for arm in sorted(set(runs[0]["arm"])):
        mine = [frame.filter(pl.col("arm") == arm) for frame in runs]
        one, two = (" ".join(filter(None, (_words(f, "solver"), _words(f, "solver_version")))) for f in mine)
        rows.append(Condition(kind=VERSIONS, what=f"solver of {arm}", old=one, new=two))
        rows.append(
            Condition(
                kind=VERSIONS, what=f"threads of {arm}", old=_words(mine[0], "threads"), new=_words(mine[1], "threads")
            )
        )
        one, two = (_joined(record.programs.get(arm, ())) for record in said)
        if one != two and one and two:
            rows.append(Condition(kind=VERSIONS, what=f"files of {arm}", old=_short(one), new=_short(two)))
    rows.append(Condition(kind=VERSIONS, what="checker", old=old.checker or "", new=new.checker or ""))
    rows += _fairness(
        *(summarise_fairness(frame.iter_rows(named=True)) for frame in runs if "disturbed" in frame.columns)
    )
    return tuple(row for row in rows if row.old or row.new)


def count_disturbed(study: Study) -> int:
    """Return how many runs others disturbed, as far as anybody looked."""
    runs = study.envelopes.runs
    return 0 if "disturbed" not in runs.columns else runs.filter(pl.col("disturbed").fill_null("") != "").height


def _fairness(*both: Fairness) -> Iterable[Condition]:
    # Only runs that gapline supervised record how they were disturbed.
    if len(both) < 2:
        return
    facts: tuple[tuple[str, Callable[[Fairness], str]], ...] = (
        (DISTURBED, lambda one: f"{one.disturbed} of {one.runs}"),
        ("pinned runs", lambda one: f"{one.pinned} of {one.runs}"),
        ("CPU share, median", lambda one: _number(one.cpu_share, 1, "")),
        ("others' share of the cores, worst", lambda one: _number(one.foreign_share, 100, " %")),
        ("jitter of the stamps, worst", lambda one: _number(one.jitter, 1000, " ms")),
        ("overshoot, worst", lambda one: _number(one.overshoot, 1000, " ms")),
        ("governor", lambda one: _joined(one.governors)),
        ("boost", lambda one: _joined(one.boost)),
        ("limits kept by", lambda one: _joined(name.partition(":")[0] for name in one.limits)),
    )
    for what, words in facts:
        yield Condition(kind=FAIRNESS, what=what, old=words(both[0]), new=words(both[1]))


def _number(value: float | None, factor: float, unit: str) -> str:
    return "" if value is None else f"{factor * value:.2f}{unit}"


def _words(runs: pl.DataFrame, name: str) -> str:
    return _joined(recorded(runs, name))


def _joined(values: Iterable[str]) -> str:
    return " and ".join(sorted(set(values)))


def _short(digests: str) -> str:
    return " and ".join(digest[:19] for digest in digests.split(" and "))
