"""`gapline demo`: a real campaign of about a minute, or the paper's three-run example."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say, say_words

if TYPE_CHECKING:
    import polars as pl

    from gapline.contract.contract import Contract
    from gapline.envelope.build import Envelopes
    from gapline.references.snapshot import Snapshot

# (time, objective) of each run against a reference of 10 over 30 seconds.
RUNS = {
    "run 1": [],
    "run 2": [(5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)],
    "run 3": [(0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)],
}
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")


@click.command("demo", cls=Command)
@click.argument("directory", default="demo", type=click.Path(file_okay=False))
@options.jobs
@click.option("--worked-example", is_flag=True, help="Score the paper's three-run example instead: no solver needed.")
def command(directory: str, jobs: int | None, worked_example: bool) -> int:
    """Run a campaign of four solvers on six generated instances, check every candidate, score and plot.

    About a minute on two cores. A second call goes on where the first stopped.

    Example: gapline demo
    """
    if worked_example:
        _score_worked_example()
        return 0
    from pathlib import Path

    import gapline as gl
    from gapline.contract.layout import RESULTS
    from gapline.contract.plan import Plan
    from gapline.report.curves import study_curves
    from gapline.report.statements.remarks import note_lines
    from gapline.report.table import frame_table
    from gapline.report.tables.means import score_table
    from gapline.report.writers.terminal import print_table
    from gapline.run.progress import progress_for_terminal

    folder = Path(directory)
    contract = prepare(folder, say_words)
    runs = len(Plan.of(contract).cells)
    say_words(f"{runs} runs of {contract.time.horizon:g} s: {', '.join(arm.name for arm in contract.arms)}")
    report = gl.run_study(folder, jobs=jobs, progress=progress_for_terminal())
    if report.left or report.campaign is None:
        say(f"{report.done} of {report.planned} runs done\ngo on with: gapline demo {directory}")
        return 1
    noisy = sum(result.noisy for result in report.results)
    if noisy:
        say_words(f"warning: {noisy} runs shared their cores with other work: the scores below are worse for it")
    study = gl.open_study(folder, kernels=CAMPAIGN_KERNELS)
    caption = "Health: what was captured, and what the checker let through"
    print_table(frame_table("health", caption, delivered(study.envelopes)))
    say()
    print_table(score_table(study.summary))
    for line in note_lines(study.notes()):
        say_words(line)
    say()
    study_curves(study, by=["arm"]).print()
    say()
    say("writing the report …")
    gl.write_report(gl.open_study(folder), folder / RESULTS, formats=("svg", "png"))
    for line in closing_lines(folder, study.snapshot):
        # What is indented is to be copied as it is.
        (say if line.startswith("  ") else say_words)(line)
    return 0


def _score_worked_example() -> None:
    import gapline as gl
    from gapline.report.curves import CurvePair
    from gapline.report.statements.remarks import note_lines
    from gapline.report.tables.means import score_table
    from gapline.report.writers.terminal import print_table

    campaign = gl.Campaign.from_runs(
        [
            {"arm": arm, "instance": "worked", "seed": 1, "horizon": 30.0, "trace": [(*step, True) for step in trace]}
            for arm, trace in RUNS.items()
        ]
    )
    snapshot = gl.Snapshot.from_values({"worked": 10.0}, name="worked example", source="the paper")
    envelopes = gl.build_envelopes(campaign)
    scores = gl.score(envelopes, snapshot, kernels=KERNELS)
    summary = gl.summarise(scores)
    print_table(score_table(summary))
    for line in note_lines(summary.notes):
        say_words(line)
    say()
    CurvePair(gl.mean_curve(envelopes, snapshot), gl.attainment_curve(envelopes, snapshot)).print()
    say()
    say_words(
        "run 1 found nothing and scores 1; run 2 finds its values slowly; run 3 ends below its reference, so its score "
        "is negative"
    )
    say("next: gapline score YOUR_TRACES.csv --references YOUR_REFS.csv --horizon SECONDS")


SNAPSHOT = "references/calibration.json"
CALIBRATION = "calibration"
# Steps, not seconds: the references are the same on any machine.
CALIBRATION_STEPS = 200
CAMPAIGN_KERNELS = ("squeezed", "dimacs:1.1")


def prepare(folder: Path, say: Callable[[str], None]) -> "Contract":
    """Write the study and freeze its references, unless an earlier call did; refuse before that when a solver lacks."""
    from gapline.contract.contract import SOLVERS
    from gapline.contract.layout import CONTRACT_FILE
    from gapline.contract.study_file import load_contract
    from gapline.errors import EnvironmentLacksError, UsageError
    from gapline.generate.study import write_study
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
    import gapline as gl
    from gapline.contract.layout import CONTRACT_FILE
    from gapline.files.atomic_write import write_atomically

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
    campaign = gl.run_study(study).campaign
    if campaign is None:
        raise gl.GaplineError(f"{study}: expected a campaign, got none")
    best = gl.analysis_snapshot(None, gl.build_envelopes(campaign))
    # Named in the snapshot: values priced by another version are not comparable with the campaign's.
    checker = gl.load_checker(str(contract.objective.checker))
    return gl.Snapshot.from_entries(
        {instance: entry.document() for instance, entry in best.values.items()},
        name="calibration",
        store={"name": "calibration"},
        as_of=best.as_of,
        objective=contract.objective.name,
        checker=f"{checker.name} {checker.version}",
    )


def delivered(envelopes: "Envelopes") -> "pl.DataFrame":
    """Return what each arm delivered, before any score: counts that no mean may hide, headed as people read them."""
    from gapline.study.health import count_runs

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
