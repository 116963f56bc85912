"""Detect programs and instances that change while a campaign runs."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from gapline.campaign.store import file_digest
from gapline.contract.contract import Arm
from gapline.contract.instance_digest import problem_digest_of
from gapline.contract.plan import Cell
from gapline.errors import GaplineError, IntegrityError, TraceError
from gapline.files.open_file import reason_of
from gapline.solvers import program_files, solver_identity


class InstanceLostError(TraceError):
    """The file of an instance can no longer be read."""


def program_digests(arm: Arm, study: Path) -> dict[str, str]:
    """Return the programs of an arm: digests of its files by path, and the version of its package.

    Files that the programs load in turn are not included.
    """
    found = {}
    for path in program_files(arm, study):
        name = path.relative_to(study) if path.is_relative_to(study) else path
        found[str(name)] = digest_of(path)
    if arm.solver != "command":
        try:
            found[arm.solver] = solver_identity(arm)
        except (PackageNotFoundError, GaplineError):
            found[arm.solver] = "not installed"
    return found


def instance_digests(cell: Cell, study: Path) -> tuple[str, str]:
    """Return the digest of a cell's instance file, and that of the problem in it."""
    path = study / cell.instance.path
    return digest_of(path), digest_of(path, of=problem_digest_of)


def refuse_changed(
    cell: Cell,
    study: Path,
    *,
    programs: Mapping[str, Mapping[str, str]],
    instances: Mapping[str, tuple[str, str]],
    elsewhere: bool = False,
) -> None:
    """Raise an error if the program or the instance of a run has changed since the campaign began.

    On another machine (`elsewhere`), files outside the study may differ from the start and are not compared.
    """
    now = program_digests(cell.arm, study)
    for name, before in programs.get(cell.arm.name, {}).items():
        if elsewhere and Path(name).is_absolute():
            continue
        _refuse(cell, f"program {name}", before, now.get(name, "gone"))
    before, problem = instances.get(cell.instance.path, ("", ""))
    found, same = instance_digests(cell, study)
    # A changed file with the same problem is the same instance; scoring reports the change.
    if before and same != problem:
        _refuse(cell, f"instance {cell.instance.path}", before, found)


def _refuse(cell: Cell, what: str, before: str, now: str) -> None:
    if now != before:
        raise IntegrityError(
            f"{cell.key}: {what} changed while the campaign ran: expected {before}, got {now}",
            hint="no more runs were started; those before stay. Put it back, or run again to go on with what is there",
        )


def digest_of(path: Path, of: Callable[[Path], str] = file_digest) -> str:
    """Return the digest of a file that many cells share: it is read once, unless it changes."""
    try:
        facts = path.stat()
        # With inode and ctime: a file can be swapped for one of the same size, and its mtime set back.
        return _digest_at(path, of, (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_size))
    except OSError as error:
        raise InstanceLostError(f"{path}: expected the instance, got {reason_of(error)}") from error


# More than a study has instances: with a smaller cache, cells in rotating order would read every file each time.
@lru_cache(maxsize=1 << 18)
def _digest_at(path: Path, of: Callable[[Path], str], _version: tuple[int, ...]) -> str:
    return of(path)
