"""Write a study that runs as it is: generated instances of two panels and a commented contract."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gapline.contract.contract import default_name
from gapline.contract.layout import CONTRACT_FILE, INSTANCES
from gapline.errors import UsageError
from gapline.files.atomic_write import SUFFIX, naming
from gapline.generate.write import refuse_unknown, write_file, write_instances


@contextmanager
def new_study(directory: Path) -> Iterator[Path]:
    """Yield a folder for a new study; its contents move to the directory once all of it is written.

    Existing files of the directory stay; a file of the same name is an error, and then nothing is changed.
    """
    refuse_study(directory)
    made = _make(directory)
    # Use a folder inside the directory, so that a shell with this working directory stays valid.
    with naming(directory):
        scratch = Path(tempfile.mkdtemp(dir=directory, prefix=".study.", suffix=SUFFIX))
    try:
        yield scratch
        _put_in_place(scratch, directory)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in made:
            # Remove folders that were created here and are still empty.
            with suppress(OSError):
                folder.rmdir()


def refuse_study(directory: Path) -> None:
    """Refuse a directory that already holds a contract."""
    if (directory / CONTRACT_FILE).exists():
        raise UsageError(
            f"{directory}: expected a directory without {CONTRACT_FILE}, got one with it",
            hint=f"`gapline run {directory}` runs that study; name another directory for a new one",
        )


def _make(directory: Path) -> list[Path]:
    """Create a directory and return the folders that were created, innermost first."""
    absent = [place for place in (directory, *directory.parents) if not place.exists()]
    with naming(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return absent


def _put_in_place(scratch: Path, directory: Path) -> None:
    # Move the contract last: once it exists, everything that it names exists too.
    entries = sorted(scratch.iterdir(), key=lambda entry: entry.name == CONTRACT_FILE)
    there = [entry.name for entry in entries if os.path.lexists(directory / entry.name)]
    if there:
        raise UsageError(
            f"{directory}: expected a directory without {', '.join(there)}, got one with "
            + ("it" if len(there) == 1 else "them"),
            hint=f"--instances {directory / INSTANCES} makes a study of what is there"
            if there == [INSTANCES]
            else "name a new directory, or move these away",
        )
    moved = []
    try:
        for entry in entries:
            entry.rename(directory / entry.name)
            moved.append(entry)
    except BaseException:
        for entry in reversed(moved):
            (directory / entry.name).rename(entry)
        raise


class ArmGroup(NamedTuple):
    """Arms under one comment: name, solver and options of each, their tier, and the comment."""

    arms: tuple[tuple[str, str, dict[str, str]], ...]
    tier: int = 1
    comment: str = ""


class ProblemFacts(NamedTuple):
    """The facts for a study of a problem: a title, the name of its objective, suitable arms, and one declared contrast.

    `generated_arms` suit the instances that gapline generates, but not every instance of the problem.
    """

    title: str
    objective: str
    arms: tuple[ArmGroup, ...]
    contrast: tuple[str, str] = ("pyvrp", "ortools")
    generated_arms: tuple[ArmGroup, ...] = ()


_NATIVE = ArmGroup((("pyvrp", "pyvrp", {}), ("ortools", "ortools", {"metaheuristic": "guided_local_search"})))
_KAYROS = ArmGroup((("kayros-ils", "kayros", {"strategy": "ils"}), ("kayros-aco", "kayros", {"strategy": "aco"})))
_SLICED = ArmGroup(
    (("pyvrp-mean", "pyvrp", {"slice": "mean"}), ("ortools-mean", "ortools", {"slice": "mean"})),
    tier=2,
    comment="""
# These two plan with the mean travel time of the day. Their plans may miss the true time windows, which the checker
# finds out: tier 2 is described, not compared.""",
)
_MIP = ArmGroup((("highs", "highs", {}), ("scip", "scip", {})))
_WHOLE = ArmGroup(
    (("cpsat", "cpsat", {}),),
    comment="\n# CP-SAT computes in whole numbers: it takes programs of bounded integers, as these are.",
)

PROBLEMS = {
    "tdvrptw": ProblemFacts(
        "Time-dependent vehicle routing with time windows", "duration", (_KAYROS, _SLICED), ("kayros-ils", "kayros-aco")
    ),
    "vrptw": ProblemFacts("Vehicle routing with time windows", "distance", (_NATIVE,)),
    "cvrp": ProblemFacts("Capacitated vehicle routing", "distance", (_NATIVE,)),
    "mip": ProblemFacts("Mixed-integer programs", "cost", (_MIP,), ("highs", "scip"), (_WHOLE,)),
}


