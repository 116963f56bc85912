"""The campaign of `gapline demo`: real solvers on generated instances, nothing staged."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from gapline.envelope.build import Envelopes
    from gapline.model.contract import Contract
    from gapline.reference.snapshot import Snapshot

SNAPSHOT = "references/calibration.json"
CALIBRATION = "calibration"
# Steps, not seconds: the references are the same on any machine.
CALIBRATION_STEPS = 200
KERNELS = ("squeezed", "dimacs:1.1")


def prepare(folder: Path, say: Callable[[str], None]) -> "Contract":
    """Write the study and freeze its references, unless an earlier call did; refuse before that when a solver lacks."""
    from gapline.errors import EnvironmentLacksError, UsageError
    from gapline.generate.study import write_study
    from gapline.model.contract import SOLVERS, load_contract
    from gapline.model.layout import CONTRACT_FILE
    from gapline.solvers import arms_lack

    if not (folder / CONTRACT_FILE).exists():
        try:
            write_study(folder, "tdvrptw", name="demo", snapshot=SNAPSHOT)
        except EnvironmentLacksError as error:
            raise _lacking([error.message]) from None
    contract = load_contract(folder, files=True)
    # A demo runs solvers that are installed here, never a program that a contract brings.
    own = any(arm.solver not in SOLVERS or "jar" in arm.options for arm in contract.arms)
    if own or contract.reference.snapshot != SNAPSHOT or contract.objective.checker != "tdvrptw":
        raise UsageError(
            f"{folder}: expected a new directory or an earlier demo, got the study {contract.study.name!r}"
        )
    if lacking := arms_lack(contract.arms):
        raise _lacking(lacking)
    panels = len({instance.panel for instance in contract.instances})
    say(f"{len(contract.instances)} instances in {panels} panels, generated from the name {contract.study.name!r}")
    if not (folder / SNAPSHOT).exists():
        say(f"calibrating: {CALIBRATION_STEPS} steps of kayros on each instance")
        calibrate(folder, contract).save(folder / SNAPSHOT)
    say(f"references frozen before the campaign: {folder / SNAPSHOT}")
    return contract


def calibrate(folder: Path, contract: "Contract", *, steps: int = CALIBRATION_STEPS) -> "Snapshot":
    """Run one solver for some steps on each instance, and return the best checked values as a snapshot."""
    from gapline.check import load_checker
    from gapline.envelope.build import build_envelopes
    from gapline.errors import GaplineError
    from gapline.model.layout import CONTRACT_FILE
    from gapline.model.writing import write_atomically
    from gapline.reference.policy import analysis_snapshot
    from gapline.reference.snapshot import Snapshot
    from gapline.run.campaign import run_study

    study = folder / CALIBRATION
    instances = "\n".join(
        f'[[instances]]\npath = "../{instance.path}"\nname = "{instance.name}"\npanel = "{instance.panel}"'
        for instance in contract.instances
    )
    text = f"""# A short run of one solver, from which the references of the demo were frozen.
seeds = [0]
[study]
name = "calibration"
[objective]
name = "{contract.objective.name}"
sense = "{contract.objective.sense}"
checker = "{contract.objective.checker}"
[time]
horizon = 60.0
{instances}
[[arms]]
name = "calibration"
solver = "kayros"
options = {{ iterations = {steps} }}
"""
    write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(text.encode()))
    campaign = run_study(study).campaign
    if campaign is None:
        raise GaplineError(f"{study}: expected a campaign, got none")
    best = analysis_snapshot(None, build_envelopes(campaign))
    # Named in the snapshot: values priced by another version are not comparable with the campaign's.
    checker = load_checker(str(contract.objective.checker))
    return Snapshot.from_entries(
        {instance: entry.document() for instance, entry in best.values.items()},
        name="calibration",
        store={"name": "calibration"},
        as_of=best.as_of,
        objective=contract.objective.name,
        checker=f"{checker.name} {checker.version}",
    )


def delivered(envelopes: "Envelopes") -> "pl.DataFrame":
    """Return what each arm delivered, before any score: counts that no mean may hide, headed as people read them."""
    from gapline.analysis.health import count_runs

    heads = {"captured": "candidates", "terminal_invalid": "invalid at the end", "crashed": "failed"}
    counts = count_runs(envelopes, ["arm"]).rename(heads)
    return counts.select("arm", "runs", "candidates", "rejected", "late", "empty", "invalid at the end", "failed")


def closing_lines(folder: Path, snapshot: "Snapshot") -> list[str]:
    """Say where everything lies and what to try next."""
    place = shlex.quote(str(folder))
    reference = shlex.quote(str(folder / SNAPSHOT))
    return [
        f"contract {folder}/study.toml, instances {folder}/instances/, journals and verdicts {folder}/journal/, "
        f"columns {folder}/campaign/, references {folder / SNAPSHOT} ({snapshot.digest[:19]}…)",
        f"figures, tables, LaTeX and the methods paragraph {folder}/results/; open this page in a browser:",
        f"  {folder}/results/report.html",
        "",
        "next:",
        f"  gapline score {place} --per-run",
        f"  gapline analyse {place}",
        f"  gapline compare {place}:kayros-ils {place}:kayros-aco",
        f"  gapline snapshot fold {reference} {place} --name beaten -o {place}/references/beaten.json",
        "  gapline init my-study --problem cvrp, then gapline run my-study",
    ]


def _lacking(lines: list[str]) -> Exception:
    from gapline.errors import EnvironmentLacksError

    return EnvironmentLacksError(
        "\n".join(lines), hint="pip install 'gapline[demo]'; gapline demo --worked-example needs no solver"
    )
