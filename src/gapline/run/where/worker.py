"""One cell on a worker, which may be another machine: all it needs is the study directory, shared by name."""

from dataclasses import dataclass
from pathlib import Path

from gapline.model.contract import Arm
from gapline.model.layout import CONTRACT_FILE, JOURNALS
from gapline.model.plan import Cell
from gapline.model.store import file_digest
from gapline.model.version import VERSION
from gapline.run.cell import CellResult, RunSettings, run_cell
from gapline.run.process.control import Control
from gapline.run.where.carried import WorkerLostError
from gapline.run.where.heartbeat import heartbeat_file, watching
from gapline.run.where.lease import lease_cores
from gapline.solvers import arms_lack


@dataclass(frozen=True, slots=True)
class WorkerRunner:
    """Runs a cell on whatever machine it is called, on cores that no other run of ours has there."""

    settings: RunSettings
    runner: str
    pin: bool = True

    def __call__(self, cell: Cell) -> CellResult:
        """Wait for cores, run the cell on them."""
        control = Control()
        study = self.settings.study
        # The runner has made it before: where it is missing, the directory is another machine's.
        if not (study / JOURNALS).is_dir():
            problem = f"{cell.key}: expected the study directory {study} on the worker, got none"
            return CellResult(cell.key, "infrastructure", problems=(problem,))
        with (
            watching(study, self.runner, control),
            lease_cores(cell.threads, stopping=lambda: control.stopping) as lease,
        ):
            if lease is None:
                return CellResult(cell.key, "left")
            slot, held = lease
            result = run_cell(cell, self.settings, slot if self.pin else (), control, runner=self.runner, held=held)
        if result.outcome == "interrupted" and not result.problems and not control.stopping:
            # Not by the runner: a batch system that takes the machine away ends the supervisor by a signal.
            raise WorkerLostError(f"{cell.key}: the run was ended from outside")
        return result


def worker_problems(study: Path, runner: str, digest: str, version: str, arms: list[Arm]) -> list[str]:
    """Say what a worker lacks: the shared directory, the same gapline, the solvers. Called on the worker."""
    found = []
    if not heartbeat_file(study, runner).is_file() or file_digest(study / CONTRACT_FILE) != digest:
        found.append(f"expected the study directory {study}, shared with the runner, got none or another one")
    if version != VERSION:
        found.append(f"expected gapline {version}, got {VERSION}")
    return found + arms_lack(arms, study)
