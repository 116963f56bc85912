"""Check the captured candidates of runs in a separate process, and store the verdicts next to the journal."""

import contextlib
import datetime
import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from gapline.campaign.store import file_digest
from gapline.checkers.command import ERRORS_KEPT, LineProcess
from gapline.contract.instance_digest import problem_digest_of
from gapline.contract.layout import JOURNALS
from gapline.contract.study_file import load_contract
from gapline.contract.tables import RunKey
from gapline.errors import EnvironmentLacksError, GaplineError, TraceError, UsageError
from gapline.executors.executors import Workers
from gapline.files.atomic_write import write_atomically
from gapline.journal.attempts import CellRecord, attempts_of, cells_of
from gapline.journal.events import CapturedEvents
from gapline.journal.index import Index, open_index
from gapline.journal.line import CHECKER_LOG
from gapline.journal.read import Journal
from gapline.journal.rebuild import rebuild_campaign
from gapline.journal.verdicts import (
    Judge,
    StoredVerdict,
    Verdicts,
    VerdictsHead,
    read_verdicts,
    verdicts_of,
    write_verdicts,
)

T = TypeVar("T")


class CheckerQuestion(msgspec.Struct):
    """A candidate's solution, by the sequence number of its event."""

    seq: int
    solution: msgspec.Raw


class CheckerAnswer(msgspec.Struct, omit_defaults=True):
    """A verdict, or the failure of the checker."""

    seq: int
    valid: bool | None = None
    objective: float | None = None
    reason: str | None = None
    failure: str | None = None


class CheckerIdentity(msgspec.Struct, omit_defaults=True):
    """The checker's name and version, or the reason why it cannot check."""

    name: str = ""
    version: str = ""
    failure: str | None = None
    exit_code: int = 1


def main(name: str, instance: str) -> None:
    """Answer questions from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    # From here on, a `print` of the checker, or of a C library that it uses, cannot mix with the answers.
    os.dup2(2, 1)
    from gapline.checkers import CheckerFailure, load_checker
    from gapline.errors import GaplineError
    from gapline.process.tree import die_with_parent

    # A checker that hangs would not notice the end of its questions.
    die_with_parent()
    try:
        checker = load_checker(name)
        identity = CheckerIdentity(checker.name, checker.version)
    except GaplineError as error:
        answers.write(msgspec.json.encode(CheckerIdentity(failure=str(error), exit_code=error.exit_code)) + b"\n")
        return
    answers.write(msgspec.json.encode(identity) + b"\n")
    decode = msgspec.json.Decoder(CheckerQuestion).decode
    for line in sys.stdin.buffer:
        question = decode(line)
        try:
            verdict = checker.check(instance, msgspec.json.decode(question.solution))
            answer = CheckerAnswer(question.seq, verdict.valid, verdict.objective, verdict.reason or None)
        except CheckerFailure as error:
            # The traceback shows the output of the checker's program; the parent process keeps our standard error.
            traceback.print_exc()
            answer = CheckerAnswer(question.seq, failure=str(error))
        # A checker is foreign code: any exception is its failure on this candidate, not ours.
        except Exception as error:
            traceback.print_exc()
            answer = CheckerAnswer(question.seq, failure=f"{type(error).__name__}: {error}")
        answers.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])


# Longer than a checker waits for a program of its own.
PATIENCE = 75.0
MOST_FAILURES = 3
# Most cells per task, and tasks per worker: small enough tasks that no worker waits long for the last one.
_MOST_AT_ONCE = 64
_TASKS_EACH = 4


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The checker and its options; `patience` is how many seconds one candidate may take."""

    checker: str
    name: str
    version: str
    patience: float = PATIENCE
    again: bool = False

    @property
    def label(self) -> str:
        """Name and version, as in the head of its verdict files."""
        return f"{self.name} {self.version}"

    def wrote(self, head: VerdictsHead) -> bool:
        """Whether verdicts come from this checker: another one may have the same name and version."""
        return head.label == self.label and head.given in (None, self.checker)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking a run; `fresh` is False if the verdicts existed already."""

    key: RunKey
    candidates: int
    valid: int
    invalid: int
    unchecked: int
    fresh: bool
    problems: tuple[str, ...] = ()


class CheckerDied(Exception):
    """The checker's process ended, or did not answer in time."""


class CheckerProcess:
    """A checker in its own process."""

    def __init__(self, study: Path, checker: str, instance: Path, cpus: Sequence[int]) -> None:
        # -P: the study directory is not on Python's path. A checker in a module of the study is found by its name.
        command = [sys.executable, "-P", "-m", "gapline.run.check_run", checker, str(instance)]
        self._child = LineProcess(command, cwd=study)
        if cpus:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._child.pid, cpus)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.end()

    def identity(self, patience: float) -> CheckerIdentity:
        """Return the checker's name and version."""
        return self._exchange(None, CheckerIdentity, patience)

    def ask(self, sequence: int, solution: bytes, patience: float) -> CheckerAnswer:
        """Return the answer on one candidate."""
        answer = self._exchange(
            msgspec.json.encode(CheckerQuestion(sequence, msgspec.Raw(solution))), CheckerAnswer, patience
        )
        if answer.seq != sequence:
            raise CheckerDied(f"checker: expected the answer on event {sequence}, got {answer.seq}")
        return answer

    def _exchange(self, question: bytes | None, kind: type[T], patience: float) -> T:
        try:
            return msgspec.json.decode(self._child.exchange(question, patience), type=kind)
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            raise CheckerDied(f"checker: expected an answer, got {error}{self._child.last_error_line()}") from error

    def errors(self) -> str:
        """Return the end of the checker's standard error."""
        return self._child.errors()


