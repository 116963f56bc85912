"""A ladder of threads: what the second core buys, over the whole line and at the end."""

from itertools import pairwise
from pathlib import Path

import gapline as gl
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.sentences import difference_words, final_gaps, first_times, means, ordered, pair
from campaigns.gallery.written import contract_block, write_contract
from gapline.executors.core_leases import cores
from gapline.generate import write_instances
from gapline.report.numbers import percent

CONTRACT = """\
seeds = 2

[study]
name = "threads"
title = "CP-SAT on more and more threads"

[objective]
name = "cost"
checker = "mip"

[time]
horizon = $horizon

[reference]
policy = "analysis"

[score]
kernel = "squeezed"
goals = [0.01]

[aggregate]
weighting = "panel"
contrasts = $contrasts

[[instances]]
path = "instances/threads-*-n$size-*.mps"
panel = "{1}"

# One arm for each number of threads; a run has as many cores of its own.
[[arms]]
name = "cpsat-{threads}"
solver = "cpsat"
ladder = {threads = $threads}
"""


def prepare(folder: Path, quick: bool) -> Path:
    """Generate set-cover and knapsack problems; CP-SAT has 1, 2, 4 … threads, up to as many as there are cores."""
    size, count, horizon = (40, 2, 6.0) if quick else (500, 3, 8.0)
    threads = [number for number in (1, 2, 4, 8) if number <= len(cores())]
    write_instances("mip", folder / "instances", name="threads", customers=size, count=count)
    contrasts = [[f"cpsat-{most}", f"cpsat-{least}"] for least, most in pairwise(threads)]
    values = {"contrasts": str(contrasts).replace("'", '"'), "threads": threads, "horizon": horizon, "size": size}
    write_contract(folder, CONTRACT, **values)
    return folder


def learned(study: gl.Study) -> list[str]:
    """Say what more threads buy."""
    steps = sorted(set(study.envelopes.runs["arm"]), key=lambda arm: int(arm.rpartition("-")[2]))
    found = means(study.scores[0], weighting=study.weighting)
    said = [f"The means are {ordered(found)}."]
    if len(steps) == 1:
        return [*said, "This machine has one core: the ladder has one step."]
    least, most = steps[0], steps[-1]
    row = pair(study, most, least)
    said.append(f"Over the whole line, {difference_words(row)}.")
    ends, starts = final_gaps(study), first_times(study)
    if ends[least] is not None and ends[most] is not None:
        end, line = ends[least] - ends[most], found[least] - found[most]
        words = "End and line agree on the direction." if end * line >= 0 else "**End and line disagree.**"
        if abs(end) < 0.005 and row["low"] is not None and not row["low"] <= 0 <= row["high"]:
            words = "The end alone would call them alike; the line does not."
        said.append(
            f"At the end the mean gaps are {percent(ends[least])} ({least}) and {percent(ends[most])} ({most}); the "
            f"ratio of the scores is {found[least] / found[most]:.2f}. {words}"
        )
    if starts[least] is not None and starts[most] is not None:
        earlier = "earlier too" if starts[most] < starts[least] else "no earlier"
        said.append(
            f"The first valid solution is there after {starts[least]:.2f} s ({least}) and {starts[most]:.2f} s "
            f"({most}), medians: with more threads it is {earlier}."
        )
    count = most.rpartition("-")[2]
    said.append(
        f"{count} threads were given {count} cores: per second of a core the comparison is another one, and "
        "`gapline score --horizon` at a shorter horizon shows it on the same runs."
    )
    return said


EXHIBIT = Exhibit(
    name="threads",
    title="What the second core buys",
    question=(
        "A solver is offered more threads. Does it find good solutions earlier, or is it only nearer to the optimum at "
        "the end, and by how much?"
    ),
    prepare=prepare,
    contract=contract_block,
    pictures={
        "mean-convergence": "The mean gap over time of each step of the ladder.",
        "attainment": "The share of runs that are within 1 % of the best value by each time.",
        "horizon-sweep": "The mean score, had the horizon been shorter.",
    },
    learned=learned,
)
