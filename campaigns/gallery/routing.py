"""Routing with travel times that change over the day: the same runs under a frozen and under a folded reference."""

from pathlib import Path

import gapline as gl
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.sentences import difference_words, first_times, means, ordered, pair
from campaigns.gallery.written import contract_block, write_contract
from gapline.cli.demo import SNAPSHOT, calibrate
from gapline.contract.study_file import load_contract
from gapline.generate import write_instances
from gapline.report.numbers import number, percent

DESCRIBED = "ortools-mean"

CONTRACT = """\
seeds = 1

[study]
name = "routing"
title = "Time-dependent vehicle routing with time windows"

[objective]
name = "duration"
checker = "tdvrptw"

[time]
horizon = $horizon

[reference]
policy = "frozen"
snapshot = "references/calibration.json"

[score]
kernel = "squeezed"
goals = [0.01]

[aggregate]
weighting = "panel"
contrasts = [["kayros-ils", "kayros-aco"], ["kayros-ils", "timefold"]]

[[instances]]
path = "instances/routing-n*-*.vrp.json"
panel = "n={1}"

[[arms]]
name = "kayros-ils"
solver = "kayros"
options = {strategy = "ils"}

[[arms]]
name = "kayros-aco"
solver = "kayros"
options = {strategy = "aco"}

# Starting the JVM and compiling the model are charged: the horizon lets it start.
[[arms]]
name = "timefold"
solver = "timefold"
options = {compile = "fast"}

# It plans with the mean travel time of the day, and is described, not compared: the checker judges its plans by the
# true travel times.
[[arms]]
name = "ortools-mean"
solver = "ortools"
options = {slice = "mean"}
tier = 2
"""


def prepare(folder: Path, quick: bool) -> Path:
    """Generate instances and freeze what a few steps of one solver find."""
    sizes, count, horizon = ((8, 10), 2, 12.0) if quick else ((20, 30), 4, 24.0)
    for size in sizes:
        write_instances("tdvrptw", folder / "instances", name="routing", customers=size, count=count)
    write_contract(folder, CONTRACT, horizon=horizon)
    if not (folder / SNAPSHOT).exists():
        # Few steps, as a store knows little of new instances: the campaign has something to beat.
        calibrate(folder, load_contract(folder), steps=1).save(folder / SNAPSHOT)
    return folder


def learned(study: gl.Study) -> list[str]:
    """Say what changes between the readings, and what does not."""
    before, after = study.score_against(study.both)
    # Of tier 1: the other arm is described below, and has no place in an order.
    frozen, folded = (
        {arm: mean for arm, mean in means(scores, weighting=study.weighting).items() if arm != DESCRIBED}
        for scores in (before, after)
    )
    beaten = before.frame.filter("beaten")
    instances = len(set(beaten["instance"]))
    everything = len(set(before.frame["instance"]))
    below = before.frame.filter(before.frame[before.kernels[0]] < 0).height
    said = [
        f"Frozen, the means are {ordered(frozen)}; folded with this campaign's own best values, {ordered(folded)}. "
        + (
            "The order of the arms is the same."
            if list(frozen) == list(folded)
            else "**The order of the arms is another one**: which reference is meant has to be said with every number."
        ),
        f"The frozen values were beaten on {instances} of {everything} instances, by {beaten.height} of "
        f"{before.frame.height} runs"
        + (
            f"; {below} runs score below zero, which only a signed gap can show."
            if below
            else "; no run stays below its reference for long enough to score below zero."
        ),
    ]
    moved = {arm: folded[arm] - frozen[arm] for arm in frozen}
    most = max(moved, key=lambda arm: abs(moved[arm]))
    said.append(
        f"Folding moves {most} most, by {number(moved[most])}: a better reference makes every gap larger, and most so "
        "for whoever sat near the old one."
    )
    said.append(f"Under the frozen reference, {difference_words(pair(study, 'kayros-ils', 'kayros-aco'))}.")
    mean = study.scores[0].frame.filter(arm=DESCRIBED)
    rejected, captured = int(mean["rejected"].sum()), int(mean["captured"].sum())
    empty = int((mean["steps"] == 0).sum())
    left = f"; {empty} of its {mean.height} runs are left without a plan, score 1 and stay in its mean" if empty else ""
    said.append(
        f"{DESCRIBED} plans with the mean travel time of the day. Under the true ones the checker refuses {rejected} "
        f"of its {captured} candidates{left}. It is tier 2, so nothing ranks it."
    )
    starts = {arm: time for arm, time in first_times(study).items() if arm != DESCRIBED}
    late = max(starts, key=lambda arm: starts[arm] or float("inf"))
    if (start := starts[late]) is not None:
        horizon = float(study.envelopes.runs["horizon"].max())
        others = ", ".join(
            f"{arm} after {time:.1f} s" for arm, time in starts.items() if arm != late and time is not None
        )
        share = percent(start / horizon, digits=0)
        said.append(
            f"{late} has its first plan after {start:.1f} s (median; {others}), so {share} of the horizon "
            "count as gap 1. The start of its virtual machine is in it: what is charged is part of the "
            "contract."
        )
    return said


EXHIBIT = Exhibit(
    name="routing",
    title="Frozen or folded: one campaign, two references",
    question=(
        "Three solvers plan routes whose travel times change over the day. Best-known values exist, but they are "
        "young, and the campaign beats them. Does it matter whether scores are read against the values that were "
        "frozen before the first run, or against the best that is known after the last one?"
    ),
    prepare=prepare,
    contract=contract_block,
    pictures={
        "mean-convergence": "The mean gap over time against the frozen reference; below zero the reference is beaten.",
        "reference-shift": "Each arm's mean score under the frozen reference and under the folded one.",
        "gap-area": "One run that ends below its frozen reference: the area under zero is negative and counts.",
    },
    learned=learned,
    log_time=False,
)
