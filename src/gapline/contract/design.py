"""The design of a study as its plan says it: how many runs of which arms, on what, for how long."""

from collections import Counter
from collections.abc import Iterable, Sequence

import polars as pl

from gapline.contract.contract import Arm, Contract
from gapline.contract.ladders import ladder_names
from gapline.contract.plan import Cell, Plan
from gapline.contract.tables import DESIGN, PANEL_DESIGN


def evaluation_design(contract: Contract, plan: Plan, /) -> pl.DataFrame:
    """Return one row for each tier, and for each ladder of settings, of the planned runs.

    What differs between runs is a list: `seeds` "5 or 10" says that some instances have five and others ten.
    """
    groups: dict[tuple[int, str, tuple[str, ...]], list[Cell]] = {_group(arm): [] for arm in contract.arms}
    for cell in plan.cells:
        groups[_group(cell.arm)].append(cell)
    # Arms of tier 1 first, ladders after the tiers, in the order of the contract: as they are read.
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
        rows.append(
            {
                "panel": panel,
                "instances": len({cell.instance.name for cell in cells}),
                "sizes": "" if not sizes else f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}",
                "seeds": _several(seeds.values(), joined=" or "),
                "arms": len({cell.arm.name for cell in cells}),
                "runs": len(cells),
            }
        )
    return pl.DataFrame(rows, schema=PANEL_DESIGN)


def _group(arm: Arm) -> tuple[int, str, tuple[str, ...]]:
    """Return the tier of an arm, or where it is the step of a ladder its entry and what is varied."""
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
    """Write down the values that there are, each once, small ones first."""
    found = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) for value in found):
        found.sort(key=lambda value: float(str(value)))
    words = [f"{value:,.10g}" if isinstance(value, int | float) else str(value) for value in found]
    return joined.join(words) + unit if words else ""
