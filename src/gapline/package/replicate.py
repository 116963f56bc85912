"""`replicate`: run a package or a part of it again, and report whether its conclusions hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from gapline.contract.layout import CONTRACT_FILE, JOURNALS, REGISTER, REPLICATION, RESULTS
from gapline.contract.study_file import load_contract
from gapline.errors import EnvironmentLacksError, IntegrityError, TraceError
from gapline.files.open_file import read_document
from gapline.journal.line import ORDER_FILE
from gapline.package.comparison import compare_studies
from gapline.package.conditions import read_recorded
from gapline.package.pack import FORMATS
from gapline.package.replication_plan import (
    Intended,
    choose_part,
    contract_text,
    intend,
    opened_package,
    origin_of,
    prepare,
    read_origin,
)
from gapline.report.write import write_report
from gapline.run.campaign import RunReport, run_study
from gapline.run.progress import Progress
from gapline.study import open_study
from gapline.study.replication import PackageOrigin, Replicated
from gapline.traces.package_source import UnpackedPackage


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """A package that was run again: the plan, what the runner did, and the comparison.

    `found` is None if the runs were interrupted; the same call resumes them.
    """

    directory: Path
    intended: Intended
    run: RunReport
    found: Replicated | None = None

    @property
    def failed(self) -> bool:
        """Whether a conclusion is contradicted, or an alarm rings: then no number of the study can be trusted."""
        return self.found is not None and bool(self.found.contradicted or self.found.alarms)


def plan_replication(
    package: str | Path,
    directory: str | Path | None = None,
    /,
    *,
    jobs: int | None = None,
    on: str | None = None,
    **part: Any,
) -> Intended:
    """Return what `replicate` would run, without starting anything; `part` is as in `replicate`."""
    with opened_package(package, only=_is_needed) as opened:
        return _intend(opened, directory, part, jobs=jobs, on=on)


def replicate(
    package: str | Path,
    directory: str | Path,
    /,
    *,
    arms: Sequence[str] = (),
    panels: Sequence[str] = (),
    seeds: Sequence[str | int] = (),
    horizon_scale: float = 1.0,
    jobs: int | None = None,
    on: str | None = None,
    progress: Progress | None = None,
    say: Callable[[Intended], None] | None = None,
    report: bool = True,
) -> Replication:
    """Run a replication package again and compare the new results with the packaged ones.

    It runs the programs that the package names, as `gapline run` does. The new study has its own directory, without any
    result of the package; calling this function again resumes an interrupted replication.

    Parameters
    ----------
    package
        A package written by `gapline pack`.
    directory
        The directory of the new study: a new one, or one in which the same package was begun.
    arms, panels, seeds
        Names or patterns of what to run, by default everything; seeds also as `1,3` or `1..5`.
    horizon_scale
        The factor for every horizon. Both studies are then scored at the shorter of the two horizons; each score stays
        conditional on the horizon that was announced to its solver.
    jobs, on, progress
        As in `gapline.run_study`.
    say
        Called with a description of what will run, before anything of the package starts.
    report
        Write the report of the new study, including the replication, into its `results/`.

    Raises
    ------
    EnvironmentLacksError
        If a solver is missing here, or instances that the package does not include.
    IntegrityError
        If the package, or an instance that was put into the directory, does not match its digest.
    """
    part = {"arms": arms, "panels": panels, "seeds": seeds, "horizon_scale": horizon_scale}
    place = Path(directory)
    with opened_package(package, only=_is_needed) as opened:
        intended = _intend(opened, place, part, jobs=jobs, on=on)
        if say is not None:
            say(intended)
        if intended.lacks:
            hint = "nothing was run; install what is missing, or leave the arm out with --arms"
            raise EnvironmentLacksError("\n".join(intended.lacks), hint=hint)
        # Open the package before running anything: otherwise an unreadable one would only be noticed hours later.
        open_study(str(opened.folder), allow_code=True, allow_empty=True)
        prepare(opened, place, intended.package)
    # Close the package before the runs: a campaign may take days.
    run = run_study(place, jobs=jobs, on=on, progress=progress)
    if run.interrupted or run.infrastructure is not None or run.campaign is None:
        return Replication(place, intended, run)
    return Replication(place, intended, run, _compare(package, place, intended.package, report=report))


def _compare(package: str | Path, directory: Path, origin: PackageOrigin, *, report: bool) -> Replicated:
    """Compare the runs of a replication with those of its package, save the result, and write the report."""
    # Open the new study first: code of the study is then loaded from its permanent directory.
    new = open_study(str(directory), allow_code=True, allow_empty=True)
    with opened_package(package, only=_is_needed) as opened:
        if opened.identity.sha256 != origin.sha256:
            raise IntegrityError(
                f"{package}: expected the package that was run again ({origin.sha256}), got another one "
                f"({opened.identity.sha256})"
            )
        old = open_study(str(opened.folder), allow_code=True, allow_empty=True)
        recorded = (read_recorded(opened.folder), read_recorded(directory))
        found = compare_studies(old, new, recorded=recorded, origin=origin)
        if read_document(directory / CONTRACT_FILE) != contract_text(opened, origin):
            edited = (
                f"the contract here was edited after it was unpacked: it is not that of the package ({CONTRACT_FILE})"
            )
            found = msgspec.structs.replace(found, notes=(edited, *found.notes))
    found.save(directory / REPLICATION)
    if report:
        # Open the study again: its report includes the saved comparison.
        new = open_study(str(directory), allow_code=True, allow_empty=True)
        write_report(new, directory / RESULTS, formats=FORMATS)
    return found


def _is_needed(name: str) -> bool:
    """Return whether a member is needed to run a package or read its runs: of the journals, orders and register."""
    folder, _, rest = name.partition("/")
    if folder == JOURNALS:
        return rest == REGISTER or name.endswith(f"/{ORDER_FILE}")
    return folder != RESULTS


def _intend(
    package: UnpackedPackage, directory: str | Path | None, part: dict[str, Any], *, jobs: int | None, on: str | None
) -> Intended:
    """Return what will run: the requested part, or the part that was begun in the directory."""
    if not (package.folder / JOURNALS).is_dir():
        raise TraceError(
            f"{package.path}: expected runs that gapline made, got imported ones",
            hint="what was imported names no program that could be run again",
        )
    contract = load_contract(package.folder)
    asked = any(part.get(name) for name in ("arms", "panels", "seeds")) or part.get("horizon_scale", 1.0) != 1
    origin = None if directory is None or asked else read_origin(Path(directory))
    if origin is None or origin.sha256 != package.identity.sha256:
        origin = origin_of(package, choose_part(contract, **part))
    return intend(package, contract, origin, jobs=jobs, on=on)
