"""Origins of facts about runs: a journal, a log, a file, the contract, an option, or not stated.

A campaign keeps them in the column `origins` of its runs, as text such as `clock=log; horizon=option`. A fact that is
not listed there was recorded by the runner if the run has an attempt; otherwise it is a column of the file.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

import polars as pl

from gapline.contract.time_scale import is_scaled


class FactOrigin(StrEnum):
    """Where a fact comes from."""

    JOURNAL = "journal"
    LOG = "log"
    FILE = "file"
    CONTRACT = "contract"
    OPTION = "option"
    NOT_STATED = "not stated"


COLUMN = "origins"
# Beginnings of notes: on a plan that was registered too late, and on a declaration that changed later.
LATE_PLAN, CHANGED = "the plan was registered after the runs began", "changed after the first run"
# The facts and their columns of the runs. `announced` is the solver's horizon, which may differ from the scored one.
FACTS = {
    "clock": "clock",
    "horizon": "announced",
    "validation": "validation",
    "sense": "sense",
    "threads": "threads",
    "machine": "machine",
}


def write_origins(origins: Mapping[str, FactOrigin]) -> str:
    """Return origins as text for the column.

    >>> write_origins({"horizon": FactOrigin.OPTION, "clock": FactOrigin.LOG})
    'clock=log; horizon=option'
    """
    return "; ".join(f"{fact}={origin.value}" for fact, origin in sorted(origins.items()))


def read_origins(text: str | None) -> dict[str, FactOrigin]:
    """Return the origins that the column states for a run; unknown words are left out.

    >>> read_origins("clock=log; horizon=option; sense=?")
    {'clock': <FactOrigin.LOG: 'log'>, 'horizon': <FactOrigin.OPTION: 'option'>}
    """
    pairs = (part.partition("=") for part in (text or "").split("; "))
    known = set(FactOrigin)
    return {fact: FactOrigin(origin) for fact, _, origin in pairs if origin in known}


def set_origin(runs: pl.DataFrame, fact: str, origin: FactOrigin, rows: pl.Series | None = None) -> pl.DataFrame:
    """Return the runs with the origin of a fact set for some of them, or for all.

    >>> set_origin(pl.DataFrame({"origins": ["clock=log"]}), "sense", FactOrigin.OPTION)["origins"][0]
    'clock=log; sense=option'
    """
    before = runs[COLUMN] if COLUMN in runs.columns else pl.Series(COLUMN, [None] * runs.height, dtype=pl.String)
    # There are few distinct texts, whatever the number of runs.
    texts = {text: write_origins(read_origins(text) | {fact: origin}) for text in before.unique()}
    after = pl.Series(COLUMN, [texts[text] for text in before], dtype=pl.String)
    return runs.with_columns(after if rows is None else after.zip_with(rows, before).alias(COLUMN))


def find_origins(
    runs: pl.DataFrame, *, given: Collection[str] = (), declared: Collection[str] = ()
) -> dict[str, tuple[FactOrigin, ...]]:
    """Return the origins of each fact among the runs; `given` (option) or `declared` (contract) fill in missing ones.

    >>> runs = pl.DataFrame({"announced": [9.0, None], "clock": ["wall", None], "origins": ["clock=log", None]})
    >>> found = find_origins(runs, given=["horizon"])
    >>> [[origin.value for origin in found[fact]] for fact in ("clock", "horizon", "sense")]
    [['log', 'not stated'], ['file', 'option'], ['not stated']]
    """
    otherwise = dict.fromkeys(declared, FactOrigin.CONTRACT) | dict.fromkeys(given, FactOrigin.OPTION)
    ours = runs["attempt"].is_not_null() if "attempt" in runs.columns else pl.Series([False] * runs.height)
    stated = runs[COLUMN] if COLUMN in runs.columns else pl.Series([None] * runs.height, dtype=pl.String)
    found = {}
    for fact, column in FACTS.items():
        there = _stated(runs, column, ours) if column in runs.columns else pl.Series([False] * runs.height)
        kinds = pl.DataFrame({"text": stated, "there": there, "ours": ours}, strict=False).unique().rows()
        each = {_origin(fact, *kind, otherwise=otherwise.get(fact, FactOrigin.NOT_STATED)) for kind in kinds}
        found[fact] = tuple(origin for origin in FactOrigin if origin in each)
    return found


def reading_origins(
    runs: pl.DataFrame, *, given: Collection[str] = (), declared: Collection[str] = ()
) -> dict[str, tuple[FactOrigin, ...]]:
    """Return the origins of the facts under which runs are scored; a horizon that the runs do not state was given."""
    found = find_origins(runs, given={*given, "horizon"}, declared=declared)
    if not is_scaled(runs) and runs.height and (runs["announced"] != runs["horizon"]).all():
        found["horizon"] = (FactOrigin.OPTION,)
    return found


def was_announced(runs: pl.DataFrame) -> bool:
    """Return whether the runner itself announced the horizon of each run, as it does when it starts the solver.

    >>> runs = pl.DataFrame({"attempt": [1], "limits": ["sampled"]})
    >>> was_announced(runs), was_announced(runs.drop("limits"))
    (True, False)
    """
    # A recording of `gapline.record` is an attempt too, but of a solver that another program started.
    columns = ("attempt", "limits")
    return all(name in runs.columns and not runs[name].null_count() for name in columns)


def _stated(runs: pl.DataFrame, column: str, ours: pl.Series) -> pl.Series:
    """Return which runs state a value; outside the runner, `validation` "solver" is the default and states nothing."""
    there = runs[column].is_not_null()
    return there & (ours | (runs[column] != "solver").fill_null(False)) if column == "validation" else there


def _origin(fact: str, text: str | None, there: bool, ours: bool, *, otherwise: FactOrigin) -> FactOrigin:
    said = read_origins(text).get(fact)
    if said is None and there:
        said = FactOrigin.JOURNAL if ours else FactOrigin.FILE
    return otherwise if said in (None, FactOrigin.NOT_STATED) else said
