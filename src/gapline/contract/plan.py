"""`Plan`: every cell (arm × instance × seed) that a contract asks for, or the part of it that a replication runs.

`evaluation_design` and `panel_design` summarise it: how many runs of which arms, on what, for how long.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import msgspec
import polars as pl

from gapline.contract.contract import Arm, Contract, Instance, ReplicatesTable, Where
from gapline.contract.expansion import chosen, fits, fits_size, idle_patterns, seed_list
from gapline.contract.ladders import ladder_names
from gapline.contract.layout import JOURNALS, slug
from gapline.contract.names import parse_weight, split_python_name
from gapline.contract.tables import DESIGN, PANEL_DESIGN, RunKey
from gapline.errors import UsageError


@dataclass(frozen=True, slots=True)
class Cell:
    """One planned run; `position` is its place in the order of the campaign."""

    arm: Arm
    instance: Instance
    seed: int
    horizon: float
    threads: int = 1
    memory: int | None = None
    position: int = 0

    @property
    def key(self) -> RunKey:
        """The identity of the run."""
        return RunKey(self.arm.name, self.instance.name, self.seed)

    def directory(self, study: Path) -> Path:
        """The directory of the cell's attempts."""
        return study / JOURNALS / slug(self.key)


class Allotment(NamedTuple):
    """The settings of an arm's runs on an instance."""

    seeds: list[int]
    horizon: float
    threads: int
    memory: int | None


def allot(contract: Contract, arm: Arm, instance: Instance) -> Allotment:
    """Return the settings of an arm on an instance: the study's, the instance's, the arm's, then each `where`."""
    given: dict[str, Any] = {"seeds": contract.seeds}
    given |= {name: getattr(contract.time, name) for name in ("horizon", "threads", "memory")}
    fitting = [
        rule
        for rule in contract.where
        if fits(arm.name, rule.arm)
        and fits(instance.panel, rule.panel)
        and fits(instance.name, rule.instance)
        and fits_size(instance.size, rule.size)
    ]
    for level in (instance, arm, *fitting):
        given |= {name: value for name in Allotment._fields if (value := getattr(level, name)) is not None}
    return Allotment(seed_list(given["seeds"]), float(given["horizon"]), given["threads"], given["memory"])


@dataclass(frozen=True, slots=True)
class Plan:
    """Every cell that a contract asks for, whether it was run or not."""

    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, contract: Contract) -> Self:
        """Plan the cells, seeds outermost and arms innermost: a campaign that is cut short is still balanced."""
        given = {
            (one.name, arm.name): allot(contract, arm, one)
            for one in contract.instances
            for arm in contract.arms
            if chosen(arm, one)
        }
        # By position in the list of seeds: the third seed of one instance comes with the third of another.
        most = max((len(what.seeds) for what in given.values()), default=0)
        return cls(
            tuple(
                Cell(arm, one, what.seeds[turn], what.horizon, what.threads, what.memory)
                for turn in range(most)
                for one in contract.instances
                for arm in contract.arms
                if (what := given.get((one.name, arm.name))) is not None and turn < len(what.seeds)
            )
        )

    def keys(self) -> frozenset[RunKey]:
        """Return the identities of the planned runs."""
        return frozenset(cell.key for cell in self.cells)

    @property
    def digest(self) -> str:
        """The sha256 of the cells and their horizons, independent of their order in the contract."""
        allotted = {(cell.threads, cell.memory) for cell in self.cells}
        # Threads and memory that are the same for all runs belong to the contract; only differences change the plan.
        own = len(allotted) > 1
        facts = sorted([*cell.key, cell.horizon, *((cell.threads, cell.memory) if own else ())] for cell in self.cells)
        return "sha256:" + hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def default_order_seed(contract: Contract) -> int:
    """Return the default seed for the order of a study's cells, derived from the study's name."""
    return int.from_bytes(hashlib.sha256(contract.study.name.encode()).digest()[:4])


def shuffle_cells(cells: Sequence[Cell], order_seed: int) -> list[Cell]:
    """Shuffle the cells within each seed of the solvers, and number them.

    Machines drift, which in a fixed order would favour an arm. The seeds stay in sequence, so that a campaign that is
    cut short is still balanced. Sorted by a hash of names and seed, so that the order is the same on any machine.
    """
    blocks = {seed: place for place, seed in enumerate(dict.fromkeys(cell.seed for cell in cells))}

    def place(cell: Cell) -> tuple[int, bytes]:
        return blocks[cell.seed], hashlib.sha256(msgspec.json.encode([order_seed, *cell.key])).digest()

    return [replace(cell, position=position) for position, cell in enumerate(sorted(cells, key=place), start=1)]


def resolve_program(arm: Arm, study: Path) -> Arm:
    """Return the arm with a program such as `./mine` resolved in the study directory, where its runs start."""
    if not arm.command or "/" not in arm.command[0] or arm.command[0].startswith("/"):
        return arm
    return arm.model_copy(update={"command": [str(study / arm.command[0]), *arm.command[1:]]})


