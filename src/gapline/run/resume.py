"""Determine from the journals of a study which cells are done and which are left."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gapline.contract.contract import Contract
from gapline.contract.plan import Cell, Plan
from gapline.contract.solver_versions import several_versions
from gapline.contract.study_file import load_contract
from gapline.contract.tables import EXACT_MODEL, RunKey
from gapline.errors import IntegrityError
from gapline.journal.attempts import CellRecord, attempts_of, folders_of
from gapline.journal.checker_choice import study_judge
from gapline.journal.fairness import Fairness, Value, fairness_columns, summarise_fairness
from gapline.journal.index import Index, open_index
from gapline.journal.plan_coverage import CellState, cell_state, waits_for_verdict
from gapline.journal.read import Outcome
from gapline.journal.register import read_register
from gapline.journal.unknown_files import find_strays
from gapline.journal.verdicts import Judge, verdicts_of
from gapline.run.cell import RunSettings, refuse_other_condition
from gapline.run.claim import is_claimed
from gapline.solvers import simplified_arms


def state_for_runner(cell: Cell, settings: RunSettings, index: Index) -> CellState:
    """Return the state of a cell for the runner; raise an error if it was begun under another contract."""
    seen = [index.read(attempt) for attempt in attempts_of(cell.directory(settings.study))]
    record = CellRecord(cell.directory(settings.study), [one.outcome for one in seen])
    journal = record.counting
    if record.order is not None:
        refuse_other_condition(cell, settings, record.order)
    if journal is None:
        return cell_state(record)
    if settings.rerun_noisy and journal.disturbed:
        return CellState.NOISY
    if settings.check is None or not journal.asked:
        return CellState.DONE
    stored = next(one.verdicts for one in seen if one.outcome is journal)
    verdicts = verdicts_of(stored, settings.check.wrote)
    return CellState.UNCHECKED if verdicts is None or verdicts.unchecked else CellState.DONE


@dataclass(slots=True)
class StudyStatus:
    """The cells of a study by state.

    Runs that wait for a verdict are not done. `failed` runs are done and ended badly; `superseded_because` counts the
    attempts that do not count in cells that are done, and `changed` names those among them whose journal was changed
    after it was written. `left_behind` counts processes that outlived the cleanup of their run, `over_cap` events that
    are missing in the journals; `strays` are files in the journal that gapline did not write. `models` are the
    simplified models that arms solve, by arm. `notes` list what changed in the contract after the first run.
    """

    study: Path
    name: str
    planned: int
    cells: Counter[CellState] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[RunKey, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    superseded_because: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)
    left_behind: int = 0
    over_cap: int = 0
    seconds_left: float = 0.0
    models: dict[str, str] = field(default_factory=dict)
    fairness: Fairness = field(default_factory=Fairness)

    @property
    def superseded(self) -> int:
        """Attempts that do not count, in cells that are done."""
        return self.superseded_because.total()

    @property
    def left(self) -> int:
        """Cells that `gapline run` would run."""
        return sum(self.cells[state] for state in (CellState.MISSING, CellState.INTERRUPTED, CellState.QUARANTINED))


def study_status(study_dir: str | Path) -> StudyStatus:
    """Read the status of a study, without writing anything but the index of its journals."""
    study = Path(study_dir)
    contract: Contract = load_contract(study)
    cells = Plan.of(contract).cells
    status = StudyStatus(study, contract.study.name, len(cells))
    made_by: Counter[tuple[str, str]] = Counter()
    with open_index(study) as index:
        judge = study_judge(study, contract.objective.checker, index)
        status.fairness = summarise_fairness(_look(cells, status, index, judge, made_by))
        status.strays = find_strays(study) + _copies(study, {cell.directory(study).name for cell in cells}, index)
    status.warnings = several_versions(made_by)
    try:
        status.notes = read_register(study).notes()
    except IntegrityError as error:
        status.problems.append(str(error))
    status.models = dict(sorted((status.models | simplified_arms(contract)).items()))
    return status


def _look(
    cells: Iterable[Cell], status: StudyStatus, index: Index, judge: Judge | None, made_by: Counter[tuple[str, str]]
) -> Iterator[dict[str, Value]]:
    """Add each cell to the status, and yield the fairness columns of counting runs one by one, to save memory."""
    for cell in cells:
        directory = cell.directory(status.study)
        # Before reading: a growing journal would look torn.
        if is_claimed(directory):
            status.cells[CellState.RUNNING] += 1
            continue
        seen = [index.read(attempt) for attempt in attempts_of(directory)]
        record = CellRecord(directory, [one.outcome for one in seen])
        counting = record.counting
        stored = next((one.verdicts for one in seen if one.outcome is counting), [])
        state = cell_state(record, waits=counting is not None and waits_for_verdict(counting, stored, judge))
        status.cells[state] += 1
        # Next to a whole attempt, attempts that do not count are history, not problems to act on.
        status.superseded_because.update(record.superseded)
        for journal in record.attempts:
            status.left_behind += journal.left_behind
            if counting is None:
                status.problems += [f"{cell.key}: {problem}" for problem in journal.problems()]
                continue
            status.problems += [f"{cell.key}: {problem}" for problem in journal.order_problems()]
            if journal.corruption is not None:
                status.changed.append(f"{cell.key}: {journal.corruption}")
        if counting is None:
            status.seconds_left += cell.horizon
        else:
            status.over_cap += counting.over_cap
            status.problems += [f"{cell.key}: {problem}" for one in stored for problem in one.problems()]
            _note_programs(cell, counting, status, made_by)
            if state is CellState.UNCHECKED:
                continue
            status.statuses[counting.status.value] += 1
            if (cause := counting.failure) is not None:
                status.failed.append((cell.key, f"{counting.status.value} ({cause})"))
            if counting.order is not None:
                yield fairness_columns(counting.order, counting.ending)


def _note_programs(cell: Cell, run: Outcome, status: StudyStatus, made_by: Counter[tuple[str, str]]) -> None:
    """Count the program versions of a run, and note the simplified model that its arm solves."""
    if run.order is None:
        return
    if run.model and cell.arm.model != EXACT_MODEL:
        status.models[cell.arm.name] = run.model
    if run.version is not None:
        made_by[cell.arm.name, run.version] += 1
    made_by.update((f"{cell.arm.name}, {name}", word) for name, word in run.order.programs.items())


def _copies(study: Path, planned: set[str], index: Index) -> list[str]:
    """Return the directories outside the plan that hold copies of runs."""
    others = (index.read_cell(path) for path in folders_of(study) if path.name not in planned)
    return [str(record.directory.relative_to(study)) for record in others if record.is_copy]
