"""The plan of a replication: the unpacked package, and the study that is made from it."""

import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gapline.campaign.store import file_digest
from gapline.campaign.threads import thread_count
from gapline.contract.contract import CHECKERS, Arm, Contract, ReplicatesTable
from gapline.contract.expansion import fits
from gapline.contract.layout import (
    CAMPAIGN,
    CONTRACT_FILE,
    JOURNALS,
    REPLICATION,
    RESULTS,
    PackedInstance,
    read_package_document,
)
from gapline.contract.names import split_python_name
from gapline.contract.plan import Plan, planned_seeds, replicated_part, resolve_program
from gapline.contract.result_table import as_document
from gapline.contract.study_file import load_contract
from gapline.errors import (
    EnvironmentLacksError,
    GaplineError,
    IntegrityError,
    TraceError,
    UsageError,
    found_at,
    listing,
)
from gapline.files.archives import is_zip
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import read_document
from gapline.generate.study import new_study, quoted
from gapline.journal.register import read_register
from gapline.package.contents import OWN
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack, solver_identity
from gapline.study.replication import PackageOrigin, ReplicatedPart
from gapline.text import counted, meant, printable
from gapline.traces.package_source import UnpackedPackage, is_package, unpacked_package


@contextmanager
def opened_package(path: str | Path, *, only: Callable[[str], bool] = lambda _: True) -> Iterator[UnpackedPackage]:
    """Unpack a package into a temporary folder; refuse it if members do not match their checksums.

    `only` decides by a member's name whether it is kept in the folder; all members are verified.
    """
    if not is_package(path) and not is_zip(path):
        raise TraceError(
            f"{path}: expected a replication package, which `gapline pack` writes, got {found_at(Path(path))}"
        )
    with unpacked_package(path, only=only) as package:
        # Instances are later looked up in the user's directory: their paths must not lead out of it.
        for name in (name for one in _instances(package) for name in (one.path, *one.beside)):
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or not place.parts:
                raise IntegrityError(f"{path}: expected instances inside of the study, got {printable(name)!r}")
        yield package


def _instances(package: UnpackedPackage) -> Iterable[PackedInstance]:
    return read_package_document(package.folder).instances.values()


UNKNOWN = "not recorded"
NOT_STARTED = "not started yet"


@dataclass(frozen=True, slots=True)
class ReplicationArm:
    """An arm to run: the program of the package, the one installed here, and what is missing for it."""

    name: str
    program: str
    there: str
    here: str
    runs: int
    seconds: float
    lacks: str | None = None


@dataclass(frozen=True, slots=True)
class Intended:
    """The plan: `seconds` is the limit on solving time, `at_a_time` the parallel runs, `code` the Python functions."""

    package: PackageOrigin
    arms: tuple[ReplicationArm, ...]
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
        """Return the plan for JSON."""
        package = self.package
        return as_document(self) | {"package": package.identity.document(), "part": msgspec.to_builtins(package.part)}

    def lines(self) -> list[str]:
        """Return the plan as lines of text."""
        origin = self.package
        lines = [f"package {printable(origin.name)}", f"  {origin.sha256}", f"  {origin.swhid}", "it will run here:"]
        for arm in self.arms:
            which = _here_and_there(arm.name, arm.here, arm.there)
            lines += [f"  arm {which}, {counted(arm.runs, 'run')}", f"    {printable(arm.program)}"]
        if self.checker is not None:
            lines.append(f"  checker {_here_and_there(self.checker, self.checker_here, self.checker_there)}")
        lines += [f"  Python code of the package: {printable(name)}" for name in self.code]
        total = f"  {counted(self.runs, 'run')}, {duration(self.seconds)} of solving at most"
        if self.at_a_time:
            total += f", about {duration(self.seconds / self.at_a_time)} with {self.at_a_time} at a time"
        return [*lines, total, *(f"lacking: {printable(lack)}" for lack in self.lacks)]


def _here_and_there(name: str, here: str, there: str) -> str:
    return f"{printable(name)}: {printable(here)} ({'as there' if here == there else f'there {printable(there)}'})"