def problem_arms(problem: str, *, generated: bool = False, iterations: int | None = None) -> str:
    """Return the arms of a problem; with `iterations` each stops after that many steps."""
    facts = PROBLEMS[problem]
    text = ""
    for group in (*facts.arms, *(facts.generated_arms if generated else ())):
        text += group.comment
        for name, solver, chosen in group.arms:
            options = [f"{key} = {quoted(value)}" for key, value in chosen.items()]
            options += [f"iterations = {iterations}"] if iterations is not None else []
            text += f"\n[[arms]]\nname = {quoted(name)}\nsolver = {quoted(solver)}\n"
            text += f"options = {{ {', '.join(options)} }}\n" if options else ""
            text += f"tier = {group.tier}\n" if group.tier > 1 else ""
    return text


NO_REFERENCE = """\
# The best of the campaign itself. Freeze a snapshot before the first run for scores that stay comparable:
# policy = "frozen" and snapshot = "references/NAME.json".
policy = "analysis\""""


def frozen_reference(snapshot: str, *, known: str = "Known before the first run.") -> str:
    """Return the section of a reference that is frozen in a file of the study."""
    return f'# {known}\npolicy = "frozen"\nsnapshot = {quoted(snapshot)}'


def quoted(text: str) -> str:
    """Return a text as a TOML string.

    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def contract_text(
    facts: ProblemFacts,
    *,
    name: str,
    title: str,
    checker: str,
    horizon: float,
    seeds: int | Sequence[int],
    instances: str,
    arms: str,
    reference: str = NO_REFERENCE,
) -> str:
    """Return the contract of a study; `title` follows that of the problem, the last three are sections of the file."""
    return f"""# The contract of a study: what a reader needs to interpret its scores. See docs/contract.md.
# gapline run DIR runs it, gapline status DIR shows how far it is, gapline score DIR scores it.

# Each arm runs once on each instance with each seed{": a number means 1 to that number" * isinstance(seeds, int)}.
seeds = {seeds if isinstance(seeds, int) else list(seeds)}

[study]
name = {quoted(name)}
title = {quoted(facts.title + title)}
# For those who cite and find the study; it changes no number and may be filled in at any time (docs/replication.md).
# description = "What the study asks, and how."
# authors = [{{ given = "Ada", family = "Lovelace", orcid = "0000-0002-1825-0097", affiliation = "Engines" }}]
# licence = "CC-BY-4.0"
# keywords = ["anytime", "optimization"]
# version = "1.0"
# date = 2026-08-01
# related = [{{ identifier = "10.1000/182", relation = "isSupplementTo" }}]

[objective]
name = {quoted(facts.objective)}
# "max" where larger values are better; an instance may state its own.
sense = "min"
# Every candidate is checked against the original problem, and its objective recomputed.
validation = "checker"
checker = {quoted(checker)}

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
contrasts = [[{", ".join(map(quoted, facts.contrast))}]]

{instances.strip()}
{arms}"""


@dataclass(frozen=True, slots=True)
class Panel:
    """Generated instances of one size; a problem with several families makes one panel of each."""

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
    """Write `study.toml` and `instances/` into a directory without a study, and return the path of the contract.

    `name` is the name of the study, by default that of the problem, and determines the instances. `snapshot` is the
    path of a frozen one inside the study; without it, scores are against the best of the campaign itself. With
    `iterations`, solvers stop after that many steps, whatever the clock shows.
    """
    refuse_unknown(problem)
    name = name or problem
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
            PROBLEMS[problem],
            name=name,
            title=", generated instances",
            checker=problem,
            horizon=horizon,
            seeds=seeds,
            reference=NO_REFERENCE if snapshot is None else frozen_reference(snapshot),
            instances="\n".join(
                f'[[instances]]\npath = "{pattern}"\npanel = "{family}"\nsize = {size}\n'
                for pattern, (family, size) in entries.items()
            ),
            arms=problem_arms(problem, generated=True, iterations=iterations),
        )
        write_file(study / CONTRACT_FILE, text.encode())
    return Path(folder) / CONTRACT_FILE
