"""Ladders of settings: which arms are steps of one ladder, as their runs record it or the contract declares it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from gapline.errors import TraceError
from gapline.text import natural_order

if TYPE_CHECKING:
    from gapline.contract.contract import Arm

LADDER, LADDER_STEP = "ladder", "ladder_step"
Setting = str | int | float | bool
Step = dict[str, Setting]


def ladder_record(arm: "Arm") -> dict[str, str]:
    """Return the columns of the runs table for the ladder and step of an arm; empty if it is no step."""
    if not arm.steps:
        return {}
    return {LADDER: arm.step_of, LADDER_STEP: json.dumps(arm.steps, ensure_ascii=False)}


def find_ladders(runs: pl.DataFrame, declared: "Iterable[Arm]" = ()) -> dict[str, dict[str, Step]]:
    """Return the ladders by name: arm -> settings, smallest step first.

    What the runs record takes precedence; `declared` arms of a contract add steps for arms without runs, and for runs
    of older versions, which record no step. An arm whose runs record several steps belongs to no ladder. A ladder is
    named after the settings that it varies, and also after its entry in the contract if another one varies the same.

    >>> steps = pl.DataFrame({"arm": ["a10", "a2", "b"], "ladder": ["a{n}", "a{n}", None],
    ...                       "ladder_step": ['{"n": 10}', '{"n": 2}', None]})
    >>> find_ladders(steps)
    {'n': {'a2': {'n': 2}, 'a10': {'n': 10}}}
    """
    recorded = _recorded(runs)
    members = {arm.name: (arm.step_of, dict(arm.steps)) for arm in declared if arm.steps and arm.name not in recorded}
    members |= {arm: found[0] for arm, found in recorded.items() if len(found) == 1}
    ladders: dict[tuple[str, tuple[str, ...]], dict[str, Step]] = {}
    for arm, (ladder, step) in members.items():
        ladders.setdefault((ladder, tuple(step)), {})[arm] = step
    names = ladder_names(ladders)
    return {
        names[key]: dict(sorted(ladders[key].items(), key=lambda member: _place(*member)))
        for key in sorted(ladders, key=lambda key: natural_order(names[key]))
    }


def ladder_names(ladders: Iterable[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, tuple[str, ...]], str]:
    """Name ladders, each given by its entry in the contract and the settings that it varies.

    >>> list(ladder_names([("a {n}", ("n",)), ("b {m}", ("m",)), ("c {m}", ("m",))]).values())
    ['n', 'm (b {m})', 'm (c {m})']
    """
    known = list(ladders)
    varied = [settings for _, settings in known]
    return {
        (entry, settings): ", ".join(settings) + (f" ({entry})" if varied.count(settings) > 1 else "")
        for entry, settings in known
    }


def with_ladders(runs: pl.DataFrame, declared: "Sequence[Arm]") -> pl.DataFrame:
    """Add the ladder steps that a contract declares to runs that record none."""
    recorded = _recorded(runs)
    new = {arm.name: ladder_record(arm) for arm in declared if arm.steps and arm.name not in recorded}
    if not set(new) & set(runs["arm"].unique()):
        return runs
    for name in (LADDER, LADDER_STEP):
        stated = pl.col("arm").replace_strict(
            {arm: record[name] for arm, record in new.items()}, default=None, return_dtype=pl.String
        )
        known = pl.col(name).cast(pl.String) if name in runs.columns else pl.lit(None, pl.String)
        runs = runs.with_columns(pl.coalesce(known, stated).alias(name))
    return runs


def _recorded(runs: pl.DataFrame) -> dict[str, list[tuple[str, Step]]]:
    """Return the steps that the runs of each arm record."""
    if any(runs.schema.get(name) != pl.String for name in (LADDER, LADDER_STEP)):
        return {}
    found: dict[str, list[tuple[str, Step]]] = {}
    stated = runs.select("arm", LADDER, LADDER_STEP).drop_nulls().unique().sort("arm", LADDER, LADDER_STEP)
    for arm, ladder, text in stated.iter_rows():
        found.setdefault(arm, []).append((ladder, _read_step(text, arm)))
    return found


def _read_step(text: str, arm: str) -> Step:
    try:
        step = json.loads(text)
    except (ValueError, RecursionError):
        step = None
    if isinstance(step, dict) and step and all(isinstance(value, Setting) for value in step.values()):
        return step
    raise TraceError(f'ladder_step of {arm}: expected settings as a JSON object, such as {{"slices": 5}}, got {text!r}')


def _place(arm: str, step: Mapping[str, Setting]) -> tuple[object, ...]:
    """Return the sort key of a step: its settings, numbers before text, then the name of the arm."""
    places: list[tuple[object, ...]] = [
        (1, 0.0, natural_order(str(value))) if isinstance(value, str | bool) else (0, value, [])
        for value in step.values()
    ]
    return (*places, natural_order(arm))
