"""A study that runs as it is: a commented contract and generated instances of two panels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gapline.errors import UsageError
from gapline.generate.write import refuse_unknown, write_instances
from gapline.model.contract import default_name
from gapline.model.layout import CONTRACT_FILE
from gapline.model.writing import write_atomically


@dataclass(frozen=True, slots=True)
class Panel:
    """Generated instances of one size; a problem of several families makes one panel of each."""

    customers: int
    count: int


PANELS = (Panel(25, 3), Panel(50, 3))


class _Problem(NamedTuple):
    title: str
    objective: str
    arms: str
    contrast: tuple[str, str] = ("pyvrp", "ortools")
    panels: tuple[Panel, ...] = PANELS


_Arms = tuple[tuple[str, str, dict[str, str]], ...]
_KAYROS = (("kayros-ils", "kayros", {"strategy": "ils"}), ("kayros-aco", "kayros", {"strategy": "aco"}))
_SLICES = (("pyvrp-mean", "pyvrp", {"slice": "mean"}), ("ortools-mean", "ortools", {"slice": "mean"}))
_NATIVE: _Arms = (("pyvrp", "pyvrp", {}), ("ortools", "ortools", {"metaheuristic": "guided_local_search"}))
_MIP: _Arms = (("highs", "highs", {}), ("scip", "scip", {}))
_SLICED = """
# These two plan with the mean travel time of the day. Their plans may miss the true time windows, which the checker
# finds out: tier 2 is described, not compared."""
_WHOLE = "\n# CP-SAT computes in whole numbers: it takes programs of bounded integers, as these are."


def _arms(*arms: tuple[str, str, dict[str, str]], tier: int = 1) -> str:
    text = ""
    for name, solver, options in arms:
        text += f'\n[[arms]]\nname = "{name}"\nsolver = "{solver}"\n'
        if options:
            text += "options = { " + ", ".join(f'{key} = "{value}"' for key, value in options.items()) + " }\n"
        text += f"tier = {tier}\n" if tier > 1 else ""
    return text


PROBLEMS = {
    "tdvrptw": _Problem(
        "Time-dependent vehicle routing with time windows",
        "duration",
        _arms(*_KAYROS) + _SLICED + _arms(*_SLICES, tier=2),
        ("kayros-ils", "kayros-aco"),
    ),
    "vrptw": _Problem("Vehicle routing with time windows", "distance", _arms(*_NATIVE)),
    "cvrp": _Problem("Capacitated vehicle routing", "distance", _arms(*_NATIVE)),
    "mip": _Problem(
        "Set-cover and knapsack problems",
        "cost",
        _arms(*_MIP) + _WHOLE + _arms(("cpsat", "cpsat", {})),
        ("highs", "scip"),
        (Panel(100, 2), Panel(400, 2)),
    ),
}


def write_study(
    folder: str | Path,
    problem: str,
    *,
    name: str = "",
    horizon: float = 2.0,
    seeds: Sequence[int] = (1, 2),
    panels: Sequence[Panel] | None = None,
    snapshot: str | None = None,
) -> Path:
    """Write `study.toml` and `instances/` into a directory that has none yet, and return the path of the contract.

    `name` is that of the study, from which the instances follow too; the problem's when left out. `snapshot` is the
    path of a frozen one inside the study; without it, scores are against the best of the campaign itself.
    """
    refuse_unknown(problem)
    study = Path(folder)
    if (study / CONTRACT_FILE).exists():
        raise UsageError(f"{study}: expected a directory without {CONTRACT_FILE}, got one with it")
    name = name or problem
    facts = PROBLEMS[problem]
    entries = []
    for panel in facts.panels if panels is None else panels:
        for path in write_instances(
            problem, study / "instances", name=name, customers=panel.customers, count=panel.count
        ):
            place = path.relative_to(study).as_posix()
            # The name of a panel is that of its instances without their number.
            family = default_name(place).rpartition("-")[0]
            entries.append(f'\n[[instances]]\npath = "{place}"\npanel = "{family}"\nsize = {panel.customers}')
    instances = "\n".join(entries)
    reference = (
        "# The best of the campaign itself. Freeze a snapshot before the first run for scores that stay comparable:\n"
        '# policy = "frozen" and snapshot = "references/NAME.json".\npolicy = "analysis"'
    )
    if snapshot is not None:
        reference = f'# Known before the first run.\npolicy = "frozen"\nsnapshot = "{snapshot}"'
    text = f"""# The contract of a study: what a reader needs to interpret its scores. See docs/contract.md.
# gapline run DIR runs it, gapline status DIR shows how far it is, gapline score DIR scores it.

# Each arm runs once on each instance with each seed.
seeds = {list(seeds)}

[study]
name = "{name}"
title = "{facts.title}, generated instances"

[objective]
name = "{facts.objective}"
# Every candidate is checked against the original problem, and its objective recomputed.
validation = "checker"
checker = "{problem}"

[time]
# Seconds, announced to the solver. A second (grace) later it is told to stop.
horizon = {float(horizon)!r}
grace = 1.0
threads = 1

[reference]
{reference}

[score]
kernel = "squeezed"
weight = "uniform"
goals = [0.0, 0.01, 0.05]

[aggregate]
# Panels count alike, whatever their number of instances.
weighting = "panel"
contrasts = [["{facts.contrast[0]}", "{facts.contrast[1]}"]]
{instances}
{facts.arms}"""
    write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(text.encode()))
    return study / CONTRACT_FILE
