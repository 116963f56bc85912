"""Choices that a contract states, the code that they name, and facts that changed after the runs."""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from gapline.contract.choices import choice_fields, find_choice, is_set
from gapline.contract.layout import CAMPAIGN, CARRIED_REFERENCES, CONTRACT_FILE
from gapline.contract.names import WeightCode, check_statistic_name, keep_weight, split_python_name
from gapline.contract.tables import EXACT_MODEL, RUN_KEY, RunKey
from gapline.contract.user_code import refuse_code
from gapline.errors import listing
from gapline.files.open_file import read_document
from gapline.references.policy import Policy
from gapline.scoring.user_functions import Weight, as_weight, load_kernel, load_statistic, load_weight

if TYPE_CHECKING:
    from gapline.contract.contract import Contract
    from gapline.journal.register import Register

Pair = tuple[str, str]
(DEFAULT_KERNEL,) = find_choice("kernels")[1].default
# Fields of a contract about planned runs: the runs themselves record what happened.
_OF_RUNS = ("horizon", "snapshots", "checker")
# Choices of a contract that traces do not record, in the order in which they are printed.
_OF_TRACES = (
    "policy", "kernels", "weight", "weighting", "goals", "transform", "time_scale", "sense", "validation", "contrasts",
    "interval", "level", "draws", "seed", "simultaneous",
)  # fmt: skip


def read_contract(folder: Path | None) -> "tuple[Contract | None, str | None, Register | None]":
    """Read contract and register; a study that was never run, or was run before registers existed, has no register."""
    if folder is None:
        return None, None, None
    from gapline.contract.study_file import load_contract
    from gapline.journal.register import read_register

    contract, register = load_contract(folder), read_register(folder)
    text = read_document(folder / CONTRACT_FILE).decode("utf-8").replace("\r\n", "\n")
    return contract, text, register if register.entries else None


def declared_choices(contract: "Contract | None") -> dict[str, Any]:
    """Return what a contract declares, by the names of `open_study`, and further facts of it."""
    if contract is None:
        return {}
    stated = {
        name: reduce(getattr, field.split("."), contract)
        for field, name in choice_fields().items()
        if name not in _OF_RUNS
    }
    return stated | {
        "kernels": tuple(contract.score.kernels),
        "statistics": tuple(contract.score.statistics),
        "goals": lead_goals(contract.score.goals),
        "transform": contract.transforms,
        "sense": contract.senses,
        "stated_sense": contract.stated_senses,
        "policy": None if contract.reference.policy == "retrospective" else contract.reference.policy,
        "tolerance": contract.reference.tolerance,
        "contrasts": tuple((a, b) for a, b in contract.aggregate.contrasts),
        "tier_two": tuple(arm.name for arm in contract.arms if arm.tier == 2),
        "exact": tuple(arm.name for arm in contract.arms if arm.model == EXACT_MODEL),
        "title": contract.study.title or contract.study.name,
    }


def declared_facts(contract: "Contract | None") -> tuple[str, ...]:
    """Name the facts about runs that a contract states.

    >>> declared_facts(None)
    ()
    """
    if contract is None:
        return ()
    stated = {"sense": contract.stated_senses, "machine": contract.time.machine}
    return ("clock", "horizon", "threads", "validation", *(name for name, value in stated.items() if value))


def score_options(
    contract: "Contract", folder: Path, *, carried: bool = False, arms: Collection[str] | None = None
) -> list[str]:
    """Return the options with which `gapline score` and `analyse` read the traces of a study like the study itself.

    With `carried`, the snapshot is next to the traces and need not be named; `arms` are those in the traces.
    """
    stated = declared_choices(contract)
    present = {arm.name for arm in contract.arms} if arms is None else set(arms)
    compared = present - set(stated["tier_two"])
    stated["contrasts"] = tuple(pair for pair in stated["contrasts"] if compared.issuperset(pair))
    # A snapshot that was known before the runs is labelled so again; maximised runs record it themselves.
    stated["policy"] = stated["policy"] if stated["policy"] in (Policy.ANALYSIS, "both") else None
    stated["sense"] = "min" if {*stated["stated_sense"].values()} == {"min"} else None
    # In the order in which the study itself searches for them.
    places = [folder / contract.reference.snapshot] if contract.reference.snapshot else []
    files = [place for place in (*places, folder / CAMPAIGN / CARRIED_REFERENCES) if place.is_file()]
    options = ["--snapshot", str(files[0])] if files and not carried else []
    for name in _OF_TRACES:
        choice, value = find_choice(name)[1], stated[name]
        option = f"--{(choice.option or name).partition('/')[0].replace('_', '-')}"
        # A direction that is assumed by default is not the same as a stated one.
        if not is_set(value) or (value == choice.default and name != "sense"):
            continue
        if isinstance(value, Mapping):
            value = tuple(f"{key}={factor!r}" for key, factor in value.items())
        for one in value if isinstance(value, tuple) else (value,):
            options += [option] if one is True else [option, *(one if isinstance(one, tuple) else [str(one)])]
    return options