Entry = TypeVar("Entry", Instance, Arm, Where)


def replicated_part(contract: Contract) -> Contract:
    """Return the part of a contract that a replication runs; without `[replicates]`, the whole contract."""
    part = contract.replicates
    if part is None:
        return contract
    arms = [one for one in contract.arms if fits(one.name, part.arms)]
    names = {arm.name for arm in arms}
    scaled = {"horizon": contract.time.horizon * part.horizon_scale}
    instances = [one for one in contract.instances if fits(one.panel, part.panels)]
    # A contrast with an arm that is not run cannot be tested.
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
    """Report each pattern or seed of `[replicates]` that matches nothing, and horizons too short for the weight."""
    part = contract.replicates
    if part is None:
        return
    panels = list(dict.fromkeys(one.panel for one in contract.instances))
    for kind, known in (("arms", [arm.name for arm in contract.arms]), ("panels", panels)):
        what = f"the name of {'an arm' if kind == 'arms' else 'a panel'}"
        yield from idle_patterns(f"replicates.{kind}", getattr(part, kind), known, what)
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
    """Return the transforms without rules for instances that are not run; unused rules would be refused."""
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
    """Return an entry with the kept seeds and the scaled horizon, if it states these."""
    changes: dict[str, Any] = {}
    if entry.horizon is not None:
        changes["horizon"] = entry.horizon * part.horizon_scale
    if entry.seeds is not None and part.seeds:
        changes["seeds"] = _kept(seed_list(entry.seeds), part)
    return entry.model_copy(update=changes) if changes else entry


def evaluation_design(contract: Contract, plan: Plan, /) -> pl.DataFrame:
    """Return one row for each tier, and for each ladder of settings, of the planned runs.

    Where runs differ, a column lists the values: `seeds` "5 or 10" means five on some instances and ten on others.
    """
    groups: dict[tuple[int, str, tuple[str, ...]], list[Cell]] = {_group(arm): [] for arm in contract.arms}
    for cell in plan.cells:
        groups[_group(cell.arm)].append(cell)
    # Arms of tier 1 first, then tier 2, then ladders, each in the order of the contract.
    ordered = sorted(groups.items(), key=lambda group: (bool(group[0][2]), group[0][0]))
    names = ladder_names((entry, steps) for _, entry, steps in groups if steps)
    rows = [
        _row(f"{names[entry, steps]} ladder" if steps else f"tier {tier}", steps, cells)
        for (tier, entry, steps), cells in ordered
        if cells
    ]
    return pl.DataFrame(rows, schema=DESIGN, orient="row")


def panel_design(plan: Plan, /) -> pl.DataFrame:
    """Return one row per panel, in the order of the contract."""
    panels: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        panels.setdefault(cell.instance.panel, []).append(cell)
    rows = []
    for panel, cells in panels.items():
        sizes = sorted({cell.instance.size for cell in cells if cell.instance.size is not None})
        seeds = Counter((cell.arm.name, cell.instance.name) for cell in cells)
        instances, arms = (len({run[part] for run in seeds}) for part in (1, 0))
        between = " to ".join(map(str, dict.fromkeys([*sizes[:1], *sizes[-1:]])))
        rows.append((panel, instances, between, _several(seeds.values(), joined=" or "), arms, len(cells)))
    return pl.DataFrame(rows, schema=PANEL_DESIGN, orient="row")


def _group(arm: Arm) -> tuple[int, str, tuple[str, ...]]:
    """Return the tier of an arm, or for the step of a ladder its entry and the settings that vary."""
    return (0, arm.step_of, tuple(arm.steps)) if arm.steps else (arm.tier, "", ())


def _row(evidence: str, steps: tuple[str, ...], cells: Sequence[Cell]) -> tuple[object, ...]:
    arms = {cell.arm.name: cell.arm for cell in cells}
    each = Counter(cell.arm.name for cell in cells)
    seeds = Counter((cell.arm.name, cell.instance.name) for cell in cells)
    values = {name: _several(arm.steps[name] for arm in arms.values()) for name in steps}
    return (
        evidence,
        len(arms),
        "; ".join(f"{name} {value}" for name, value in values.items()),
        _several(each.values()),
        len(cells),
        len({cell.instance.name for cell in cells}),
        len({cell.instance.panel for cell in cells}),
        _several(seeds.values(), joined=" or "),
        _several((cell.horizon for cell in cells), unit=" s"),
        _several(cell.threads for cell in cells),
        _several((cell.memory for cell in cells if cell.memory is not None), unit=" MB"),
    )


def _several(values: Iterable[object], *, joined: str = ", ", unit: str = "") -> str:
    """Return the distinct values as text, numbers in increasing order."""
    found = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) for value in found):
        found.sort(key=lambda value: float(str(value)))
    words = [f"{value:,.10g}" if isinstance(value, int | float) else str(value) for value in found]
    return joined.join(words) + unit if words else ""
