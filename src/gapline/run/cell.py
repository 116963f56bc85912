"""Run one cell: claim it, make an attempt under a supervisor, and check its candidates on the same cores."""

import contextlib
import hashlib
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gapline.contract.contract import Contract
from gapline.contract.instance_digest import problem_digest_of
from gapline.contract.ladders import LADDER, LADDER_STEP, ladder_record
from gapline.contract.plan import Cell
from gapline.contract.tables import CARRIED, RUNS, RunKey, RunStatus
from gapline.errors import IntegrityError
from gapline.executors.core_leases import Slot
from gapline.files.atomic_write import write_atomically
from gapline.journal.attempts import attempt_number, read_cell
from gapline.journal.fairness import MUCH_SHARED, disturbances
from gapline.journal.line import ORDER_FILE
from gapline.journal.read import Journal, read_journal, run_status
from gapline.journal.records import WHOLE_CAUSES, Caps, Ending, Order, order_text
from gapline.process.cgroup import end_group, known_base
from gapline.process.control import Control
from gapline.process.machine import describe_machine, frequency_policy, load_average
from gapline.process.nursery import Loss, start_supervisor
from gapline.process.tree import signal_all, strays
from gapline.run.check_run import CheckSettings, check_attempt
from gapline.run.claim import claim, new_attempt
from gapline.run.program_changes import InstanceLostError, digest_of, program_digests, refuse_changed
from gapline.solvers import command_line, model_of

# The fields of an arm that define it; threads, memory and the like are stated for each cell.
_MAKES_THE_ARM = {"name", "solver", "options", "tier", "command", "format"}
ATTEMPT_VARIABLE = "GAPLINE_ATTEMPT"
KILL_AFTER = 1.0
# By then, a supervisor whose worker died has ended its processes, unless the machine is gone.
CLEAR_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings that all cells of a campaign share.

    `programs` (by arm) and `instances` (by path) are digests from the start of the campaign. `protocol` is what the
    contract says of the timing but no run can show: the charged work, the granularity, the class of machine.
    """

    study: Path
    grace: float
    validation: str
    check: CheckSettings | None
    kill_after: float = KILL_AFTER
    caps: Caps = field(default_factory=Caps)
    order_seed: int | None = None
    rerun_noisy: bool = False
    programs: dict[str, dict[str, str]] = field(default_factory=dict)
    instances: dict[str, tuple[str, str]] = field(default_factory=dict)
    protocol: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Path, contract: Contract, check: CheckSettings | None, **choices: Any) -> "RunSettings":
        """Return the settings of a contract; `choices` are those that it does not declare."""
        time, validation = contract.time, contract.objective.validation
        protocol = {"charged": time.charged, "granularity": time.granularity, "machine_class": time.machine}
        stated = {name: words for name, words in protocol.items() if words}
        return cls(study, time.grace, validation, check, protocol=stated, **choices)


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a cell in this call of the runner.

    `outcome` is "done" (a whole attempt was made), "skipped" (there was one), "busy" (another runner, or a remaining
    process of one, holds it), "interrupted" (the attempt was cut short and will be repeated), "left" (not begun, as
    the runner was stopping or the instance is gone) or "infrastructure" (disk full and the like).
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
    """Make an attempt at a cell without a whole one, and check its candidates.

    `runner` names the campaign if cells run on other machines: the claim of a lost worker of the same campaign is
    waited for. `held` are files that the supervisor keeps open as long as it lives, such as locks on cores.
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
                problems, unchecked = _check(journal, settings, slot, control)
                return CellResult(cell.key, "skipped", journal.status, unchecked=unchecked, problems=tuple(problems))
            if control.stopping:
                return CellResult(cell.key, "left")
            refuse_changed(
                cell,
                settings.study,
                programs=settings.programs,
                instances=settings.instances,
                elsewhere=runner is not None,
            )
            # If the machine's supervisors were killed, processes of an earlier attempt may still run.
            for earlier in record.attempts:
                _end_strays(earlier.path.parent)
            attempt = new_attempt(directory)
            order = make_order(cell, settings, slot, attempt)
            write_atomically(attempt / ORDER_FILE, lambda stream: stream.write(order_text(order)))
            # The supervisor inherits the claim: if we die, the cell stays claimed until all its processes have ended.
            ending = _supervise(attempt, control, (claimed, *held))
            return _result(cell, attempt, order, ending, lambda: _check(attempt, settings, slot, control))
    except InstanceLostError as error:
        # The machine is fine: runs on other instances continue.
        return CellResult(cell.key, "left", RunStatus.LOST, problems=(f"{cell.key}: {error}",))
    except OSError as error:
        return CellResult(cell.key, "infrastructure", RunStatus.LOST, problems=(f"{cell.key}: {error}",))