def identify_checker(study: Path, checker: str, *, again: bool = False) -> CheckSettings:
    """Start a checker once to learn its name and version, which are part of each verdict."""
    with CheckerProcess(study, checker, Path(), ()) as process:
        try:
            identity = process.identity(PATIENCE)
        except CheckerDied as error:
            raise EnvironmentLacksError(f"{checker}: {error}") from error
    if identity.failure is not None:
        # The error crossed a pipe as text: restore the exception class from its exit code.
        message, _, hint = identity.failure.partition("\nHint: ")
        kinds: dict[int, type[GaplineError]] = {2: UsageError, 3: EnvironmentLacksError}
        raise kinds.get(identity.exit_code, GaplineError)(message, hint=hint or None)
    return CheckSettings(checker, identity.name, identity.version, again=again)


def check_attempt(
    study: Path,
    journal: Journal,
    settings: CheckSettings,
    *,
    cpus: Sequence[int] = (),
    stopping: Callable[[], bool] = lambda: False,
) -> CheckResult:
    """Check every candidate of a journal, unless that checker version did so already, and store the verdicts.

    A candidate on which the checker fails, or that is left when `stopping` returns True, stays unchecked: the next call
    asks again.
    """
    order = journal.order
    assert order is not None
    key = RunKey(order.arm, order.instance, order.seed)
    stored = read_verdicts(journal)
    known = verdicts_of(stored, settings.wrote)
    asked = journal.questions()
    if known is not None and not settings.again and known.unchecked == 0 and known.candidates == len(asked):
        return _result(key, known, fresh=False, problems=())
    verdicts, problems, errors = judge_candidates(study, journal, settings, asked, cpus=cpus, stopping=stopping)
    if errors is not None:
        _keep_errors(journal.path.with_name(CHECKER_LOG), errors if problems else "")
    written = write_verdicts(
        journal,
        Judge(settings.name, settings.version, settings.checker),
        checked=datetime.datetime.now(datetime.UTC).isoformat(),
        candidates=len(asked),
        verdicts=verdicts,
    )
    damaged = [f"{key}: {old.damage}; judged anew" for old in stored if old.damage and old.path == written.path]
    return _result(key, written, fresh=True, problems=(*damaged, *problems))


def judge_candidates(
    study: Path,
    journal: Journal,
    settings: CheckSettings,
    asked: Sequence[int],
    *,
    cpus: Sequence[int] = (),
    stopping: Callable[[], bool] = lambda: False,
) -> tuple[list[StoredVerdict], list[str], str | None]:
    """Ask a checker about the candidates of a journal at some places, without storing the verdicts.

    Returns the verdicts, the problems, and the end of the checker's standard error; the latter is None if the checker
    was not asked because the instance has changed.
    """
    order = journal.order
    assert order is not None
    key = RunKey(order.arm, order.instance, order.seed)
    path = (study / order.instance_path).absolute()
    found = file_digest(path) if path.is_file() else "no file"
    stated = order.carried.get("instance_digest")
    problem = order.carried.get("problem_digest")
    # A verdict on another problem of the same name is not one on this run; a changed file may hold the same problem.
    if found != stated and not (problem is not None and path.is_file() and problem == problem_digest_of(path)):
        wrong = f"{key}: expected the instance that was solved, {stated}, got {found} at {order.instance_path}"
        return [], [wrong], None
    return _ask_all(study, path, (journal.events, asked), settings, cpus=cpus, key=key, stopping=stopping)


def _ask_all(
    study: Path,
    instance: Path,
    candidates: tuple[CapturedEvents, Sequence[int]],
    settings: CheckSettings,
    *,
    cpus: Sequence[int],
    key: RunKey,
    stopping: Callable[[], bool],
) -> tuple[list[StoredVerdict], list[str], str]:
    """Ask a checker about each candidate; restart it after a crash, give up after several crashes in a row.

    Returns the verdicts, the problems, and the end of the checker's standard error.
    """
    verdicts: list[StoredVerdict] = []
    errors = ""
    problems: list[str] = []
    # Solvers repeat solutions; equal solutions get equal verdicts.
    known: dict[bytes, CheckerAnswer] = {}
    # Reversed, so that the next one is popped from the end.
    events, asked = candidates
    left = list(reversed(asked))
    failures = 0
    while left and failures < MOST_FAILURES and not stopping():
        with CheckerProcess(study, settings.checker, instance, cpus) as process:
            try:
                identity = process.identity(PATIENCE)
                got = identity.failure or f"{identity.name} {identity.version}"
                if got != settings.label:
                    problems.append(f"{key}: expected the checker {settings.label}, got {got}")
                    return verdicts, problems, process.errors()
                while left and not stopping():
                    event = events[left[-1]]
                    sequence, solution = event.sequence, event.solution or b""
                    digest = hashlib.sha256(solution).digest()
                    answer = known.get(digest) or process.ask(sequence, solution, settings.patience)
                    known[digest] = answer
                    left.pop()
                    # Counted in a row: one bad candidate among many must not end the check of the others.
                    failures = 0
                    if answer.failure is not None:
                        problems.append(f"{key}: event {sequence} is unchecked: {answer.failure}")
                    verdicts.append(StoredVerdict(sequence, answer.valid, answer.objective, answer.reason))
            except CheckerDied as error:
                failures += 1
                if left:
                    sequence = events[left.pop()].sequence
                    problems.append(f"{key}: event {sequence} is unchecked: {error}")
                    verdicts.append(StoredVerdict(sequence))
            errors = (errors + process.errors())[-ERRORS_KEPT:] if problems else ""
    return verdicts, problems, errors


