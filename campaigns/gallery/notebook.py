"""A search of one's own, recorded from a notebook by `gl.record`."""

import json
import os
from pathlib import Path

import gapline as gl
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.sentences import difference_words, final_gaps, means, ordered, pair
from gapline.report.numbers import percent

CELLS = Path(__file__).parent / "annealing_cells.py"
FILE = "recorded.jsonl"


def cells() -> list[tuple[str, str]]:
    """Return the cells of the notebook, as (kind, text)."""
    found = []
    for block in CELLS.read_text(encoding="utf-8").split("# %%")[1:]:
        head, _, text = block.partition("\n")
        if "markdown" in head:
            found.append(("markdown", "\n".join(line.removeprefix("# ") for line in text.strip().splitlines())))
        else:
            found.append(("code", text.strip()))
    return found


def notebook() -> str:
    """Return it as an .ipynb without outputs."""
    shown = [
        {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for number, (kind, text) in enumerate(cells(), 1)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": shown, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def prepare(folder: Path, quick: bool) -> Path:
    """Run the cells one after the other, as a kernel does, in the folder; what is recorded is not recorded again."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "annealing.ipynb").write_text(notebook(), encoding="utf-8")
    if not (folder / FILE).exists():
        first, *others = [text for kind, text in cells() if kind == "code"]
        here, names = Path.cwd(), {"__name__": "__main__"}
        os.chdir(folder)
        try:
            exec(compile(first, "cell", "exec"), names)
            names |= {"FILE": f"{FILE}.part"}
            if quick:
                names |= {"HORIZON": 0.1, "SIZES": (10, 15), "INSTANCES": 2, "SEEDS": 1}
            for text in others:
                exec(compile(text, "cell", "exec"), names)
        finally:
            os.chdir(here)
        # Whole, or to be recorded again.
        (folder / f"{FILE}.part").rename(folder / FILE)
    return folder / FILE


def contract(_folder: Path) -> str:
    """Return the cells; what a contract says otherwise stands in the call of `gl.record`."""
    shown = [text for kind, text in cells() if kind == "code"]
    return (
        "No contract: `gl.record` takes what has to be said of a run, and the last cell says the rest. The notebook is "
        "[annealing.ipynb](annealing.ipynb).\n\n" + "\n\n".join(f"```py\n{text}\n```" for text in shown)
    )


def learned(study: gl.Study) -> list[str]:
    """Say what patience costs and what it brings."""
    found, ends = means(study.scores[0], weighting=study.weighting), final_gaps(study)
    by_end = dict(sorted(ends.items(), key=lambda item: item[1]))
    said = [
        f"By the score: {ordered(found)}. By the end: "
        + ", ".join(f"{arm} {percent(gap)}" for arm, gap in by_end.items())
        + ". "
        + (
            f"Both name {next(iter(found))} first."
            if next(iter(found)) == next(iter(by_end))
            else f"**The end names {next(iter(by_end))}, the line {next(iter(found))}**: can one wait, or not?"
        )
    ]
    said += [
        f"Over the whole line, {difference_words(pair(study, 'annealing', other))}."
        for other in ("descent", "restarts")
    ]
    swaps = sum(map(len, gl.analyse(study).horizon.swaps.values()))
    said.append(
        f"Had the horizon been shorter, pairs of arms would have changed places at {swaps} of its moments: an annealer "
        "cools by the clock that it was given, so its score speaks of this horizon and no other."
        if swaps
        else "At no shorter horizon would two arms have changed places."
    )
    rejected = int(study.scores[0].frame["rejected"].sum())
    said.append(
        f"Nobody checked these tours: the lengths are the word of the search itself ({rejected} rejected), and every "
        "caption says so. A checker is one function more."
    )
    return said


EXHIBIT = Exhibit(
    name="notebook",
    title="A metaheuristic, recorded from a notebook",
    question=(
        "Annealing accepts detours early to end better. Is that patience worth it, against a plain descent and against "
        "one that begins anew when it is stuck? The searches are lines of a notebook, without solver, log or study."
    ),
    prepare=prepare,
    contract=contract,
    pictures={
        "mean-convergence": "The mean gap over time, against the best tour of all runs of an instance.",
        "horizon-sweep": "The mean score, had the horizon been shorter: where lines cross, the better arm changes.",
        "attainment-difference": "Where annealing attains more than descent, in time and gap, and where less.",
    },
    learned=learned,
    choices={"policy": "analysis", "contrasts": [("annealing", "descent"), ("annealing", "restarts")]},
)
