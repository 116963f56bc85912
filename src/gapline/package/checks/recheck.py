"""The checker judges every candidate again, and its verdicts are compared with the stored ones."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path

from gapline.contract.layout import JOURNALS
from gapline.errors import GaplineError, listing
from gapline.executors.place import read_place
from gapline.executors.tasks import open_workers
from gapline.journal.attempts import CellRecord, attempts_of, cells_of
from gapline.journal.index import Index
from gapline.journal.read import Journal, JournalState
from gapline.journal.verdicts import Judge, StoredVerdict, Verdicts, read_verdicts, verdicts_of
from gapline.package.checks.rows import CheckRow, Mismatch, compared, not_compared
from gapline.package.checks.subject import Subject
from gapline.package.checks.values import same_number
from gapline.run.check_run import CheckSettings, identify_checker, judge_candidates
from gapline.text import counted

# Cells per task: enough to make its start cheap, few enough that no process waits long for the last one.
_AT_ONCE = 8


@dataclass(slots=True)
class RecheckResult:
    """The result of judging a run again: `same` verdicts, those that differ, and how many were `unanswered`."""

    same: int = 0
    differing: list[str] = field(default_factory=list)
    unanswered: int = 0
    problems: list[str] = field(default_factory=list)


def check_candidates(subject: Subject) -> Iterator[CheckRow]:
    """Judge every candidate again with `recheck`; otherwise report whose verdicts count."""
    by_solver = subject.contract.objective.validation == "solver"
    if not subject.has_journals:
        words = "the solver's word only: no checker looked at them" if by_solver else "verdicts as they were imported"
        yield not_compared("candidates", 0, "candidates", words)
        return
    checker, judge = subject.contract.objective.checker, subject.index.judge
    if by_solver or judge is None or (subject.recheck and checker is None):
        why = "there is no checker to ask" if subject.recheck else "no checker looked at them"
        yield not_compared("candidates", 0, "candidates", f"the solver's word only: {why}")
    elif subject.recheck and checker is not None:
        yield from _ask_again(subject, checker, judge)
    else:
        why = f"{judge.label} was not asked again; --recheck runs it"
        yield not_compared("candidates", subject.index.verdicts_read, "verdicts", why)


def _ask_again(subject: Subject, checker: str, judge: Judge) -> Iterator[CheckRow]:
    """Run the checker, after announcing what will run."""
    names = [cell.name for cell in cells_of(subject.folder)]
    subject.say(f"--recheck runs the checker {checker} on the candidates of {counted(len(names), 'run')}")
    try:
        settings = identify_checker(subject.folder, checker)
    except GaplineError as error:
        why = f"the checker cannot run here: {subject.words(error)}"
        yield not_compared("candidates", len(names), "runs", why)
        return
    subject.say(f"it is {settings.label}; the verdicts are of {judge.label}")
    results = _recheck(subject, names, settings, judge)
    differing = [Mismatch.of(subject.words(text)) for result in results for text in result.differing]
    number = sum(result.same for result in results) + len(differing)
    versions = "" if settings.label == judge.label else f", where {judge.label} judged before"
    yield compared("candidates", number, "verdicts", differing, how=f"{settings.label} asked again{versions}")
    if unanswered := sum(result.unanswered for result in results):
        problems = [subject.words(text) for result in results for text in result.problems]
        absent = subject.absent_instances
        why = f"{counted(len(absent), 'instance')} not included" if absent else listing(problems, most=1)
        yield not_compared("candidates", unanswered, "candidates", why or "they have no verdict")


def _recheck(subject: Subject, names: list[str], settings: CheckSettings, judge: Judge) -> list[RecheckResult]:
    """Judge the runs of cells again, here or in several processes of this machine."""
    study, alone = subject.folder.absolute(), subject.jobs in (None, 1)
    size = 1 if alone else _AT_ONCE
    tasks = [(study, names[low : low + size], settings, judge) for low in range(0, len(names), size)]
    found: dict[int, list[RecheckResult]] = {}
    subject.progress("runs judged", 0, len(names))
    place = None if alone else read_place(None, jobs=subject.jobs)
    with nullcontext() if place is None else open_workers(place, paths=[study], say=subject.say) as workers:
        done = enumerate(starmap(recheck_cells, tasks)) if workers is None else workers.run(recheck_cells, tasks)
        for number, results in done:
            found[number] = results
            subject.progress("runs judged", sum(map(len, found.values())), len(names))
    return [result for _, results in sorted(found.items()) for result in results]


def recheck_cells(study: Path, names: Sequence[str], settings: CheckSettings, judge: Judge) -> list[RecheckResult]:
    """Judge the attempts at some cells again; return one result per cell."""
    return [_recheck_cell(study, study / JOURNALS / name, settings, judge) for name in names]


def _recheck_cell(study: Path, cell: Path, settings: CheckSettings, judge: Judge) -> RecheckResult:
    # One cell at a time, so that its journals are freed before the next one.
    index, result = Index(study, keep=False), RecheckResult()
    for journal in CellRecord(cell, [index.read(attempt).outcome for attempt in attempts_of(cell)]).attempts:
        # The journals check reports a changed journal in a row of its own.
        if isinstance(journal, Journal) and journal.state is not JournalState.QUARANTINED:
            known = verdicts_of(read_verdicts(journal), lambda head: head.judge == judge)
            if known is not None:
                _recheck_attempt(study, journal, known, settings, result)
    return result


def _recheck_attempt(
    study: Path, journal: Journal, known: Verdicts, settings: CheckSettings, result: RecheckResult
) -> None:
    asked = journal.questions()
    verdicts, problems, _ = judge_candidates(study, journal, settings, asked)
    result.problems += problems
    fresh = {verdict.seq: verdict for verdict in verdicts if verdict.valid is not None}
    lines = {sequence: number for number, sequence in enumerate(known.by_sequence, 2)}
    for place in asked:
        sequence = journal.events.sequences[place]
        before, now = known.by_sequence.get(sequence), fresh.get(sequence)
        if now is None or before is None or before.valid is None:
            result.unanswered += 1
        elif _same(before, now, exactly=known.label == settings.label):
            result.same += 1
        else:
            where = f"{known.path}:{lines[sequence]}"
            result.differing.append(f"{where}: event {sequence}: expected {_words(now)}, got {_words(before)}")


def _same(before: StoredVerdict, now: StoredVerdict, *, exactly: bool) -> bool:
    """Return whether two verdicts agree; another checker version may differ in wording and last digits."""
    if exactly:
        return (before.valid, before.objective, before.reason) == (now.valid, now.objective, now.reason)
    if before.objective is None or now.objective is None:
        return before.valid == now.valid and before.objective == now.objective
    return before.valid == now.valid and same_number(before.objective, now.objective)


def _words(verdict: StoredVerdict) -> str:
    if verdict.valid:
        return "valid" if verdict.objective is None else f"valid at {verdict.objective!r}"
    return f"invalid ({verdict.reason or 'no reason'})"