def _keep_errors(path: Path, errors: str) -> None:
    """Keep the errors of a checker that failed; delete those of an earlier check if there are none."""
    if not errors:
        path.unlink(missing_ok=True)
        return
    write_atomically(path, lambda stream: stream.write(errors.encode()))


def _result(key: RunKey, verdicts: Verdicts, *, fresh: bool, problems: tuple[str, ...]) -> CheckResult:
    valid = sum(verdict.valid is True for verdict in verdicts.by_sequence.values())
    invalid = sum(verdict.valid is False for verdict in verdicts.by_sequence.values())
    return CheckResult(key, verdicts.candidates, valid, invalid, verdicts.unchecked, fresh, problems)


def check_study(
    study_dir: str | Path,
    *,
    again: bool = False,
    checker: str | None = None,
    on: str | None = None,
    say: Callable[[str], None] = lambda _text: None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[CheckResult]:
    """Check the candidates of every run of a study and rebuild its campaign.

    Parameters
    ----------
    study_dir
        The study directory.
    again
        Check again what the same checker version has checked before.
    checker
        Checker to use instead of the contract's; verdicts of two checkers, or two versions, are stored separately, and
        the campaign contains those of the contract's checker.
    on
        Where to check candidates: `local:N`, `dask:ADDRESS`, `slurm`, `oar`; by default, in this process.
    say, progress
        Called with messages on lost workers, and with the number of runs done and their total.
    """
    from gapline.executors.place import read_place
    from gapline.executors.tasks import open_workers

    study = Path(study_dir)
    place = None if on is None else read_place(on)
    name = checker or load_contract(study).objective.checker
    if name is None:
        raise UsageError(f"{study}: expected a checker in the contract, got none", hint="name one with --checker")
    settings = identify_checker(study, name, again=again)
    cells = cells_of(study)
    if not cells:
        raise TraceError(f"{study}: expected journals, got none", hint=f"gapline run {study}")
    with open_index(study) as index:
        if place is None:
            checked = [_check_cell(study, cell, settings, index) for cell in cells]
        else:
            where = open_workers(place, paths=[study], say=say)
            checked = _check_apart(study.absolute(), cells, settings, index, where, progress)
    rebuild_campaign(study)
    return [result for result in checked if result is not None]


def _check_cell(study: Path, cell: Path, settings: CheckSettings, index: Index) -> CheckResult | None:
    """Check the run of a cell, if it has one; its journals are released before the next cell is read."""
    # Even if the index has them: a check verifies every journal, also against damage that changes no time stamp.
    record = CellRecord(cell, [index.read_anew(attempt).outcome for attempt in attempts_of(cell)])
    journal = None if record.is_copy else record.counting
    return check_attempt(study, journal, settings) if isinstance(journal, Journal) else None


def _check_apart(
    study: Path,
    cells: Sequence[Path],
    settings: CheckSettings,
    index: Index,
    where: AbstractContextManager[Workers],
    progress: Callable[[int, int], None],
) -> list[CheckResult | None]:
    """Check the runs of cells on workers; finished checks are kept whatever happens to the others."""
    found: dict[int, list[CheckResult | None]] = {}
    done = 0
    with where as workers:
        size = min(_MOST_AT_ONCE, -(-len(cells) // (workers.width() * _TASKS_EACH)))
        names = [cell.name for cell in cells]
        tasks = [(study, names[low : low + size], settings) for low in range(0, len(names), size)]
        progress(done, len(cells))
        for number, (results, learned) in workers.run(check_cells, tasks):
            found[number] = results
            index.take_over(learned)
            done += len(results)
            progress(done, len(cells))
    return [result for _, results in sorted(found.items()) for result in results]


def check_cells(
    study: Path, names: Sequence[str], settings: CheckSettings
) -> tuple[list[CheckResult | None], dict[bytes, bytes]]:
    """Check the runs of some cells on a worker; return the results and the new lines for the index of the study."""
    index = Index(study, apart=True)
    results = [_check_cell(study, study / JOURNALS / name, settings, index) for name in names]
    return results, index.learned()
