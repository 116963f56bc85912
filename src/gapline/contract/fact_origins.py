"""Who stated a fact about runs: a journal, a log, a file, the contract or an option; or nobody did.

A campaign keeps it in the column `origins` of its runs, as text such as `clock=log; horizon=option`. A fact that is not
listed there was recorded by the runner where the run has an attempt, else it is a column of the file that was read.
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
# How notes begin on a plan that was registered too late, and on what was declared later.
LATE_PLAN, CHANGED = "the plan was registered after the runs began", "changed after the first run"
# The facts, and the columns of the runs that hold them. `announced` is the horizon before another one is scored.
FACTS = {
    "clock": "clock",
    "horizon": "announced",
    "validation": "validation",
    "sense": "sense",
    "threads": "threads",
    "machine": "machine",
}


def write_origins(origins: Mapping[str, FactOrigin]) -> str:
    """Return origins as the column has them.

    >>> write_origins({"horizon": FactOrigin.OPTION, "clock": FactOrigin.LOG})
    'clock=log; horizon=option'
    """
    return "; ".join(f"{fact}={origin.value}" for fact, origin in sorted(origins.items()))


def read_origins(text: str | None) -> dict[str, FactOrigin]:
    """Return the origins that the column has for a run; what is no origin is left out.

    >>> read_origins("clock=log; horizon=option; sense=?")
    {'clock': <FactOrigin.LOG: 'log'>, 'horizon': <FactOrigin.OPTION: 'option'>}
    """
    pairs = (part.partition("=") for part in (text or "").split("; "))
    known = set(FactOrigin)
    return {fact: FactOrigin(origin) for fact, _, origin in pairs if origin in known}


def set_origin(runs: pl.DataFrame, fact: str, origin: FactOrigin, rows: pl.Series | None = None) -> pl.DataFrame:
    """Return the runs with the origin of a fact stated for some of them, or for all.

    >>> set_origin(pl.DataFrame({"origins": ["clock=log"]}), "sense", FactOrigin.OPTION)["origins"][0]
    'clock=log; sense=option'
    """
    before = runs[COLUMN] if COLUMN in runs.columns else pl.Series(COLUMN, [None] * runs.height, dtype=pl.String)
    # Few texts, whatever the number of runs.
    texts = {text: write_origins(read_origins(text) | {fact: origin}) for text in before.unique()}
    after = pl.Series(COLUMN, [texts[text] for text in before], dtype=pl.String)
    return runs.with_columns(after if rows is None else after.zip_with(rows, before).alias(COLUMN))


def find_origins(
    runs: pl.DataFrame, *, given: Collection[str] = (), declared: Collection[str] = ()
) -> dict[str, tuple[FactOrigin, ...]]:
    """Return the origins that each fact has among the runs; `given` by an option or `declared` fill what nobody stated.

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
    """Return the origins of the facts under which runs are scored: a horizon that they do not state was given."""
    found = find_origins(runs, given={*given, "horizon"}, declared=declared)
    if not is_scaled(runs) and runs.height and (runs["announced"] != runs["horizon"]).all():
        found["horizon"] = (FactOrigin.OPTION,)
    return found


def was_announced(runs: pl.DataFrame) -> bool:
    """Say whether the runner itself told the solver its horizon in each of these runs, as it does when it starts one.

    >>> runs = pl.DataFrame({"attempt": [1], "limits": ["sampled"]})
    >>> was_announced(runs), was_announced(runs.drop("limits"))
    (True, False)
    """
    # A recording of `gapline.record` is an attempt too, of a solver that somebody else started.
    columns = ("attempt", "limits")
    return all(name in runs.columns and not runs[name].null_count() for name in columns)


def _stated(runs: pl.DataFrame, column: str, ours: pl.Series) -> pl.Series:
    """Say which runs state something in a column; that candidates count on the solver's word is nobody's statement."""
    there = runs[column].is_not_null()
    return there & (ours | (runs[column] != "solver").fill_null(False)) if column == "validation" else there


def _origin(fact: str, text: str | None, there: bool, ours: bool, *, otherwise: FactOrigin) -> FactOrigin:
    said = read_origins(text).get(fact)
    if said is None and there:
        said = FactOrigin.JOURNAL if ours else FactOrigin.FILE
    return otherwise if said in (None, FactOrigin.NOT_STATED) else said
