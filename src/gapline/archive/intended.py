"""What a replication will run, said before anything of the package is started."""

import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from gapline.archive.source import OpenedPackage
from gapline.errors import GaplineError
from gapline.journal.register import read_register
from gapline.model.contract import CHECKERS, Arm, Contract, ReplicatesTable
from gapline.model.document import as_document
from gapline.model.names import split_python_name
from gapline.model.part import replicated_part
from gapline.model.plan import Plan, resolve_program
from gapline.model.replication import Origin
from gapline.model.text import counted, printable
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack, solver_identity

UNKNOWN = "not recorded"
NOT_STARTED = "not started yet"


@dataclass(frozen=True, slots=True)
class IntendedArm:
    """An arm that will be run: what ran there, what would run here, and what lacks for it."""

    name: str
    program: str
    there: str
    here: str
    runs: int
    seconds: float
    lacks: str | None = None


@dataclass(frozen=True, slots=True)
class Intended:
    """What will be run: `seconds` of solving at most, `at_a_time` runs side by side; `code` are Python functions."""

    package: Origin
    arms: tuple[IntendedArm, ...]
    checker: str | None
    checker_there: str
    checker_here: str
    code: tuple[str, ...]
    runs: int
    seconds: float
    at_a_time: int | None

    @property
    def lacks(self) -> list[str]:
        """What has to be installed before anything can run."""
        return [arm.lacks for arm in self.arms if arm.lacks is not None]

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        found = as_document(self)
        found["package"] = {name: getattr(self.package, name) for name in ("name", "sha256", "swhid")}
        part = self.package.part
        found["part"] = {name: getattr(part, name) for name in ("arms", "panels", "seeds", "horizon_scale")}
        return found

    def lines(self) -> list[str]:
        """Say it, a line each."""
        origin = self.package
        lines = [f"package {printable(origin.name)}", f"  {origin.sha256}", f"  {origin.swhid}", "it will run here:"]
        for arm in self.arms:
            same = "as there" if arm.here == arm.there else f"there {printable(arm.there)}"
            lines.append(f"  arm {printable(arm.name)}: {printable(arm.here)} ({same}), {counted(arm.runs, 'run')}")
            lines.append(f"    {printable(arm.program)}")
        if self.checker is not None:
            same = "as there" if self.checker_here == self.checker_there else f"there {printable(self.checker_there)}"
            lines.append(f"  checker {printable(self.checker)}: {printable(self.checker_here)} ({same})")
        lines += [f"  Python code of the package: {printable(name)}" for name in self.code]
        many = (
            f", about {duration(self.seconds / self.at_a_time)} with {self.at_a_time} at a time"
            if self.at_a_time
            else ""
        )
        lines.append(f"  {counted(self.runs, 'run')}, {duration(self.seconds)} of solving at most{many}")
        return [*lines, *(f"lacking: {printable(lack)}" for lack in self.lacks)]


def duration(seconds: float) -> str:
    """Write a time as people say it.

    >>> duration(45), duration(600), duration(9000), duration(400000)
    ('45 s', '10 min', '2.5 h', '4.6 days')
    """
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def intend(
    package: OpenedPackage, contract: Contract, origin: Origin, *, jobs: int | None = None, on: str | None = None
) -> Intended:
    """Return what running a part of a package would run; nothing of the package is started for it."""
    part = origin.part
    before = contract.replicates.horizon_scale if contract.replicates else 1.0
    table = ReplicatesTable(
        name=origin.name,
        sha256=origin.sha256,
        swhid=origin.swhid,
        arms=list(part.arms),
        panels=list(part.panels),
        seeds=list(part.seeds),
        # That of a package that is a replication itself is in its contract already.
        horizon_scale=part.horizon_scale / before,
    )
    chosen = replicated_part(contract.model_copy(update={"replicates": table}))
    cells = Plan.of(chosen).cells
    register = read_register(package.folder)
    last = register.entries[-1] if register.entries else None
    arms = []
    for arm in chosen.arms:
        mine = [cell for cell in cells if cell.arm.name == arm.name]
        there = (last.solvers or {}).get(arm.name, UNKNOWN) if last else UNKNOWN
        # Looked for in the folder of the package: a program of the study's own is there.
        lacking = arms_lack([resolve_program(arm, package.folder)], package.folder)
        seconds = sum(cell.horizon for cell in mine)
        lack = lacking[0].replace(f"{package.folder}/", "") if lacking else None
        arms.append(IntendedArm(arm.name, _program(arm), there, _identity(arm), len(mine), seconds, lack))
    named = chosen.objective.checker if chosen.objective.validation == "checker" else None
    code = (*chosen.score.kernels, *chosen.score.statistics, chosen.score.weight, named or "")
    seconds = sum(arm.seconds for arm in arms)
    return Intended(
        package=origin,
        arms=tuple(arms),
        checker=named,
        checker_there=(last.checker if last else None) or UNKNOWN,
        checker_here=_checker(named, package.folder),
        code=tuple(name for name in dict.fromkeys(code) if split_python_name(name) is not None),
        runs=len(cells),
        seconds=seconds,
        at_a_time=_at_a_time(jobs, on, max((cell.threads for cell in cells), default=1)),
    )


def _program(arm: Arm) -> str:
    return " ".join(arm.command) if arm.command else f"gapline's adapter of {arm.solver}"


def _identity(arm: Arm) -> str:
    try:
        return solver_identity(arm)
    except (GaplineError, PackageNotFoundError):
        return "not installed"


def _checker(named: str | None, folder: Path) -> str:
    """Return name and version of a checker of ours; one that the package brings is not started to be asked."""
    if named not in CHECKERS:
        return NOT_STARTED
    try:
        return identify_checker(folder, named).label
    except GaplineError as error:
        return f"lacking: {error.message}"


def _at_a_time(jobs: int | None, on: str | None, threads: int) -> int | None:
    if jobs is not None:
        return jobs
    if on is not None:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // threads)
