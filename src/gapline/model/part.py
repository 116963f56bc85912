"""The part of a contract that a replication runs: some arms, panels and seeds, at horizons that may be scaled.

The contract itself stays as it was packed, word for word; its table `[replicates]` says what of it is run.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from gapline.errors import UsageError
from gapline.model.contract import Arm, Contract, Instance, ReplicatesTable, Where
from gapline.model.expand import fits, seed_list
from gapline.model.mistakes import suggestion
from gapline.model.names import parse_weight, split_python_name

Entry = TypeVar("Entry", Instance, Arm, Where)


def replicated_part(contract: Contract) -> Contract:
    """Return the contract of what is run: all of it where it replicates nothing."""
    part = contract.replicates
    if part is None:
        return contract
    arms = [one for one in contract.arms if fits(one.name, part.arms)]
    names = {arm.name for arm in arms}
    scaled = {"horizon": contract.time.horizon * part.horizon_scale}
    instances = [one for one in contract.instances if fits(one.panel, part.panels)]
    # A contrast with an arm that is not run cannot be looked at: it is none of this study.
    pairs = [pair for pair in contract.aggregate.contrasts if names.issuperset(pair)]
    return contract.model_copy(
        update={
            "seeds": _kept(contract.seeds, part),
            "time": contract.time.model_copy(update=scaled),
            "aggregate": contract.aggregate.model_copy(update={"contrasts": pairs}),
            "objective": contract.objective.model_copy(update={"transform": _transforms(contract, instances)}),
            "instances": [_allotted(one, part) for one in instances],
            "arms": [_allotted(one, part) for one in arms],
            "where": [_allotted(one, part) for one in contract.where],
        }
    )


def part_mistakes(contract: Contract) -> Iterator[str]:
    """Name each pattern of `[replicates]` that nothing fits, and what would leave nothing to run."""
    part = contract.replicates
    if part is None:
        return
    panels = list(dict.fromkeys(one.panel for one in contract.instances))
    for kind, known in (("arms", [arm.name for arm in contract.arms]), ("panels", panels)):
        for pattern in getattr(part, kind):
            if not any(fits(name, pattern) for name in known):
                what = f"the name of {'an arm' if kind == 'arms' else 'a panel'}"
                near = suggestion(pattern, known)
                yield f"replicates.{kind}: expected {what}, got {pattern!r}, which none fits{near}"
    seeds = sorted(planned_seeds(contract))
    for seed in part.seeds:
        if seed not in seeds:
            yield f"replicates.seeds: expected seeds of the contract ({', '.join(map(str, seeds))}), got {seed}"
    weight = contract.score.weight
    if split_python_name(weight) is None:
        levels = (*contract.instances, *contract.arms, *contract.where)
        stated = [contract.time.horizon, *(level.horizon for level in levels if level.horizon is not None)]
        try:
            parse_weight(weight).check_horizons([horizon * part.horizon_scale for horizon in stated])
        except UsageError as error:
            yield f"replicates.horizon_scale: {error.message}"


def planned_seeds(contract: Contract) -> set[int]:
    """Return every seed that a contract names anywhere."""
    own = [level.seeds for level in (*contract.instances, *contract.arms, *contract.where) if level.seeds is not None]
    return {seed for seeds in (contract.seeds, *own) for seed in seed_list(seeds)}


def _transforms(contract: Contract, instances: list[Instance]) -> str | list[str]:
    """Return the transforms without rules for instances that are not run: an idle rule is refused as a slip."""
    given = contract.objective.transform
    if isinstance(given, str):
        return given
    return [rule for rule in given if "=" not in rule or any(_is_meant(rule, one) for one in instances)]


def _is_meant(rule: str, instance: Instance) -> bool:
    pattern = rule.rpartition("=")[0]
    panel = pattern.removeprefix("panel:")
    return fits(instance.name, pattern) if panel == pattern else fits(instance.panel, panel)


def _kept(seeds: list[int], part: ReplicatesTable) -> list[int]:
    return [seed for seed in seeds if not part.seeds or seed in part.seeds]


def _allotted(entry: Entry, part: ReplicatesTable) -> Entry:
    """Return what some runs are given, with the seeds that are kept and the horizon scaled, where it states these."""
    changes: dict[str, Any] = {}
    if entry.horizon is not None:
        changes["horizon"] = entry.horizon * part.horizon_scale
    if entry.seeds is not None and part.seeds:
        changes["seeds"] = _kept(seed_list(entry.seeds), part)
    return entry.model_copy(update=changes) if changes else entry
