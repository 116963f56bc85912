"""Run the cells of a study in order, and wait for cells of other runners."""

import hashlib
import os
import shlex
import signal
import stat
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from gapline.campaign.campaign import Campaign
from gapline.contract.contract import Contract
from gapline.contract.layout import JOURNALS, OPTIONS_FILE
from gapline.contract.plan import Cell, Plan, default_order_seed, resolve_program, shuffle_cells
from gapline.contract.study_file import load_contract
from gapline.contract.tables import model_note
from gapline.errors import EnvironmentLacksError, IntegrityError, UsageError, listing
from gapline.executors.heartbeat import clear_heartbeats
from gapline.executors.place import read_place
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import read_regular
from gapline.journal.index import open_index
from gapline.journal.plan_coverage import CellState
from gapline.journal.rebuild import rebuild_campaign
from gapline.journal.register import declare, register_plan
from gapline.process.control import Control
from gapline.run.cell import CLEAR_WITHIN, CellResult, RunSettings
from gapline.run.check_run import CheckSettings, identify_checker
from gapline.run.claim import holder, is_claimed, wake_orphans
from gapline.run.placement import ReadyPlace, open_place, run_cells
from gapline.run.program_changes import instance_digests, program_digests
from gapline.run.progress import Progress
from gapline.run.resume import state_for_runner
from gapline.solvers import arms_lack, simplified_arms, solver_identity


def is_utf8(path: Path) -> bool:
    """Whether a path can be encoded in UTF-8."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def utf8_alias(study: Path, *, on: str | None = None) -> Path:
    """Return a UTF-8 path to the study: a link in a temporary folder of this machine.

    The path is the same each time, because the path of a program is part of the conditions of a run. It is kept for
    other runners.
    """
    hint = "rename the folder"
    if on is not None and not on.startswith("local"):
        raise UsageError(f"{study}: expected a path in UTF-8 for runs on other machines", hint=hint)
    name = hashlib.sha256(os.fsencode(study)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gapline-{os.getuid()}-{name}"
    if not is_utf8(folder):
        raise UsageError(f"{study}: expected a path in UTF-8, or a temporary folder with one", hint=hint)
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    # In a folder that all users can write to, another user may have created it first.
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise UsageError(f"{folder}: expected a folder that only its owner can write to", hint="remove it")
    alias = folder / "study"
    if not alias.is_symlink() or alias.readlink() != study:
        fresh = folder / f".{os.getpid()}"
        fresh.symlink_to(study)
        fresh.replace(alias)
    return alias


LOOK_AT_HELD_EVERY = 0.2

RunCells = Callable[[Sequence[Cell]], Iterator[tuple[Cell, CellResult]]]


def run_and_wait(
    cells: Sequence[Cell],
    run: RunCells,
    settings: RunSettings,
    *,
    stopping: Callable[[], bool],
    say: Callable[[str], None],
) -> Iterator[tuple[Cell, CellResult]]:
    """Run cells, then wait for cells that other runners work on and run those that stay unfinished.

    Another runner needs the horizon, the grace and some more seconds for a run. A cell that is held longer comes back
    as "busy", with the name of the holder.
    """
    while True:
        held: list[Cell] = []
        for cell, result in run(cells):
            if result.outcome == "busy":
                held.append(cell)
            else:
                yield cell, result
        if not held or not _one_is_free(held, settings, stopping=stopping, say=say):
            break
        cells = held
    for cell in held:
        yield cell, CellResult(cell.key, "busy", problems=(describe_claim(cell, settings),))


def _one_is_free(
    cells: list[Cell], settings: RunSettings, *, stopping: Callable[[], bool], say: Callable[[str], None]
) -> bool:
    """Wait until one of the cells is free; False if that takes too long or `stopping` returns True."""
    directories = [cell.directory(settings.study) for cell in cells]
    longest = max(cell.horizon for cell in cells) + settings.grace + settings.kill_after + CLEAR_WITHIN
    start = time.monotonic()
    told = False
    while all(map(is_claimed, directories)):
        waited = time.monotonic() - start
        if stopping() or waited > longest:
            return False
        if not told:
            told = True
            say(f"waiting for {listing((describe_claim(cell, settings) for cell in cells), most=3)}")
        for directory in directories:
            # A supervisor whose runner died ends by itself, unless it is stopped.
            wake_orphans(directory, kill=waited > CLEAR_WITHIN)
        time.sleep(LOOK_AT_HELD_EVERY)
    return True


def describe_claim(cell: Cell, settings: RunSettings) -> str:
    """Return the key of a cell and who holds it."""
    return f"{cell.key}: held by {holder(cell.directory(settings.study))}"


@dataclass(slots=True)
class RunReport:
    """The result of one call of the runner; `interrupted` is "SIGINT" or "SIGTERM" if it was interrupted."""

    study: Path
    planned: int
    before: int
    results: list[CellResult] = field(default_factory=list)
    interrupted: str | None = None
    campaign: Campaign | None = None
    options: tuple[str, ...] = ()

    @property
    def outcomes(self) -> Counter[str]:
        """Cells of this call by outcome."""
        return Counter(result.outcome for result in self.results)

    @property
    def done(self) -> int:
        """Cells with a whole attempt, from this call or an earlier one."""
        return self.before + self.outcomes["done"] + self.outcomes["skipped"]

    @property
    def busy(self) -> int:
        """Cells that another runner, or a remaining process of one, did not release in time."""
        return self.outcomes["busy"]

    @property
    def left(self) -> int:
        """Cells without a whole attempt that no other runner holds."""
        return self.planned - self.done - self.busy

    @property
    def infrastructure(self) -> str | None:
        """The first failure caused by the machine instead of a solver."""
        return next((result.problems[0] for result in self.results if result.outcome == "infrastructure"), None)

    @property
    def problems(self) -> list[str]:
        """All problems, in the order of the cells."""
        return [problem for result in self.results for problem in result.problems]

    @property
    def resume(self) -> str:
        """The command that resumes the study with the options of this call."""
        return resume_command(self.study, self.options)


def resume_command(study: Path, options: Iterable[str] | None = None, *more: str) -> str:
    """Return the command that resumes a study, by default with the options of the last call."""
    given = list(read_options(study) if options is None else options)
    words = ["gapline", "run", str(study), *given, *(word for word in more if word not in given)]
    return " ".join(map(shlex.quote, words))


def read_options(study: Path) -> list[str]:
    """Return the options of the last call of the runner; empty if they are unknown."""
    try:
        return msgspec.json.decode(read_regular(study / JOURNALS / OPTIONS_FILE), type=list[str])
    except (OSError, msgspec.MsgspecError):
        return []


def _options(choices: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the choices of a call as options of `gapline run`."""
    valued = {"--jobs": choices["jobs"], "--on": choices["on"], "--order-seed": choices["order_seed"]}
    flags = {
        "--rerun-noisy": choices["rerun_noisy"], "--no-check": not choices["check"], "--no-pin": not choices["pin"],
    }  # fmt: skip
    words = [word for name, value in valued.items() if value is not None for word in (name, str(value))]
    return (*words, *(name for name, is_set in flags.items() if is_set))


