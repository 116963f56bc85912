"""The studies of the campaign: the main one, the ladder of slices, the ladder of threads."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.cli.demo_campaign import SNAPSHOT, calibrate
from gapline.generate import write_instances
from gapline.generate.study import Panel, write_study
from gapline.model.contract import load_contract
from gapline.model.layout import CONTRACT_FILE

SLICES = (1, 5, 24, 96)


@dataclass(frozen=True)
class Scale:
    """How large the campaign is; the defaults are those of the documentation."""

    horizon: float = 10.0
    seeds: tuple[int, ...] = (1, 2, 3)
    sizes: tuple[int, ...] = (25, 50, 75, 100)
    instances: int = 1
    threads: tuple[int, ...] = (1, 2)
    arms: tuple[str, ...] = ()


_TIMEFOLD = """
# Starting the JVM is charged: a late starter by nature, so it compiles as little as it can.
[[arms]]
name = "timefold"
solver = "timefold"
options = { compile = "fast" }
"""


def write_main(folder: Path, scale: Scale) -> Path:
    """Write the main study: five arms on four panels of TDVRPTW, its references frozen before the first run."""
    study = folder / "main"
    if not (study / CONTRACT_FILE).exists():
        panels = [Panel(size, scale.instances) for size in scale.sizes]
        contract = write_study(
            study,
            "tdvrptw",
            name="campaign",
            horizon=scale.horizon,
            seeds=scale.seeds,
            panels=panels,
            snapshot=SNAPSHOT,
        )
        contract.write_text(_keep(contract.read_text() + _TIMEFOLD, scale.arms))
    if not (study / SNAPSHOT).exists():
        calibrate(study, load_contract(study)).save(study / SNAPSHOT)
    return study


def _keep(contract: str, arms: tuple[str, ...]) -> str:
    """Leave out the arms that are not wanted; all stay when none is named."""
    head, *blocks = contract.split("[[arms]]\n")
    wanted = [block for block in blocks if not arms or tomllib.loads(_first_lines(block))["name"] in arms]
    if len(wanted) < len(blocks):
        head = head.replace('contrasts = [["kayros-ils", "kayros-aco"]]', "contrasts = []")
    return head + "".join(f"[[arms]]\n{block}" for block in wanted)


def _first_lines(block: str) -> str:
    return "\n".join(line for line in block.splitlines() if "=" in line and not line.startswith("#"))


def write_slices(folder: Path, main: Path, scale: Scale) -> Path:
    """Write the ladder of slices: vrp-cli on the instances of the main study, once, as it takes no seed."""
    study = folder / "slices"
    contract = load_contract(main)
    instances = "".join(
        f'\n[[instances]]\npath = "../main/{instance.path}"\nname = "{instance.name}"\npanel = "{instance.panel}"\n'
        f"size = {instance.size}\n"
        for instance in contract.instances
    )
    arms = "".join(
        f'\n[[arms]]\nname = "vrp-cli-{count:02d}"\nsolver = "vrp-cli"\noptions = {{ slices = {count} }}\ntier = 2\n'
        for count in SLICES
    )
    _write(study, "slices", "duration", "tdvrptw", scale.horizon, threads=1, seeds=(1,), rest=instances + arms)
    return study


def write_threads(folder: Path, scale: Scale) -> list[Path]:
    """Write the ladder of threads: CP-SAT on set-cover and knapsack problems, one study per number of threads."""
    instances = folder / "threads" / "instances"
    paths = write_instances("mip", instances, name="threads", customers=400, count=2)
    entries = "".join(f'\n[[instances]]\npath = "../instances/{path.name}"\npanel = "mip-400"\n' for path in paths)
    studies = []
    for count in scale.threads:
        study = folder / "threads" / str(count)
        arm = f'\n[[arms]]\nname = "cpsat-{count:02d}"\nsolver = "cpsat"\n'
        _write(study, "threads", "cost", "mip", scale.horizon, threads=count, seeds=scale.seeds, rest=entries + arm)
        studies.append(study)
    return studies


def _write(
    study: Path,
    name: str,
    objective: str,
    checker: str,
    horizon: float,
    *,
    threads: int,
    seeds: Sequence[int],
    rest: str,
) -> None:
    study.mkdir(parents=True, exist_ok=True)
    (study / CONTRACT_FILE).write_text(
        f"""seeds = {list(seeds)}

[study]
name = "{name}"

[objective]
name = "{objective}"
checker = "{checker}"

[time]
horizon = {horizon!r}
threads = {threads}

[reference]
policy = "analysis"
{rest}"""
    )