def duration(seconds: float) -> str:
    """Format a duration in a readable unit.

    >>> duration(45), duration(600), duration(9000), duration(400000)
    ('45 s', '10 min', '2.5 h', '4.6 days')
    """
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def intend(
    package: UnpackedPackage,
    contract: Contract,
    origin: PackageOrigin,
    *,
    jobs: int | None = None,
    on: str | None = None,
) -> Intended:
    """Return the plan for a part of a package, without starting anything of the package."""
    before = contract.replicates.horizon_scale if contract.replicates else 1.0
    # If the package is itself a replication, its contract already contains its scale.
    part = origin.part.table() | {"horizon_scale": origin.part.horizon_scale / before}
    table = ReplicatesTable.model_validate(origin.identity.document() | part)
    chosen = replicated_part(contract.model_copy(update={"replicates": table}))
    cells = Plan.of(chosen).cells
    register = read_register(package.folder)
    last = register.entries[-1] if register.entries else None
    solvers = (last and last.solvers) or {}
    arms = []
    for arm in chosen.arms:
        mine = [cell for cell in cells if cell.arm.name == arm.name]
        program = " ".join(arm.command) if arm.command else f"gapline's adapter of {arm.solver}"
        # Resolve programs in the folder of the package, which holds those of the study.
        lacking = arms_lack([resolve_program(arm, package.folder)], package.folder)
        seconds = sum(cell.horizon for cell in mine)
        lack = lacking[0].replace(f"{package.folder}/", "") if lacking else None
        there = solvers.get(arm.name, UNKNOWN)
        arms.append(ReplicationArm(arm.name, program, there, _identity(arm), len(mine), seconds, lack))
    named = chosen.objective.checker if chosen.objective.validation == "checker" else None
    code = (*chosen.score.kernels, *chosen.score.statistics, chosen.score.weight, named or "")
    # The number of parallel runs on a cluster is unknown.
    threads = max((cell.threads for cell in cells), default=1)
    side_by_side = max(1, thread_count() // threads) if on is None else None
    return Intended(
        package=origin,
        arms=tuple(arms),
        checker=named,
        checker_there=(last.checker if last else None) or UNKNOWN,
        checker_here=_checker(named, package.folder),
        code=tuple(name for name in dict.fromkeys(code) if split_python_name(name) is not None),
        runs=len(cells),
        seconds=sum(arm.seconds for arm in arms),
        at_a_time=jobs if jobs is not None else side_by_side,
    )


def _identity(arm: Arm) -> str:
    try:
        return solver_identity(arm)
    except (GaplineError, PackageNotFoundError):
        return "not installed"


def _checker(named: str | None, folder: Path) -> str:
    """Return name and version of a checker of gapline; a checker of the package is not started to find out."""
    if named not in CHECKERS:
        return NOT_STARTED
    try:
        return identify_checker(folder, named).label
    except GaplineError as error:
        return f"lacking: {error.message}"


# Documents and results of the package, which do not belong in the new study.
_NOT_UNPACKED = frozenset({*OWN, REPLICATION, CONTRACT_FILE, RESULTS, JOURNALS, CAMPAIGN})
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


def choose_part(
    contract: Contract,
    *,
    arms: Sequence[str] = (),
    panels: Sequence[str] = (),
    seeds: Sequence[str | int] = (),
    horizon_scale: float = 1.0,
) -> ReplicatedPart:
    """Choose the part of a package's contract to run: names or patterns, `1,3` or `1..5` for seeds.

    If the package is itself a replication, the part is chosen within its part.
    """
    if not 0 < horizon_scale < float("inf"):
        raise UsageError(f"--horizon-scale: expected a positive number, got {horizon_scale}")
    before = contract.replicates
    known = list(dict.fromkeys(one.panel for one in contract.instances))
    return ReplicatedPart(
        arms=_names("--arms", arms, [arm.name for arm in contract.arms], before.arms if before else ()),
        panels=_names("--panels", panels, known, before.panels if before else ()),
        seeds=_seeds(seeds, sorted(planned_seeds(contract)), before.seeds if before else ()),
        horizon_scale=horizon_scale * (before.horizon_scale if before else 1.0),
    )


def _names(option: str, given: Sequence[str], known: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    # Commas separate names, unless a name itself contains one.
    patterns = [
        part for text in given for part in ([text] if text in known else [one.strip() for one in text.split(",")])
    ]
    for pattern in patterns:
        if not any(fits(name, pattern) for name in known):
            raise UsageError(
                f"{option}: expected names of the package, got {pattern!r}", hint=meant(pattern, known, show=True)
            )
    return tuple(name for name in known if fits(name, patterns)) if patterns or before else ()


def _seeds(given: Sequence[str | int], known: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    wanted: set[int] = set()
    for text in (one.strip() for part in given for one in str(part).split(",")):
        span = _RANGE.fullmatch(text)
        found = [s for s in known if (int(span[1]) <= s <= int(span[2]) if span else fits(str(s), text))]
        if not found:
            shown = listing(map(str, known), most=10)
            raise UsageError(f"--seeds: expected seeds of the package ({shown}), got {text!r}", hint="as 1,3 or 1..5")
        wanted.update(found)
    return tuple(seed for seed in known if seed in wanted or (before and not given))


def origin_of(package: UnpackedPackage, part: ReplicatedPart) -> PackageOrigin:
    """Return the origin of a replication."""
    return PackageOrigin(**package.identity.document(), part=part)


def replica_text(text: str, origin: PackageOrigin) -> str:
    """Return the contract of a replication: the text of the package's contract, and a table with its part."""
    part = origin.part
    table = [f"{name} = {quoted(value)}" for name, value in origin.identity.document().items()]
    table += [
        f"{name} = [{', '.join(map(quoted, named))}]" for name in ("arms", "panels") if (named := getattr(part, name))
    ]
    table += [f"seeds = {list(part.seeds)}"] if part.seeds else []
    table += [f"horizon_scale = {part.horizon_scale!r}"] if part.horizon_scale != 1 else []
    return (
        "# A replication: `gapline replicate` runs the package again that [replicates], at the end, names.\n"
        "# All between these lines and that table is the contract of the package, as it was packed.\n"
        f"{_without_table(text).rstrip()}\n\n"
        "# Which package this is, and which part of it is run here: arms, panels and seeds, all where none is named.\n"
        "# Every horizon above is multiplied by horizon_scale.\n" + "\n".join(["[replicates]", *table]) + "\n"
    )


def contract_text(package: UnpackedPackage, origin: PackageOrigin) -> bytes:
    """Return the contract of a replication of a package."""
    return replica_text(read_document(package.folder / CONTRACT_FILE).decode("utf-8"), origin).encode()


def _without_table(text: str) -> str:
    """Remove the [replicates] table of a package that is itself a replication."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            inside = line.rstrip() == "[replicates]"
        if not inside:
            kept.append(line)
    return "".join(kept)


def read_origin(directory: Path) -> PackageOrigin | None:
    """Return the origin of a replication in a directory; None if there is no study."""
    path = directory / CONTRACT_FILE
    if not path.exists():
        return None
    try:
        # Read the table only: patterns of the contract may refer to instances that do not exist yet.
        found = tomllib.loads(read_document(path).decode("utf-8")).get("replicates")
        table = None if found is None else ReplicatesTable.model_validate(found)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # Loading the contract reports the same mistake with a clear message.
        table = load_contract(directory).replicates
    if table is None:
        raise UsageError(
            f"{directory}: expected a new directory or a replication begun there, got another study",
            hint="name another directory with -o",
        )
    facts = table.model_dump()
    return msgspec.convert(facts | {"part": facts}, PackageOrigin)


def prepare(package: UnpackedPackage, directory: Path, origin: PackageOrigin) -> None:
    """Write the study into a new directory, or continue one that was begun there from the same package."""
    begun = read_origin(directory)
    if begun is None:
        with new_study(directory) as study:
            for entry in sorted(package.folder.iterdir()):
                if entry.name not in _NOT_UNPACKED:
                    copy = shutil.copytree if entry.is_dir() else shutil.copy
                    copy(entry, study / entry.name)
            for one in _instances(package):
                if not one.included:
                    # A placeholder must not be taken for the instance itself.
                    (study / one.path).unlink(missing_ok=True)
            text = contract_text(package, origin)
            write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(text))
    elif begun.sha256 != origin.sha256:
        raise UsageError(
            f"{directory}: expected the package that was begun there, {begun.name} ({begun.sha256}), got {origin.name} "
            f"({origin.sha256})",
            hint="name another directory with -o",
        )
    elif begun.part != origin.part:
        parts = [one.part.words() or "all of it" for one in (begun, origin)]
        raise UsageError(
            f"{directory}: expected the part of the package that was begun there ({parts[0]}), got another one "
            f"({parts[1]})",
            hint="leave the options out to go on with it, or name another directory with -o",
        )
    _demand_instances(_instances(package), directory)


def _demand_instances(instances: Iterable[PackedInstance], directory: Path) -> None:
    """Refuse instance files that differ from those of the package, and name the missing ones with their places."""
    lacking: dict[str, str] = {}
    for one in instances:
        for path, digest in {one.path: one.digest, **one.beside}.items():
            place = directory / path
            if not place.is_file():
                where = printable(one.where or "where to get it is not stated")
                lacking[path] = f"{printable(path)} ({digest}; {where})"
            elif (found := file_digest(place)) != digest:
                raise IntegrityError(
                    f"{place}: expected the instance of the package ({digest}), got another file ({found})"
                )
    if lacking:
        shown = "\n".join(lacking.values())
        raise EnvironmentLacksError(
            f"{directory}: the package comes without {len(lacking)} files of its instances; put them there:\n{shown}",
            hint="then call it again: they are verified, and it goes on",
        )