def _result(
    cell: Cell, attempt: Path, order: Order, ending: Ending | Loss, check: Callable[[], tuple[list[str], int]]
) -> CellResult:
    if isinstance(ending, Loss):
        count = ending.found + _end_strays(attempt)
        found = f"; what it left was ended (processes: {count})" if count else ""
        problems = [f"{cell.key}: the supervisor died ({ending.lost}){found}; its attempt is kept and not counted"]
        if ending.leftover:
            problems.append(f"{cell.key}: expected no process left, got {ending.leftover}")
        return CellResult(cell.key, "interrupted", RunStatus.LOST, problems=tuple(problems))
    if ending.cause not in WHOLE_CAUSES:
        outcome = "infrastructure" if ending.cause == "infrastructure" else "interrupted"
        problems = [] if ending.cause in ("interrupted", "runner lost") else [f"{cell.key}: {ending.error}"]
        return CellResult(
            cell.key, outcome, RunStatus.LOST, ending.events, elapsed=ending.elapsed, problems=tuple(problems)
        )
    problems, unchecked = check()
    if ending.unpinned:
        problems.insert(0, f"{cell.key}: the solver left its cores, and was put back {ending.unpinned} times")
    if ending.shared_memory > MUCH_SHARED:
        megabytes = ending.shared_memory // 1_000_000
        problems.insert(
            0,
            f"{cell.key}: {megabytes} MB in files on /dev/shm or the like while it ran, of this run or of others, "
            "which no limit counts here",
        )
    if ending.stops:
        problems.insert(0, f"{cell.key}: its supervisor was stopped {ending.stops} times and went on: stamps are late")
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


def _end_strays(attempt: Path) -> int:
    """End the processes of a dead supervisor, found by group or environment; return their number."""
    left = strays(ATTEMPT_VARIABLE, str(attempt))
    signal_all(left, signal.SIGKILL)
    return len(left) + end_group(attempt)


def _check(run: Journal | Path, settings: RunSettings, slot: Slot, control: Control) -> tuple[list[str], int]:
    """Check a run; a path is that of the attempt, whose journal is read here."""
    if settings.check is None:
        return [], 0
    journal = read_journal(run) if isinstance(run, Path) else run
    checked = check_attempt(settings.study, journal, settings.check, cpus=slot, stopping=lambda: control.killing)
    return list(checked.problems), checked.unchecked


def _supervise(attempt: Path, control: Control, held: tuple[int, ...]) -> Ending | Loss:
    """Start a supervisor, wait for it, and return its ending, or the facts about its death."""
    supervisor = start_supervisor(attempt, held)
    control.add(supervisor)
    try:
        answer = supervisor.wait()
    finally:
        control.remove(supervisor)
        supervisor.close()
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.json.decode(answer, type=Ending)
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.json.decode(answer, type=Loss)
    # If the nursery was killed too, a process can hide from us, unless it is in a control group.
    hidden = "" if known_base() is not None else "; a process that hides may be left"
    return Loss(f"and the nursery with it{hidden}", 0, 0)


