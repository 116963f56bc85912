"""The paper's campaign as one contract: in full, and as small as it runs here from start to finish.

Both are one text: families at two sizes, more seeds on the small size, four arms of tier 1 and one of tier 2 on every
instance, a ladder of slices and a ladder of threads on a few. `python -m campaigns.paper` runs the small one.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from gapline.cli.demo import SNAPSHOT, calibrate
from gapline.contract.layout import CONTRACT_FILE, RESULTS
from gapline.contract.study_file import load_contract
from gapline.executors.core_leases import cores
from gapline.generate import write_instances
from gapline.report.paper.write import write_paper
from gapline.report.write import write_report
from gapline.run.campaign import run_study
from gapline.run.progress import progress_for_terminal
from gapline.study import open_study

CONTRACT = Template("""\
seeds = $many

[study]
name = "$name"
title = "$title"

[objective]
name = "duration"
checker = "tdvrptw"

[time]
horizon = $horizon

[reference]
policy = "frozen"
snapshot = "$snapshot"

[score]
kernel = "squeezed"
goals = [0.01]

[aggregate]
weighting = "panel"
contrasts = $contrasts

# Families at two sizes each.
[[instances]]
path = "instances/*/n=*/*.vrp.json"
panel = "{1} n={2}"
size = "{2}"

# Large instances have fewer seeds.
[[where]]
size = ">$small"
seeds = $few
$arms
# Model fidelity: the sliced model at several numbers of slices, and with 96 slices on several numbers of threads.
[[arms]]
name = "$sliced slices {slices}"
solver = "$sliced"
tier = 2
options = {$limit}
ladder = {slices = $slices}
instances = ["$sliced_on"]

[[arms]]
name = "$sliced threads {threads}"
solver = "$sliced"
tier = 2
options = {slices = 96$also}
ladder = {threads = $threads}
instances = ["$threaded_on"]
""")


@dataclass(frozen=True)
class Arm:
    """An arm that runs on every instance; options as TOML."""

    name: str
    solver: str
    options: str = ""
    tier: int = 1


@dataclass(frozen=True)
class Scale:
    """How large the campaign is, and who takes part."""

    title: str
    arms: tuple[Arm, ...]
    sliced: str
    sliced_on: str
    threaded_on: str
    horizon: float = 3600
    small: int = 25
    many: int = 10
    few: int = 5
    slices: tuple[int, ...] = (5, 24, 96)
    threads: tuple[int, ...] = (1, 2, 4, 8, 16)
    limit: str = ""


FULL = Scale(
    title="The campaign of the paper",
    arms=(
        Arm("KAYROS", "kayros"),
        Arm("Timefold", "timefold"),
        Arm("jsprit", "jsprit"),
        Arm("Hexaly Tier 1", "hexaly"),
        Arm("Hexaly Tier 2", "hexaly", "slices = 96", tier=2),
    ),
    sliced="hexaly",
    sliced_on="solomon-25-0[0-5]",
    threaded_on="lyon-25-0*",
)


def contract_text(scale: Scale, *, name: str) -> str:
    """Return the contract at a scale."""
    arms = "".join(
        f'\n[[arms]]\nname = "{arm.name}"\nsolver = "{arm.solver}"\n'
        + (f"tier = {arm.tier}\n" if arm.tier != 1 else "")
        + (f"options = {{{arm.options}}}\n" if arm.options else "")
        for arm in scale.arms
    )
    facts = {field: getattr(scale, field) for field in Scale.__dataclass_fields__ if field != "arms"}
    facts |= {"slices": list(scale.slices), "threads": list(scale.threads), "name": name, "snapshot": SNAPSHOT}
    # Three contrasts, declared before the runs: the first arm against each other one of tier 1.
    first, *others = (arm.name for arm in scale.arms if arm.tier == 1)
    facts["contrasts"] = json.dumps([[first, other] for other in others])
    return CONTRACT.substitute(facts, arms=arms, also=f", {scale.limit}" if scale.limit else "")


def small_scale(
    *, horizon: float, iterations: int | None = None, sliced_on: str = "east-n10-*", threaded_on: str = "west-n10-*"
) -> Scale:
    """Return solvers that are installed here in the places of the paper's; limited by steps where a number is given."""
    limit = "" if iterations is None else f"iterations = {iterations}"
    joined = f", {limit}" if limit else ""
    settings = {"ils": 'strategy = "ils"', "aco": 'strategy = "aco"', "narrow": 'strategy = "ils", num_neighbours = 5'}
    kayros = [Arm(f"kayros-{name}", "kayros", options + joined) for name, options in settings.items()]
    exact = Arm("kayros-lera", "kayros.lera", "" if iterations is None else "iterations = 1")
    return Scale(
        title="A small campaign in the design of the paper, generated instances",
        arms=(*kayros, exact, Arm("pyvrp-mean", "pyvrp", f'slice = "mean"{joined}', tier=2)),
        sliced="vrp-cli",
        sliced_on=sliced_on,
        threaded_on=threaded_on,
        horizon=horizon,
        small=10,
        many=2,
        few=1,
        threads=tuple(count for count in (1, 2, 4) if count <= len(cores())),
        limit=limit,
    )


def write_small(
    folder: Path, scale: Scale, *, families: Sequence[str], sizes: Sequence[int] = (10, 15), instances: int = 2
) -> Path:
    """Write the small study, its references frozen from a short run of one solver before the first run."""
    if not (folder / CONTRACT_FILE).exists():
        for family in families:
            for size in sizes:
                place = folder / "instances" / family / f"n={size}"
                write_instances("tdvrptw", place, name=family, customers=size, count=instances)
        (folder / CONTRACT_FILE).write_text(contract_text(scale, name="paper-small"))
    if not (folder / SNAPSHOT).exists():
        # Few steps, as a store knows little of new instances: the campaign has something to beat.
        calibrate(folder, load_contract(folder), steps=2).save(folder / SNAPSHOT)
    return folder


def main() -> int:
    """Run the small campaign, write its report and the figures and tables of the paper; return 1 if runs are left."""
    options = argparse.ArgumentParser(prog="python -m campaigns.paper", description=__doc__)
    options.add_argument("--folder", type=Path, default=Path("paper-small"), help="where the study is kept")
    options.add_argument("--horizon", type=float, default=2.0, help="seconds of each run")
    options.add_argument("--instances", type=int, default=2, help="instances per panel")
    options.add_argument("--families", nargs="+", default=["east", "west", "north", "south", "center"])
    options.add_argument("--on", help="where cells run, as in gapline run --on")
    given = options.parse_args()
    scale = small_scale(horizon=given.horizon)
    study = write_small(given.folder, scale, families=given.families, instances=given.instances)
    report = run_study(study, on=given.on, progress=progress_for_terminal())
    for problem in report.problems:
        print(f"problem: {problem}")
    if report.interrupted:
        return 130
    opened = open_study(str(study))
    write_report(opened, study / RESULTS)
    write_paper(study / "paper", opened)
    print(f"written: {study / RESULTS} and {study / 'paper'}")
    return 1 if report.left else 0


if __name__ == "__main__":
    raise SystemExit(main())