def lead_goals(goals: Sequence[float]) -> tuple[float, ...]:
    """Put the first positive goal first: a goal of 0 would only show which runs found the reference itself."""
    lead = next((goal for goal in goals if goal > 0), None)
    return tuple(goals) if lead is None else (lead, *(goal for goal in goals if goal != lead))


def load_functions(
    folder: Path | None, given: Mapping[str, Any], stated: Mapping[str, Any], noticed: list[str]
) -> tuple[str, ...]:
    """Import the named functions and return the statistics; those of a contract need permission to run."""
    allow_code = given.get("allow_code", False)
    kernels, statistics = given.get("kernels"), given.get("statistics")
    wanted = [name for name in kernels or stated.get("kernels", ()) if split_python_name(name)]
    found = tuple(statistics or stated.get("statistics", ()))
    for name in found:
        check_statistic_name(name)
    if not allow_code and not kernels and wanted:
        refuse_code(wanted, folder, where=f"{folder}/{CONTRACT_FILE}: score.kernel")
    if not allow_code and not statistics and found:
        noticed.append(f"statistics of the contract are left out, as its code may not run: {listing(found)}")
        found = ()
    for name in wanted:
        load_kernel(name, folder=folder if allow_code else None)
    for name in found:
        load_statistic(name, folder=folder if allow_code else None)
    return found


def load_time_weight(folder: Path | None, given: Mapping[str, Any], chosen: Weight) -> str:
    """Return the name of the time weight, and load it if it is a function; a contract's function needs permission."""
    if not isinstance(chosen, str):
        made = as_weight(chosen)
        # Steps with a name of the caller's are registered, since all other code uses the name.
        named = made.code is WeightCode.STEPS and not made.name.startswith("steps:")
        return keep_weight(made).name if named else made.name
    if split_python_name(chosen):
        allow_code = given.get("allow_code", False)
        if not allow_code and "weight" not in given:
            refuse_code([chosen], folder, where=f"{folder}/{CONTRACT_FILE}: score.weight", option="--weight")
        load_weight(chosen, folder=folder if allow_code else None)
    return chosen


# Columns of the runs that record fields of the contract's table [time].
_FIELDS = {"clock": "clock", "charged": "charged", "granularity": "granularity", "machine": "machine_class"}
_BY_CELL = ("threads", "horizon")


def recorded_facts(runs: pl.DataFrame) -> list[str]:
    """Name the fields of [time] that the runner recorded with these runs."""
    if "attempt" not in runs.columns:
        return []
    ours = runs.filter(pl.col("attempt").is_not_null())
    columns = _FIELDS | {name: name for name in _BY_CELL}
    return [name for name, column in columns.items() if column in ours.columns and ours[column].count()]


def contract_changes(contract: "Contract", runs: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the fields of [time] that differ: the value recorded with the runs, and that of the contract today."""
    # Imported here, because a campaign without a contract needs none of it.
    from gapline.contract.plan import Plan

    names = recorded_facts(runs)
    if not names:
        return {}
    ours, changes = runs.filter(pl.col("attempt").is_not_null()), {}
    for name in (name for name in names if name in _FIELDS):
        stated = getattr(contract.time, name)
        if others := [value for value in ours[_FIELDS[name]].drop_nulls().unique().sort() if value != stated]:
            changes[name] = (" and ".join(others), stated or "nothing")
    cells = {cell.key: cell for cell in Plan.of(contract).cells}
    for name in (name for name in names if name in _BY_CELL):
        rows = ours.select(*RUN_KEY, name).drop_nulls().iter_rows()
        pairs = ((value, cells[RunKey(*key)]) for *key, value in rows if RunKey(*key) in cells)
        differing = {(value, stated) for value, cell in pairs if value != (stated := getattr(cell, name))}
        if differing:
            recorded, today = (
                " and ".join(f"{value:g}" for value in sorted(set(side))) for side in zip(*differing, strict=True)
            )
            changes[name] = (recorded, today)
    return changes
