"""What a replication will run: the unpacked package, and the study that is made of it."""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from pathlib import Path, PurePosixPath
from typing import Any

from gapline.campaign.store import file_digest
from gapline.contract.contract import CHECKERS, Arm, Contract, ReplicatesTable, load_contract
from gapline.contract.expansion import fits
from gapline.contract.layout import (
    CAMPAIGN,
    CITATION,
    CONTRACT_FILE,
    CRATE,
    DOCUMENT,
    JOURNALS,
    README,
    REPLICATION,
    RESULTS,
    SUMS,
    ZENODO,
    Identity,
    PackedInstance,
    read_package_document,
)
from gapline.contract.names import split_python_name
from gapline.contract.plan import Plan, planned_seeds, replicated_part, resolve_program
from gapline.contract.result_table import as_document
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
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack, solver_identity
from gapline.study.replication import Origin, Part
from gapline.text import counted, meant, printable
from gapline.traces.package_source import is_package, unpacked_package


@dataclass(frozen=True, slots=True)
class OpenedPackage:
    """A package whose members lie in a folder."""

    folder: Path
    identity: Identity
    instances: dict[str, PackedInstance] = field(default_factory=dict)


@contextmanager
def opened_package(path: str | Path, *, only: Callable[[str], bool] = lambda _: True) -> Iterator[OpenedPackage]:
    """Unpack a package into a folder that is removed at the end; what does not fit its sums is refused.

    Parameters
    ----------
    only
        Says of a member's name whether it is kept in the folder; all of them are verified.
    """
    if not is_package(path) and not is_zip(path):
        raise TraceError(
            f"{path}: expected a replication package, which `gapline pack` writes, got {found_at(Path(path))}"
        )
    with unpacked_package(path, only=only) as package:
        document = read_package_document(package.folder)
        _refuse_elsewhere(document.instances.values(), package.path)
        yield OpenedPackage(package.folder, package.identity, document.instances)


def _refuse_elsewhere(instances: Iterable[PackedInstance], file: Path) -> None:
    """Refuse instances outside of the study: whoever runs it again looks for them in a directory of theirs."""
    for name in (name for one in instances for name in (one.path, *one.beside)):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise IntegrityError(f"{file}: expected instances inside of the study, got {printable(name)!r}")


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


# What a package says of itself, and what was found when it was run: none of it is for the one who runs it again.
_NOT_UNPACKED = frozenset(
    {README, SUMS, DOCUMENT, CRATE, CITATION, ZENODO, REPLICATION, CONTRACT_FILE, RESULTS, JOURNALS, CAMPAIGN}
)
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


def choose_part(
    contract: Contract,
    *,
    arms: Sequence[str] = (),
    panels: Sequence[str] = (),
    seeds: Sequence[str | int] = (),
    horizon_scale: float = 1.0,
) -> Part:
    """Settle which part of a package's contract is run: names or patterns, `1,3` or `1..5` for seeds.

    A package that is itself a replication has a part of its own, of which this is one.
    """
    if not 0 < horizon_scale < float("inf"):
        raise UsageError(f"--horizon-scale: expected a positive number, got {horizon_scale}")
    before = contract.replicates
    known = list(dict.fromkeys(one.panel for one in contract.instances))
    return Part(
        arms=_names("--arms", arms, [arm.name for arm in contract.arms], before.arms if before else ()),
        panels=_names("--panels", panels, known, before.panels if before else ()),
        seeds=_seeds(seeds, sorted(planned_seeds(contract)), before.seeds if before else ()),
        horizon_scale=horizon_scale * (before.horizon_scale if before else 1.0),
    )


