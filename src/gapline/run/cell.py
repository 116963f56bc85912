"""Run one cell: claim it, make an attempt under a supervisor, check what came out of it in the slot it leaves."""

import hashlib
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gapline.errors import IntegrityError, TraceError
from gapline.journal.attempts import read_cell
from gapline.journal.fairness import disturbances
from gapline.journal.line import ORDER_FILE
from gapline.journal.read import read_journal, run_status
from gapline.journal.records import WHOLE_CAUSES, Caps, Ending, Order
from gapline.model.contract import Contract
from gapline.model.plan import Cell
from gapline.model.problem import problem_digest_of
from gapline.model.store import file_digest
from gapline.model.tables import CARRIED, RUNS, RunKey, RunStatus
from gapline.model.writing import write_atomically
from gapline.run.check_run import CheckSettings, check_attempt
from gapline.run.claim import claim, new_attempt
from gapline.run.process.control import Control
from gapline.run.process.machine import describe_machine, frequency_policy, load_average
from gapline.run.process.nursery import start_supervisor
from gapline.run.process.tree import signal_all, strays
from gapline.run.where.pin import Slot
from gapline.solvers import command_line

ATTEMPT_VARIABLE = "GAPLINE_ATTEMPT"
KILL_AFTER = 1.0
# A supervisor whose worker died has cleared its tree by then, or the machine is gone.
CLEAR_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What all cells of a campaign have in common."""

    study: Path
    grace: float
    threads: int
    memory: int | None
    validation: str
    check: CheckSettings | None
    kill_after: float = KILL_AFTER
    caps: Caps = field(default_factory=Caps)
    order_seed: int | None = None
    rerun_noisy: bool = False

    @classmethod
    def of(cls, study: Path, contract: Contract, check: CheckSettings | None, **choices: Any) -> "RunSettings":
        """Take the settings from the contract of a study; `choices` are those that it does not declare."""
        time, validation = contract.time, contract.objective.validation
        return cls(study, time.grace, time.threads, time.memory, validation, check, **choices)


@dataclass(frozen=True, slots=True)
class CellResult:
    """What became of a cell in this call of the runner.

    `outcome` is "done" (a whole attempt was made), "skipped" (there was one), "busy" (another runner has it),
    "interrupted" (the attempt was cut short: it will be made again), "left" (not begun, as the runner was stopping or
    the instance is gone) or "infrastructure" (disk full and the like).
    """

    key: RunKey
    outcome: str
    status: RunStatus = RunStatus.UNKNOWN
    events: int = 0
    unchecked: int = 0
    elapsed: float = 0.0
    noisy: bool = False
    problems: tuple[str, ...] = field(default=())


def run_cell(
    cell: Cell,
    settings: RunSettings,
    slot: Slot,
    control: Control,
    *,
    runner: str | None = None,
    held: Sequence[int] = (),
) -> CellResult:
    """Make an attempt at a cell that has no whole one yet, and check its candidates.

    `runner` names the campaign where cells run on other machines: a claim that a lost worker of the same campaign left
    behind is waited for. `held` are files that the supervisor keeps open as long as it lives: locks on cores.
    """
    directory = cell.directory(settings.study)
    patience = cell.horizon + settings.grace + settings.kill_after + CLEAR_WITHIN if runner else 0.0
    try:
        with claim(directory, runner=runner, patience=patience, stopping=lambda: control.stopping) as claimed:
            if claimed is None:
                return CellResult(cell.key, "busy")
            record = read_cell(directory)
            journal = record.counting
            if record.order is not None:
                refuse_other_condition(cell, settings, record.order)
            if journal is not None and not (settings.rerun_noisy and journal.disturbed):
                problems, unchecked = _check(journal.path.parent, settings, slot, control)
                return CellResult(cell.key, "skipped", journal.status, unchecked=unchecked, problems=tuple(problems))
            if control.stopping:
                return CellResult(cell.key, "left")
            # A machine that was killed with its supervisors may have left a process of an earlier attempt.
            for earlier in record.attempts:
                signal_all(strays(ATTEMPT_VARIABLE, str(earlier.path.parent)), signal.SIGKILL)
            attempt = new_attempt(directory)
            order = make_order(cell, settings, slot, attempt)
            # For people who look: a line for each fact.
            readable = msgspec.json.format(msgspec.json.encode(order), indent=1) + b"\n"
            write_atomically(attempt / ORDER_FILE, lambda stream: stream.write(readable))
            # The supervisor inherits the claim: should we die, the cell stays taken until it has cleared its tree.
            ending = _supervise(attempt, control, (claimed, *held))
            return _result(cell, attempt, order, ending, lambda: _check(attempt, settings, slot, control))
    except InstanceLostError as error:
        # Nothing is wrong with the machine: the runs on other instances go on.
        return CellResult(cell.key, "left", RunStatus.LOST, problems=(f"{cell.key}: {error}",))
    except OSError as error:
        return CellResult(cell.key, "infrastructure", RunStatus.LOST, problems=(f"{cell.key}: {error}",))


def _result(
    cell: Cell, attempt: Path, order: Order, ending: Ending | None, check: Callable[[], tuple[list[str], int]]
) -> CellResult:
    if ending is None:
        signal_all(strays(ATTEMPT_VARIABLE, str(attempt)), signal.SIGKILL)
        problem = f"{cell.key}: the supervisor died; its attempt is kept and not counted"
        return CellResult(cell.key, "interrupted", RunStatus.LOST, problems=(problem,))
    if ending.cause not in WHOLE_CAUSES:
        outcome = "infrastructure" if ending.cause == "infrastructure" else "interrupted"
        problems = [] if ending.cause in ("interrupted", "runner lost") else [f"{cell.key}: {ending.error}"]
        return CellResult(
            cell.key, outcome, RunStatus.LOST, ending.events, elapsed=ending.elapsed, problems=tuple(problems)
        )
    problems, unchecked = check()
    if ending.leftover:
        problems.insert(0, f"{cell.key}: expected no process left, got {ending.leftover}")
    return CellResult(
        cell.key,
        "done",
        run_status(ending),
        events=ending.events,
        unchecked=unchecked,
        elapsed=ending.elapsed,
        noisy=bool(disturbances(order, ending)),
        problems=tuple(problems),
    )


def _check(attempt: Path, settings: RunSettings, slot: Slot, control: Control) -> tuple[list[str], int]:
    if settings.check is None:
        return [], 0
    journal = read_journal(attempt)
    checked = check_attempt(settings.study, journal, settings.check, cpus=slot, stopping=lambda: control.killing)
    return list(checked.problems), checked.unchecked


def _supervise(attempt: Path, control: Control, held: tuple[int, ...]) -> Ending | None:
    """Start a supervisor, wait for it, and return its ending; None when it died without one."""
    supervisor = start_supervisor(attempt, held)
    control.add(supervisor)
    try:
        # It closes its end when it is gone, however that came.
        answer = supervisor.stdout.read()
    finally:
        control.remove(supervisor)
        supervisor.close()
    try:
        return msgspec.json.decode(answer, type=Ending)
    except msgspec.DecodeError:
        return None


def make_order(cell: Cell, settings: RunSettings, slot: Slot, attempt: Path) -> Order:
    """Write down what the supervisor of an attempt is to do."""
    path = (settings.study / cell.instance.path).absolute()
    return Order(
        arm=cell.arm.name,
        instance=cell.instance.name,
        seed=cell.seed,
        panel=cell.instance.panel,
        horizon=cell.horizon,
        attempt=int(attempt.name.partition("-")[2]),
        argv=command_line(cell.arm, path, seed=cell.seed, horizon=cell.horizon, threads=settings.threads),
        instance_path=cell.instance.path,
        condition=condition(cell, settings),
        environment={
            "GAPLINE_INSTANCE": str(path),
            "GAPLINE_SEED": str(cell.seed),
            "GAPLINE_HORIZON": repr(cell.horizon),
            "GAPLINE_THREADS": str(settings.threads),
            ATTEMPT_VARIABLE: str(attempt),
        },
        directory=str(settings.study.absolute()),
        grace=settings.grace,
        kill_after=settings.kill_after,
        memory=settings.memory,
        cpus=list(slot),
        caps=settings.caps,
        carried=_carried(cell, settings),
        machine=describe_machine() | frequency_policy(slot),
        load=load_average(),
        order_seed=settings.order_seed,
        position=cell.position or None,
    )


def _carried(cell: Cell, settings: RunSettings) -> dict[str, str | int | float | bool | None]:
    """Return the columns of the runs table that are known beforehand; each option of the arm is one, for ladders."""
    carried: dict[str, str | int | float | bool | None] = {
        "tier": cell.arm.tier,
        "solver": cell.arm.solver,
        "threads": settings.threads,
        "size": None if cell.instance.size is None else float(cell.instance.size),
        "validation": settings.validation,
        "instance_digest": _digest(settings.study / cell.instance.path),
        "problem_digest": _digest(settings.study / cell.instance.path, of=problem_digest_of),
    }
    for name, value in cell.arm.options.items():
        # An option that is called like a column of ours keeps both, under another name.
        column = f"option_{name}" if name in carried or name in RUNS or name in CARRIED else name
        carried[column] = msgspec.json.encode(value).decode() if isinstance(value, list) else value
    return carried


def condition(cell: Cell, settings: RunSettings, instance_digest: object = None) -> str:
    """Return the digest of what makes two attempts at a cell comparable."""
    # What may differ between two attempts is left out on purpose: cores, load, order of the cells, checker.
    facts = [
        cell.arm.model_dump(),
        cell.horizon,
        settings.grace,
        settings.threads,
        settings.memory,
        settings.validation,
        instance_digest or _digest(settings.study / cell.instance.path),
    ]
    return "sha256:" + hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def refuse_other_condition(cell: Cell, settings: RunSettings, order: Order) -> None:
    """Refuse to go on with a cell that was begun under another contract."""
    if order.condition == condition(cell, settings):
        return
    # Other bytes with the same problem in them are the instance that was solved; scoring says that they changed.
    same = order.carried.get("problem_digest") == _digest(settings.study / cell.instance.path, of=problem_digest_of)
    if same and order.condition == condition(cell, settings, order.carried.get("instance_digest")):
        return
    facts = {
        "horizon": (f"{order.horizon:g}", f"{cell.horizon:g}"),
        "instance": (order.carried.get("instance_digest"), _digest(settings.study / cell.instance.path)),
    }
    differing = [f"{name} {then}, now {now}" for name, (then, now) in facts.items() if then != now]
    raise IntegrityError(
        f"{cell.key}: expected the contract under which its runs were begun, got another one "
        f"({'; '.join(differing) or 'arm, limits or validation differ'})",
        hint="put the changed contract into a new study directory",
    )


class InstanceLostError(TraceError):
    """The file of an instance cannot be read any more."""


def _digest(path: Path, of: Callable[[Path], str] = file_digest) -> str:
    try:
        facts = path.stat()
        # By time and size: thousands of cells share few instances, and each is read once unless it changes.
        return _digest_at(path, of, (facts.st_mtime_ns, facts.st_size))
    except OSError as error:
        raise InstanceLostError(f"{path}: expected the instance, got {error.strerror or error}") from error


@lru_cache(maxsize=4096)
def _digest_at(path: Path, of: Callable[[Path], str], _version: tuple[int, int]) -> str:
    return of(path)
