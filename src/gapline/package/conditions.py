"""The conditions of two studies, fact by fact: machine, versions and fairness of the measurement."""

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
class RecordedFacts:
    """Machine and version facts from the orders of a study's runs, and the file digests of each arm."""

    facts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    programs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def read_recorded(study: Path) -> RecordedFacts:
    """Read the orders in the journals of a study; unreadable ones are skipped."""
    found = RecordedFacts()
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
    old: Study, new: Study, said: tuple[RecordedFacts, RecordedFacts] = (RecordedFacts(), RecordedFacts()), /
) -> tuple[Condition, ...]:
    """Return the facts of the compared runs, identical ones included: readers want to know what was compared."""
    runs = (old.envelopes.runs, new.envelopes.runs)
    rows: list[tuple[str, ...]] = [(MACHINE, "machine", *(_words(frame, "machine") for frame in runs))]
    rows += [(kind, name, *(_joined(record.facts.get(name, ())) for record in said)) for name, kind in _FACTS.items()]
    for arm in sorted(set(runs[0]["arm"])):
        mine = [frame.filter(pl.col("arm") == arm) for frame in runs]
        solvers = (" ".join(filter(None, (_words(frame, "solver"), _words(frame, "solver_version")))) for frame in mine)
        rows.append((VERSIONS, f"solver of {arm}", *solvers))
        rows.append((VERSIONS, f"threads of {arm}", *(_words(frame, "threads") for frame in mine)))
        files = [record.programs.get(arm, set()) for record in said]
        if all(files) and files[0] != files[1]:
            rows.append((VERSIONS, f"files of {arm}", *(_joined(one[:19] for one in sorted(some)) for some in files)))
    rows.append((VERSIONS, "checker", old.checker or "", new.checker or ""))
    # Only runs that gapline supervised record disturbances.
    if all("disturbed" in frame.columns for frame in runs):
        fairness = [summarise_fairness(frame.iter_rows(named=True)) for frame in runs]
        rows += [(FAIRNESS, what, *map(words, fairness)) for what, words in _FAIRNESS]
    return tuple(Condition(kind=kind, what=what, old=one, new=two) for kind, what, one, two in rows if one or two)


def count_disturbed(study: Study) -> int:
    """Return how many runs were disturbed, as far as it was recorded."""
    runs = study.envelopes.runs
    return 0 if "disturbed" not in runs.columns else runs.filter(pl.col("disturbed").fill_null("") != "").height


def _number(value: float | None, factor: float, unit: str) -> str:
    return "" if value is None else f"{factor * value:.2f}{unit}"


def _words(runs: pl.DataFrame, name: str) -> str:
    return _joined(recorded(runs, name))


def _joined(values: Iterable[str]) -> str:
    return " and ".join(sorted(set(values)))


_FAIRNESS: tuple[tuple[str, Callable[[Fairness], str]], ...] = (
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
