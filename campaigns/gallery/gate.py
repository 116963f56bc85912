"""A release gate: two new versions of a solver, one of which has a planted mistake that no final value shows."""

import datetime
import json
from pathlib import Path

import gapline as gl
from campaigns.gallery import assignment
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.sentences import difference_words, final_gaps, pair
from campaigns.gallery.written import contract_block, write_contract
from gapline.report.numbers import percent
from gapline.study.comparison import judge_pair

LIMIT = 0.002
SNAPSHOT = "references/released.json"

CONTRACT = """\
seeds = 2

[study]
name = "gate"
title = "Two releases of a solver"

[objective]
name = "flow"
checker = "python:assignment:check"

[time]
horizon = $horizon

[reference]
policy = "frozen"
snapshot = "references/released.json"

[score]
kernel = "squeezed"
goals = [0.01]

[aggregate]
weighting = "panel"
contrasts = [["1.1", "1.0"], ["1.2", "1.0"]]

[[instances]]
path = "instances/assignment-n*-*.json"
panel = "n={1}"

[[arms]]
name = "1.0"
solver = "command"
command = ["python3", "assignment.py", "{instance}", "{seed}", "{horizon}", "1.0"]

[[arms]]
name = "1.1"
solver = "command"
command = ["python3", "assignment.py", "{instance}", "{seed}", "{horizon}", "1.1"]

[[arms]]
name = "1.2"
solver = "command"
command = ["python3", "assignment.py", "{instance}", "{seed}", "{horizon}", "1.2"]
"""


def prepare(folder: Path, quick: bool) -> Path:
    """Draw instances and freeze what a long search of the released version finds."""
    sizes, count, horizon, steps = ((8, 10), 3, 1.0, 2000) if quick else ((30, 50), 5, 4.0, 60_000)
    (folder / "instances").mkdir(parents=True, exist_ok=True)
    (folder / "references").mkdir(exist_ok=True)
    (folder / "assignment.py").write_bytes(Path(assignment.__file__).read_bytes())
    known = {}
    for size in sizes:
        for k in range(1, count + 1):
            name = f"assignment-n{size}-{k}"
            flows, distances = assignment.draw(size, name)
            (folder / "instances" / f"{name}.json").write_text(json.dumps({"flows": flows, "distances": distances}))
            known[name] = (flows, distances)
    write_contract(folder, CONTRACT, horizon=horizon)
    if not (folder / SNAPSHOT).exists():
        entries = {
            name: {"value": min(value for value, _ in assignment.search(*problem, 0, steps)), "certified": False,
                   "source": f"{steps} steps of 1.0"}
            for name, problem in known.items()
        }  # fmt: skip
        today = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        gl.Snapshot.from_entries(
            entries, name="released", store={"name": "released"}, as_of=today, objective="flow"
        ).save(folder / SNAPSHOT)
    return folder


def learned(study: gl.Study) -> list[str]:
    """Judge both versions by the gate, and by what a final value would have said."""
    said = []
    (source,) = study.sources
    for version in ("1.1", "1.2"):
        judged = judge_pair(f"{source}:1.0", f"{source}:{version}", fail_if_worse=LIMIT)
        verdict = f"fails: {judged.gate.because}" if judged.gate.failed else "passes"
        said.append(
            f"`gapline compare STUDY:1.0 STUDY:{version} --fail-if-worse {LIMIT:g}` **{verdict}**; "
            f"{difference_words(pair(study, version, '1.0'))}."
        )
    ends = final_gaps(study)
    apart = ends["1.2"] - ends["1.0"]
    said.append(
        f"The final gaps are {percent(ends['1.0'])}, {percent(ends['1.1'])} (1.1) and {percent(ends['1.2'])} (1.2). "
        + (
            f"By the last value 1.2 would be {percent(abs(apart))} {'worse' if apart > 0 else 'better'}: "
            + (
                "a test of final values that allows 1 % lets the mistake through."
                if abs(apart) < 0.01
                else "a test of final values would see it too, once the horizon is over."
            )
        )
    )
    gate = judge_pair(f"{source}:1.0", f"{source}:1.1", fail_if_worse=LIMIT).gate
    if gate.wrong is not None and gate.finds is not None:
        said.append(
            f"The gate states its errors: simulated on these runs, it fails a version that is worse by exactly "
            f"{LIMIT:g} in {percent(gate.wrong, digits=1)} of comparisons, and finds one that is worse by "
            f"{gate.finds_at:g} in {percent(gate.finds, digits=1)}."
        )
    said.append(
        "The planted mistake: 1.2 computes the whole objective again for every move instead of its change. The moves "
        "are the same, only slower: nothing but the clock can show it."
    )
    return said


EXHIBIT = Exhibit(
    name="gate",
    title="A release gate, and a mistake that was planted",
    question=(
        "Two new versions of a solver are to be released. 1.1 changes nothing in the search. 1.2 has a mistake that "
        "makes it slow and never wrong. Does a gate on anytime behaviour stop the second and let the first one pass?"
    ),
    prepare=prepare,
    contract=contract_block,
    pictures={
        "mean-convergence": "The mean gap over time of the three versions.",
        "contrasts": "What each new version changes, with its interval: right of zero is worse.",
        "final-gaps": "The final gaps, which a test of last values looks at.",
    },
    learned=learned,
)
