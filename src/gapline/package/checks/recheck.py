"""The checker is asked again about every candidate, and what it says is compared with what it said then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gapline.contract.contract import Contract
from gapline.contract.layout import JOURNALS, PackageDocument
from gapline.errors import GaplineError, listing
from gapline.executors.place import read_place
from gapline.executors.tasks import open_workers
from gapline.journal.attempts import CellRecord, attempts_of, cells_of
from gapline.journal.index import Index
from gapline.journal.read import Journal, JournalState
from gapline.journal.verdicts import Judge, StoredVerdict, Verdicts, read_verdicts, verdicts_of
from gapline.package.checks.rows import Difference, Findings, Progress, Source
from gapline.package.checks.values import same_number
from gapline.run.check_run import CheckSettings, identify_checker, judge_candidates
from gapline.text import counted

Say = Callable[[str], None]
# Cells of one task: enough that starting it costs little, few enough that none waits long for the last.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What asking again about one run gave: `same` verdicts, those that differ, `unanswered` questions and why."""

    same: int = 0
    differing: tuple[str, ...] = ()
    unanswered: int = 0
    problems: tuple[str, ...] = ()


def leave_recheck(contract: Contract, judge: Judge | None, verdicts: int, findings: Findings) -> None:
    """Say that candidates are taken on somebody's word: the solver's, or that of the verdicts as they stand."""
    if contract.objective.validation == "solver" or judge is None:
        findings.leave("candidates", 0, "candidates", "the solver's word only: no checker looked at them")
        return
    why = f"{judge.label} was not asked again; --recheck runs it"
    findings.leave("candidates", verdicts, "verdicts", why)


def show_recheck(
    source: Source,
    package: PackageDocument | None,
    contract: Contract,
    judge: Judge | None,
    findings: Findings,
    *,
    jobs: int | None = None,
    say: Say = lambda _text: None,
    progress: Progress = lambda *_: None,
) -> None:
    """Ask the checker again about every candidate of every attempt that it judged; it is said first what will run."""
    checker = contract.objective.checker
    if contract.objective.validation == "solver" or checker is None or judge is None:
        findings.leave("candidates", 0, "candidates", "the solver's word only: there is no checker to ask")
        return
    cells = cells_of(source.folder)
    say(f"--recheck runs the checker {checker} on the candidates of {counted(len(cells), 'run')}")
    try:
        settings = identify_checker(source.folder, checker)
    except GaplineError as error:
        findings.leave("candidates", len(cells), "runs", f"the checker cannot run here: {source.words(error)}")
        return
    say(f"it is {settings.label}; the verdicts are of {judge.label}")
    names = [cell.name for cell in cells]
    progress("runs judged", 0, len(names))
    results: list[Rechecked] = []
    if jobs is None or jobs == 1:
        for name in names:
            results += recheck_cells(source.folder, [name], settings, judge)
            progress("runs judged", len(results), len(names))
    else:
        results = _apart(source.folder.absolute(), names, settings, judge, jobs, say, progress)
    _add_rows(source, package, results, settings, judge, findings)


def _apart(
    study: Path, names: list[str], settings: CheckSettings, judge: Judge, jobs: int, say: Say, progress: Progress
) -> list[Rechecked]:
    """Ask in several processes of this machine."""
    found: dict[int, list[Rechecked]] = {}
    tasks = [(study, names[low : low + _AT_ONCE], settings, judge) for low in range(0, len(names), _AT_ONCE)]
    done = 0
    with open_workers(read_place(None, jobs=jobs), paths=[study], say=say) as workers:
        for number, results in workers.run(recheck_cells, tasks):
            found[number] = results
            done += len(results)
            progress("runs judged", done, len(names))
    return [result for _, results in sorted(found.items()) for result in results]


def recheck_cells(study: Path, names: Sequence[str], settings: CheckSettings, judge: Judge) -> list[Rechecked]:
    """Ask again about the attempts at some cells, one result for each cell."""
    return [_recheck_cell(study, study / JOURNALS / name, settings, judge) for name in names]


def _recheck_cell(study: Path, cell: Path, settings: CheckSettings, judge: Judge) -> Rechecked:
    # A cell at a time: its journals are let go of before the next.
    index = Index(study, keep=False)
    record = CellRecord(cell, [index.read(attempt).outcome for attempt in attempts_of(cell)])
    parts = [
        _recheck(study, journal, known, settings)
        for journal in record.attempts
        # One that was changed has a row of its own.
        if isinstance(journal, Journal)
        and journal.state is not JournalState.QUARANTINED
        and (known := verdicts_of(read_verdicts(journal), lambda head: head.judge == judge)) is not None
    ]
    return Rechecked(
        sum(part.same for part in parts),
        tuple(text for part in parts for text in part.differing),
        sum(part.unanswered for part in parts),
        tuple(text for part in parts for text in part.problems),
    )


def _recheck(study: Path, journal: Journal, known: Verdicts, settings: CheckSettings) -> Rechecked:
    asked = journal.questions()
    verdicts, problems, _ = judge_candidates(study, journal, settings, asked)
    fresh = {verdict.seq: verdict for verdict in verdicts if verdict.valid is not None}
    exactly = known.label == settings.label
    same, differing, unanswered = 0, [], 0
    lines = {sequence: number for number, sequence in enumerate(known.by_sequence, 2)}
    for place in asked:
        sequence = journal.events.sequences[place]
        before, now = known.by_sequence.get(sequence), fresh.get(sequence)
        if now is None or before is None or before.valid is None:
            unanswered += 1
        elif _same(before, now, exactly=exactly):
            same += 1
        else:
            where = f"{known.path}:{lines[sequence]}"
            differing.append(f"{where}: event {sequence}: expected {_words(now)}, got {_words(before)}")
    return Rechecked(same, tuple(differing), unanswered, tuple(problems))


def _same(before: StoredVerdict, now: StoredVerdict, *, exactly: bool) -> bool:
    """Say whether two verdicts are the same; of another version of the checker, words and last digits may differ."""
    if exactly:
        return (before.valid, before.objective, before.reason) == (now.valid, now.objective, now.reason)
    if before.objective is None or now.objective is None:
        return before.valid == now.valid and before.objective == now.objective
    return before.valid == now.valid and same_number(before.objective, now.objective)


def _words(verdict: StoredVerdict) -> str:
    if verdict.valid:
        return "valid" if verdict.objective is None else f"valid at {verdict.objective!r}"
    return f"invalid ({verdict.reason or 'no reason'})"


def _add_rows(
    source: Source,
    package: PackageDocument | None,
    results: list[Rechecked],
    settings: CheckSettings,
    judge: Judge,
    findings: Findings,
) -> None:
    differing = [Difference.of(source.words(text)) for result in results for text in result.differing]
    looked = sum(result.same for result in results) + len(differing)
    versions = "" if settings.label == judge.label else f", where {judge.label} judged before"
    findings.judge("candidates", looked, "verdicts", differing, how=f"{settings.label} asked again{versions}")
    if unanswered := sum(result.unanswered for result in results):
        problems = [source.words(text) for result in results for text in result.problems]
        absent = source.absent_instances(package)
        why = f"{counted(len(absent), 'instance')} not included" if absent else listing(problems, most=1)
        findings.leave("candidates", unanswered, "candidates", why or "they have no verdict")