def _names(option: str, given: Sequence[str], known: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    # A name may hold a comma itself; otherwise it stands between names.
    patterns = [
        part for text in given for part in ([text] if text in known else [one.strip() for one in text.split(",")])
    ]
    for pattern in patterns:
        if not any(fits(name, pattern) for name in known):
            raise UsageError(
                f"{option}: expected names of the package, got {pattern!r}", hint=meant(pattern, known, show=True)
            )
    if not patterns and not before:
        return ()
    return tuple(name for name in known if fits(name, patterns))


def _seeds(given: Sequence[str | int], known: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    wanted: set[int] = set()
    for text in (one.strip() for part in given for one in str(part).split(",")):
        span = _RANGE.fullmatch(text)
        found = [s for s in known if (int(span[1]) <= s <= int(span[2]) if span else fits(str(s), text))]
        if not found:
            shown = listing(map(str, known), most=10)
            raise UsageError(f"--seeds: expected seeds of the package ({shown}), got {text!r}", hint="as 1,3 or 1..5")
        wanted.update(found)
    if not given:
        return tuple(known) if before else ()
    return tuple(seed for seed in known if seed in wanted)


def origin_of(package: OpenedPackage, part: Part) -> Origin:
    """Return where a replication comes from."""
    return Origin(name=package.identity.name, sha256=package.identity.sha256, swhid=package.identity.swhid, part=part)


def replica_text(text: str, origin: Origin) -> str:
    """Return the contract of a replication: the package's own words, and the table that says which part is run."""
    part = origin.part
    table = ["[replicates]", *(f"{name} = {quoted(getattr(origin, name))}" for name in ("name", "sha256", "swhid"))]
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
        "# Every horizon above is multiplied by horizon_scale.\n" + "\n".join(table) + "\n"
    )


def is_edited(package: OpenedPackage, directory: Path, origin: Origin) -> bool:
    """Say whether the contract of a replication is another one than was made of the package."""
    text = read_document(package.folder / CONTRACT_FILE).decode("utf-8")
    return read_document(directory / CONTRACT_FILE) != replica_text(text, origin).encode()


def _without_table(text: str) -> str:
    """Leave out the table of a package that is itself a replication."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            inside = line.rstrip() == "[replicates]"
        if not inside:
            kept.append(line)
    return "".join(kept)


def read_origin(directory: Path) -> Origin | None:
    """Return what a directory replicates, None where it holds no study."""
    if not (directory / CONTRACT_FILE).exists():
        return None
    table = _replicates(directory)
    if table is None:
        raise UsageError(
            f"{directory}: expected a new directory or a replication begun there, got another study",
            hint="name another directory with -o",
        )
    part = Part(
        arms=tuple(table.arms), panels=tuple(table.panels), seeds=tuple(table.seeds), horizon_scale=table.horizon_scale
    )
    return Origin(name=table.name, sha256=table.sha256, swhid=table.swhid, part=part)


def _replicates(directory: Path) -> ReplicatesTable | None:
    """Read the table alone: patterns of the contract may wait for instances that are not there yet."""
    import tomllib

    try:
        found = tomllib.loads(read_document(directory / CONTRACT_FILE).decode("utf-8")).get("replicates")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # The same mistake in the words of the contract.
        return load_contract(directory).replicates
    return None if found is None else ReplicatesTable.model_validate(found)


def prepare(package: OpenedPackage, directory: Path, origin: Origin) -> None:
    """Write the study into a new directory, or go on with the one that was begun there from the same package."""
    begun = read_origin(directory)
    if begun is None:
        text = read_document(package.folder / CONTRACT_FILE).decode("utf-8")
        with new_study(directory) as study:
            for entry in sorted(package.folder.iterdir()):
                if entry.name not in _NOT_UNPACKED:
                    copy = shutil.copytree if entry.is_dir() else shutil.copy
                    copy(entry, study / entry.name)
            for one in package.instances.values():
                if not one.included:
                    # What stands in for it would be taken for the instance itself.
                    (study / one.path).unlink(missing_ok=True)
            write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(replica_text(text, origin).encode()))
    elif begun.sha256 != origin.sha256:
        raise UsageError(
            f"{directory}: expected the package that was begun there, {begun.name} ({begun.sha256}), got {origin.name} "
            f"({origin.sha256})",
            hint="name another directory with -o",
        )
    elif begun.part != origin.part:
        raise UsageError(
            f"{directory}: expected the part of the package that was begun there ({_part_words(begun.part)}), got "
            f"another one ({_part_words(origin.part)})",
            hint="leave the options out to go on with it, or name another directory with -o",
        )
    _demand_instances(package.instances.values(), directory)


def _part_words(part: Part) -> str:
    words = [
        f"{name} {listing(map(str, getattr(part, name)))}"
        for name in ("arms", "panels", "seeds")
        if getattr(part, name)
    ]
    words += [f"horizons × {part.horizon_scale:g}"] if part.horizon_scale != 1 else []
    return "; ".join(words) or "all of it"


def _demand_instances(instances: Iterable[PackedInstance], directory: Path) -> None:
    """Refuse instance files that are not those of the package, and say which are to be put where."""
    lacking: dict[str, str] = {}
    for one in instances:
        for path, digest in {one.path: one.digest, **one.beside}.items():
            place = directory / path
            if not place.is_file():
                lacking[path] = (
                    f"{printable(path)} ({digest}; {printable(one.where or 'where to get it is not stated')})"
                )
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
