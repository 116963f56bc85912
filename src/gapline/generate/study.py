"""A study that runs as it is: a commented contract and generated instances of two panels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.generate.contract_text import NO_REFERENCE, PROBLEMS, contract_text, frozen_reference, problem_arms
from gapline.generate.staging import new_study
from gapline.generate.write import refuse_unknown, write_instances
from gapline.model.contract import default_name
from gapline.model.layout import CONTRACT_FILE, INSTANCES
from gapline.model.writing import write_atomically


@dataclass(frozen=True, slots=True)
class Panel:
    """Generated instances of one size; a problem of several families makes one panel of each."""

    customers: int
    count: int


PANELS = (Panel(25, 3), Panel(50, 3))
MIP_PANELS = (Panel(100, 2), Panel(400, 2))


def write_study(
    folder: str | Path,
    problem: str,
    *,
    name: str = "",
    horizon: float = 2.0,
    seeds: int | Sequence[int] = (1, 2),
    iterations: int | None = None,
    panels: Sequence[Panel] | None = None,
    snapshot: str | None = None,
) -> Path:
    """Write `study.toml` and `instances/` into a directory that has none yet, and return the path of the contract.

    `name` is that of the study, from which the instances follow too; the problem's when left out. `snapshot` is the
    path of a frozen one inside the study; without it, scores are against the best of the campaign itself. With
    `iterations` solvers stop after so many steps, whatever the clock says.
    """
    refuse_unknown(problem)
    name, facts = name or problem, PROBLEMS[problem]
    sizes = panels or (MIP_PANELS if problem == "mip" else PANELS)
    with new_study(Path(folder)) as study:
        entries = {}
        for panel in sizes:
            for path in write_instances(
                problem, study / INSTANCES, name=name, customers=panel.customers, count=panel.count
            ):
                # The name of a panel is that of its instances without their number.
                family = default_name(path.name).rpartition("-")[0]
                suffix = path.name.removeprefix(default_name(path.name))
                entries[f"{INSTANCES}/{family}-*{suffix}"] = (family, panel.customers)
        text = contract_text(
            name=name,
            title=f"{facts.title}, generated instances",
            objective=facts.objective,
            checker=problem,
            horizon=horizon,
            seeds=seeds,
            reference=NO_REFERENCE if snapshot is None else frozen_reference(snapshot),
            instances="\n".join(
                f'[[instances]]\npath = "{pattern}"\npanel = "{family}"\nsize = {size}\n'
                for pattern, (family, size) in entries.items()
            ),
            contrast=facts.contrast,
            arms=problem_arms(problem, generated=True, iterations=iterations),
        )
        write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(text.encode()))
    return Path(folder) / CONTRACT_FILE