def make_order(cell: Cell, settings: RunSettings, slot: Slot, attempt: Path) -> Order:
    """Return the order for the supervisor of an attempt."""
    path = (settings.study / cell.instance.path).absolute()
    return Order(
        arm=cell.arm.name,
        instance=cell.instance.name,
        seed=cell.seed,
        panel=cell.instance.panel,
        horizon=cell.horizon,
        attempt=attempt_number(attempt),
        argv=command_line(cell.arm, path, seed=cell.seed, horizon=cell.horizon, threads=cell.threads),
        instance_path=cell.instance.path,
        condition=condition(cell, settings),
        environment={
            "GAPLINE_INSTANCE": str(path),
            "GAPLINE_SEED": str(cell.seed),
            "GAPLINE_HORIZON": repr(cell.horizon),
            "GAPLINE_THREADS": str(cell.threads),
            ATTEMPT_VARIABLE: str(attempt),
        },
        directory=str(settings.study.absolute()),
        grace=settings.grace,
        kill_after=settings.kill_after,
        memory=cell.memory,
        cpus=list(slot),
        caps=settings.caps,
        carried=_carried(cell, settings),
        programs=program_digests(cell.arm, settings.study),
        machine=describe_machine() | frequency_policy(slot),
        load=load_average(),
        order_seed=settings.order_seed,
        position=cell.position or None,
    )


def _carried(cell: Cell, settings: RunSettings) -> dict[str, str | int | float | bool | None]:
    """Return the columns of the runs table that are known before the run, including one for each option of the arm."""
    carried: dict[str, str | int | float | bool | None] = {
        "tier": cell.arm.tier,
        "solver": cell.arm.solver,
        "threads": cell.threads,
        "size": None if cell.instance.size is None else float(cell.instance.size),
        "validation": settings.validation,
        **settings.protocol,
        "instance_digest": digest_of(settings.study / cell.instance.path),
        "problem_digest": digest_of(settings.study / cell.instance.path, of=problem_digest_of),
        **ladder_record(cell.arm),
    }
    if model := model_of(cell.arm, cell.instance.path):
        carried["simplified_model"] = model
    for name, value in cell.arm.options.items():
        # An option with the name of one of our columns gets another name, so that both are kept.
        taken = name in carried or name in RUNS or name in CARRIED or name in (LADDER, LADDER_STEP)
        column = f"option_{name}" if taken else name
        carried[column] = msgspec.json.encode(value).decode() if isinstance(value, list) else value
    return carried


def condition(cell: Cell, settings: RunSettings, instance_digest: object = None) -> str:
    """Return the digest of what makes two attempts at a cell comparable."""
    # Facts that may differ between two attempts are left out on purpose: cores, load, order of the cells, checker.
    facts = [
        cell.arm.model_dump(include=_MAKES_THE_ARM),
        cell.horizon,
        settings.grace,
        cell.threads,
        cell.memory,
        settings.validation,
        instance_digest or digest_of(settings.study / cell.instance.path),
    ]
    return "sha256:" + hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def refuse_other_condition(cell: Cell, settings: RunSettings, order: Order) -> None:
    """Raise an error if a cell was begun under another contract."""
    if order.condition == condition(cell, settings):
        return
    # A changed file with the same problem still is the instance that was solved; scoring reports the change.
    same = order.carried.get("problem_digest") == digest_of(settings.study / cell.instance.path, of=problem_digest_of)
    if same and order.condition == condition(cell, settings, order.carried.get("instance_digest")):
        return
    facts = {
        "horizon": (f"{order.horizon:g}", f"{cell.horizon:g}"),
        "instance": (order.carried.get("instance_digest"), digest_of(settings.study / cell.instance.path)),
    }
    differing = [f"{name} {then}, now {now}" for name, (then, now) in facts.items() if then != now]
    raise IntegrityError(
        f"{cell.key}: expected the contract under which its runs were begun, got another one "
        f"({'; '.join(differing) or 'arm, limits or validation differ'})",
        hint="put the changed contract into a new study directory",
    )