def run_study(
    study_dir: str | Path,
    *,
    jobs: int | None = None,
    on: str | None = None,
    check: bool = True,
    pin: bool = True,
    order_seed: int | None = None,
    rerun_noisy: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> RunReport:
    """Run every cell of a study that has no whole attempt yet, check it, and rebuild the campaign.

    Parameters
    ----------
    study_dir
        The study directory with its `study.toml`.
    jobs
        Number of runs at a time; by default, as many as the cores allow.
    on
        Where to run cells: `local:N`, `dask:ADDRESS`, `slurm`, `oar`; by default, on this machine.
    check
        Check the candidates of each run on the cores that it used; if False, `gapline check` does it later.
    pin
        Pin each run to its own cores.
    order_seed
        Seed of the random order of cells; by default, derived from the study's name. It is recorded.
    rerun_noisy
        Repeat runs that other processes disturbed; a repetition counts if it is undisturbed, and both are kept.
    progress
        Display of the progress.
    executor
        Executor of the cells, instead of `on`; its threads only wait. It is not shut down.

    Raises
    ------
    EnvironmentLacksError
        If a solver or the checker is missing; this is checked before any run.
    """
    place = read_place(on, jobs=jobs)
    choices: dict[str, Any] = {
        "jobs": jobs, "on": on, "check": check, "pin": pin, "order_seed": order_seed, "rerun_noisy": rerun_noisy,
    }  # fmt: skip
    options = _options(choices)
    study = Path(study_dir).absolute()
    if not is_utf8(study):
        alias = utf8_alias(study, on=on)
        report = run_study(alias, **choices, progress=progress, executor=executor)
        return _under_own_name(report, Path(study_dir), alias)
    contract = load_contract(study, files=True)
    if contract.time.clock != "wall":
        raise UsageError(
            f"{study}: time.clock: expected 'wall', by which runs are stamped, got {contract.time.clock!r}",
            hint="cpu_time is recorded of every run besides",
        )
    order_seed = default_order_seed(contract) if order_seed is None else order_seed
    resolved = {arm.name: resolve_program(arm, study) for arm in contract.arms}
    planned = [replace(cell, arm=resolved[cell.arm.name]) for cell in Plan.of(contract).cells]
    # In random order, so that a drift of the machine over the day does not affect one arm only.
    cells = shuffle_cells(planned, order_seed)
    if lacking := arms_lack({cell.arm.name: cell.arm for cell in cells}.values(), study):
        hint = "nothing was run; install what is missing, or drop the arm"
        raise EnvironmentLacksError("\n".join(lacking), hint=hint)
    judge = _check_settings(study, contract) if check else None
    settings = RunSettings.of(study, contract, judge, order_seed=order_seed, rerun_noisy=rerun_noisy)
    with open_index(study) as index:
        # Whole cells go through the runner too if their candidates wait for a verdict.
        todo = [cell for cell in cells if state_for_runner(cell, settings, index) is not CellState.DONE]
    # Registered before the first solver starts, so that a later declaration cannot pass for an earlier one.
    solvers = {arm.name: solver_identity(arm) for arm in contract.arms}
    register_plan(study, declare(study, contract, checker=judge.label if judge else None, solvers=solvers))
    arms, instances = {cell.arm.name: cell.arm for cell in todo}, {cell.instance.path: cell for cell in todo}
    settings = replace(
        settings,
        programs={name: program_digests(arm, study) for name, arm in arms.items()},
        instances={path: instance_digests(cell, study) for path, cell in instances.items()},
    )
    report = RunReport(Path(study_dir), planned=len(cells), before=len(cells) - len(todo), options=options)
    clear_heartbeats(study)
    # For `gapline status`, which prints the command that resumes the study however this call ends.
    write_atomically(study / JOURNALS / OPTIONS_FILE, lambda stream: stream.write(msgspec.json.encode(options)))
    control = Control()
    progress = progress or Progress()
    for arm, model in simplified_arms(contract).items():
        progress.say(model_note(arm, model))
    try:
        with open_place(place, settings, todo, control, pin=pin, executor=executor, say=progress.say) as ready:
            progress.start(todo, done=report.before, slots=ready.width(), standing=ready.standing)
            with _signals(control, progress, report):
                _run_todo(todo, ready, settings, control, progress, report)
    except EnvironmentLacksError as error:
        error.hint = error.hint or f"go on with: {report.resume}"
        raise
    finally:
        progress.stop()
    return report


def _run_todo(
    todo: list[Cell],
    ready: ReadyPlace,
    settings: RunSettings,
    control: Control,
    progress: Progress,
    report: RunReport,
) -> None:
    """Run cells in their place, then rebuild the campaign."""
    run = partial(
        run_cells,
        executor=ready.executor,
        run_one=ready.run_one,
        stopping=lambda: control.stopping,
        width=ready.width,
    )
    try:
        for cell, result in run_and_wait(todo, run, settings, stopping=lambda: control.stopping, say=progress.say):
            report.results.append(result)
            progress.advance(cell, result)
            if result.outcome == "infrastructure":
                control.kill("infrastructure")
    except IntegrityError:
        # A program or an instance has changed: the earlier runs stay and are shown.
        rebuild_campaign(settings.study)
        raise
    if report.infrastructure is None:
        # On a full disk, the complete campaign of the last call is worth more than half of a new one.
        report.campaign = rebuild_campaign(settings.study)
    if report.left == 0:
        ready.clear()


def _under_own_name(report: RunReport, study: Path, alias: Path) -> RunReport:
    """Replace the alias in a report by the study's own path."""
    results = [
        replace(one, problems=tuple(text.replace(str(alias), str(study)) for text in one.problems))
        for one in report.results
    ]
    campaign = None if report.campaign is None else rebuild_campaign(study)
    return replace(report, study=study, results=results, campaign=campaign)


def _check_settings(study: Path, contract: Contract) -> CheckSettings | None:
    if contract.objective.validation != "checker":
        return None
    if contract.objective.checker is None:
        raise UsageError(
            f"{study}: expected a checker, as validation is 'checker', got none",
            hint='set objective.checker, or objective.validation = "solver"',
        )
    return identify_checker(study, contract.objective.checker)


@contextmanager
def _signals(control: Control, progress: Progress, report: RunReport) -> Iterator[None]:
    """First Ctrl-C: start no more runs. Second Ctrl-C, or SIGTERM: end the solvers. Data is kept in both cases."""
    # Python allows only the main thread to set handlers; as a library, we may be called from another one.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def say(text: str) -> None:
        try:
            progress.say(text)
        except RuntimeError:
            # The signal came during a write to the same stream, which is not reentrant.
            os.write(2, f"{text}\n".encode())

    def handle(number: int, _frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if name == "SIGINT" and not control.stopping:
            report.interrupted = report.interrupted or name
            control.stop(name)
            say("stopping: the runs under way may finish; press Ctrl-C again to end them now")
        elif not control.killing:
            report.interrupted = report.interrupted or name
            control.kill(name)
            say("ending the runs under way; what they found is kept")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
