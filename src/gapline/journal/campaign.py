"""The journals (`events.jsonl`) and verdicts (`verdicts-<checker>-<version>.jsonl`) of a study, as a `Campaign`."""

import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.campaign.campaign import Campaign
from gapline.contract.layout import CONTRACT_FILE
from gapline.contract.tables import RUN_RECORD, RunKey, VerdictCode
from gapline.errors import listing
from gapline.journal.attempts import Attempt, CellRecord, attempts_of, cells_of, superseded_words
from gapline.journal.checker_choice import choose_judge, find_judges, judge_notes
from gapline.journal.claims import claimed_run
from gapline.journal.events import SOMETIMES, CapturedEvents
from gapline.journal.fairness import fairness_columns
from gapline.journal.index import Index, Seen
from gapline.journal.read import Journal, Outcome
from gapline.journal.unknown_files import find_strays, stray_note
from gapline.journal.verdicts import Judge, VerdictFacts, Verdicts, verdicts_of
from gapline.text import counted

_FROM_ENDING = ("exit_code", "signal", "elapsed", "cpu_time", "peak_memory", "leftover")
NO_SOLUTION = "no solution to check"


@dataclass(slots=True)
class Tally:
    """Cells, attempts and files of a study that are not runs of the campaign; none of them counts as unreadable."""

    strays: list[str] = field(default_factory=list)
    interrupted: list[RunKey] = field(default_factory=list)
    running: list[RunKey] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    superseded: Counter[str] = field(default_factory=Counter)
    left_behind: Counter[RunKey] = field(default_factory=Counter)
    over_cap: Counter[RunKey] = field(default_factory=Counter)
    unsealed: int = 0

    def take(self, key: RunKey, record: CellRecord[Attempt]) -> None:
        """Count the attempts of a cell other than the one that counts."""
        self.superseded.update(record.superseded)
        self.changed += [attempt.corruption for attempt in record.attempts if attempt.corruption is not None]
        self.left_behind[key] += sum(attempt.left_behind for attempt in record.attempts)
        if record.counting is None:
            self.interrupted.append(key)
        else:
            self.over_cap[key] += record.counting.over_cap

    def notes(self, study: Path) -> list[str]:
        """Return one line for each kind of finding; none for a kind without findings."""
        found = []
        if self.running:
            named = listing(map(str, sorted(self.running)))
            found.append(f"{counted(len(self.running), 'cell')} under way when the journals were read: {named}")
        if self.interrupted:
            named = listing(map(str, sorted(self.interrupted)))
            found.append(f"{counted(len(self.interrupted), 'cell')} interrupted, without a whole attempt: {named}")
        if self.superseded:
            found.append(superseded_words(self.superseded))
        if self.changed:
            journals = counted(len(self.changed), "journal")
            found.append(f"{journals} changed after being written, quarantined: {listing(self.changed)}")
        if left := +self.left_behind:
            where = f"{counted(len(left), 'cell')} ({listing(map(str, sorted(left)))})"
            found.append(f"processes that outlived the clearing of their run: {left.total():,}, of {where}")
        if over := +self.over_cap:
            where = f"{counted(len(over), 'run')} ({listing(map(str, sorted(over)))})"
            found.append(f"events over the cap of a journal, which are not in it: {over.total():,}, of {where}")
        if self.strays:
            found.append(stray_note(self.strays))
        if self.unsealed:
            found.append(
                f"verdicts on {counted(self.unsealed, 'run')} have no checksums, as earlier versions wrote them: a "
                f"change would not be seen; gapline check {shlex.quote(str(study))} --again"
            )
        return found


@dataclass(slots=True)
class StudySurvey:
    """The cells of a study and what applies to all of them, collected before any journal is read again.

    `marks` holds the marks of each cell's attempts by cell name, None for an unknown attempt; `asked` is whether the
    caller named a checker, `named` the checker of the contract, `maximised` the instances that the contract maximises.
    `running` holds the names of the cells whose run is under way: they are counted, but not read.
    """

    study: Path
    cells: list[Path]
    marks: dict[str, list[str | None]]
    judges: list[Judge]
    judge: Judge | None
    named: str | None
    maximised: frozenset[str]
    asked: bool
    strays: list[str]
    running: frozenset[str] = frozenset()


Reuse = Callable[[str, list[str | None], Outcome], RunTrace | None]


def read_study(study: Path, *, checker: str | None = None) -> Campaign:
    """Read the journals of a study, with the verdicts of one checker version: the contract's, or that of `checker`.

    A cell without a whole attempt is not a run: it is listed in `Campaign.interrupted`.
    """
    index = Index(study, keep=False)
    return build_campaign(survey_study(study, index, checker=checker), index)


def survey_study(
    study: Path, index: Index, *, checker: str | None = None, running: frozenset[str] = frozenset()
) -> StudySurvey:
    """List the cells of a study and find its checkers; `running` holds the names of the cells under way."""
    marks: dict[str, list[str | None]] = {}

    def look(attempt: Path) -> list[VerdictFacts]:
        verdicts, mark = index.verdicts(attempt)
        marks.setdefault(attempt.parent.name, []).append(mark)
        return verdicts

    cells = cells_of(study)
    judges, (named, maximised) = find_judges(cells, look=look), _from_contract(study)
    judge = choose_judge(judges, contract=named, wanted=checker)
    asked, strays = checker is not None, find_strays(study)
    return StudySurvey(study, cells, marks, judges, judge, named, maximised, asked, strays, running)


def build_campaign(survey: StudySurvey, index: Index, *, reuse: Reuse = lambda *_: None) -> Campaign:
    """Build the campaign of a study.

    `reuse` takes the name and the marks of a cell and returns its run if the journals need not be read again. The marks
    of the survey are replaced by those of the files that were read.
    """
    study = survey.study
    traces: list[RunTrace] = []
    problems: list[str] = []
    tally = Tally(list(survey.strays))

    def take(cell: Path) -> None:
        if cell.name in survey.running:
            # A growing journal would look torn, and candidates that are being checked would look unchecked.
            if (under_way := claimed_run(cell)) is not None:
                tally.running.append(under_way)
            return
        # One cell at a time, to save memory: its journals are released first, of solutions only a digest stays.
        seen, record, trace = _read_cell(cell, index, reuse)
        survey.marks[cell.name] = [one.mark for one in seen]
        journal, order, key = record.counting, record.order, record.key
        if record.is_copy:
            tally.strays.append(str(cell.relative_to(study)))
            return
        if order is None or key is None:
            problems.extend(problem for one in record.attempts if one.unordered for problem in one.problems())
            return
        tally.take(key, record)
        problems.extend(f"{key}: {said}" for attempt in record.attempts for said in attempt.order_problems())
        if journal is None:
            return
        stored = next(one.verdicts for one in seen if one.outcome is journal)
        # One checker version for the whole campaign: verdicts of two versions are never mixed.
        verdicts = verdicts_of(stored, lambda head: head.judge == survey.judge)
        tally.unsealed += verdicts is not None and not verdicts.sealed
        problems.extend(f"{key}: {problem}" for one in stored for problem in one.problems())
        if trace is None:
            assert isinstance(journal, Journal)
            assert verdicts is None or isinstance(verdicts, Verdicts)
            trace = trace_of(
                journal,
                verdicts,
                attempts=len(record.attempts),
                asked=survey.asked,
                maximised=order.instance in survey.maximised,
            )
        traces.append(trace)

    for cell in survey.cells:
        take(cell)
    return campaign_of_journals(
        traces,
        tally,
        source=str(study),
        facts={} if survey.judge is None else {"checker": survey.judge.label},
        problems=problems,
        notes=[*judge_notes(survey.judges, survey.judge, contract=survey.named), *tally.notes(study)],
    )


def _read_cell(cell: Path, index: Index, reuse: Reuse) -> tuple[list[Seen], CellRecord[Outcome], RunTrace | None]:
    """Return the attempts at a cell and its run if `reuse` has it; otherwise read the attempts with their events."""
    attempts = attempts_of(cell)
    seen = [index.read(attempt) for attempt in attempts]
    record = CellRecord(cell, [one.outcome for one in seen])
    counting = record.counting
    trace = None if counting is None else reuse(cell.name, [one.mark for one in seen], counting)
    if trace is None and counting is not None and not isinstance(counting, Journal):
        known = zip(attempts, seen, strict=True)
        seen = [one if isinstance(one.outcome, Journal) else index.read_anew(attempt) for attempt, one in known]
        record = CellRecord(cell, [one.outcome for one in seen])
    return seen, record, trace


def campaign_of_journals(
    traces: list[RunTrace],
    tally: Tally | None = None,
    *,
    source: str = "",
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
    facts: dict[str, str] | None = None,
) -> Campaign:
    """Build a campaign from the runs that count, and add the tally to its diagnostics."""
    tally = tally or Tally()
    _make_uniform(traces)
    campaign = campaign_from_traces(traces, sources=[source], facts=facts or {}, problems=problems, notes=notes)
    diagnostics = replace(
        campaign.diagnostics,
        superseded=dict(tally.superseded),
        left_behind=tally.left_behind.total(),
        over_cap=tally.over_cap.total(),
    )
    typed = [pl.col(name).cast(kind) for name, kind in RUN_RECORD.items() if name in campaign.runs.columns]
    runs = campaign.runs.with_columns(typed)
    interrupted, running = tuple(sorted(tally.interrupted)), tuple(sorted(tally.running))
    return replace(campaign, runs=runs, interrupted=interrupted, running=running, diagnostics=diagnostics)


def _from_contract(study: Path) -> tuple[str | None, frozenset[str]]:
    """Return the checker that the contract names and the instances that it maximises."""
    # Imported here because the contract needs pydantic, which journals without a contract do not.
    from gapline.contract.study_file import load_contract

    if not (study / CONTRACT_FILE).is_file():
        return None, frozenset()
    contract = load_contract(study)
    return contract.objective.checker, frozenset(name for name, sense in contract.senses.items() if sense == "max")


def _make_uniform(traces: list[RunTrace]) -> None:
    """Convert carried values to text where arms disagree on the type of an option, so that they fit one column."""
    # One arm may set an option to 5 and another to 'auto'.
    kinds: dict[str, set[type]] = {}
    for name, value in (item for trace in traces for item in trace.carried.items() if item[1] is not None):
        kinds.setdefault(name, set()).add(type(value))
    mixed = {name for name, found in kinds.items() if len(found) > 1 and not found <= {int, float}}
    for trace in traces:
        trace.carried = {
            name: str(value) if name in mixed and value is not None else value for name, value in trace.carried.items()
        }


def _machine_class(facts: Mapping[str, str]) -> str | None:
    """Describe the class of machine in one line, so that scores of two classes are not compared silently."""
    words = [facts.get("processor"), f"{facts['cores']} cores" if "cores" in facts else None, facts.get("memory")]
    return ", ".join(word for word in words if word) or None


def trace_of(
    journal: Journal, verdicts: Verdicts | None, *, attempts: int, asked: bool, maximised: bool, digest: bool = True
) -> RunTrace:
    """Return the run of a journal; `asked` is whether the caller named a checker.

    Without `digest` the best solution is not read.
    """
    order, events = journal.order, journal.events
    assert order is not None
    # A checker that the caller names also decides where the contract trusts the solver.
    by_checker = asked or order.carried.get("validation") == "checker"

    def numbers(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array(events.column(name), np.float64)

    time, objective, reasons = numbers("time"), numbers("objective"), events.reasons
    code = _judge(events, verdicts, objective, reasons, by_checker=by_checker)
    best = _best_digest(events, time, -objective if maximised else objective, code, order.horizon) if digest else None
    trace = trace_without_events(journal, attempts=attempts, asked=asked, best=best)
    trace.time, trace.objective, trace.verdict, trace.claimed = time, objective, code, numbers("objective")
    # Leave the column out if it is empty: a run may have a million events.
    trace.reason = reasons if any(reasons) else None
    for name in SOMETIMES:
        if events.states(name) and np.isfinite(column := numbers(name)).any():
            setattr(trace, name, column)
    return trace


def trace_without_events(journal: Outcome, *, attempts: int, asked: bool, best: str | None) -> RunTrace:
    """Return the run of an attempt without its events; `best` is the digest of its best solution."""
    order, ending = journal.order, journal.ending
    assert order is not None
    carried: dict[str, Any] = dict(order.carried) | ({"validation": "checker"} if asked else {})
    carried |= fairness_columns(order, ending)
    carried |= {
        "clock": "wall",
        "started": ending.started if ending is not None and ending.started else None,
        "solver_version": journal.version,
        # A value from the contract or the adapter takes precedence over the one that the solver prints.
        **({} if not journal.model or "simplified_model" in carried else {"simplified_model": journal.model}),
        # No column without a claim, so that the digests of older campaigns do not change.
        **({} if journal.claim is None else {"claim": journal.claim}),
        **journal.resolutions,
        **{name: getattr(ending, name, None) for name in _FROM_ENDING},
        "machine": _machine_class(order.machine),
        "dropped": sum(ending.dropped.values()) if ending is not None else None,
        "attempts": attempts,
        "attempt": order.attempt,
        "order_seed": order.order_seed,
        "order_position": order.position,
        "best_solution_digest": best,
    }
    return RunTrace(
        arm=order.arm,
        instance=order.instance,
        seed=order.seed,
        panel=order.panel,
        horizon=order.horizon,
        status=journal.status.value,
        time=(),
        objective=(),
        carried=carried,
    )


def _judge(
    events: CapturedEvents,
    verdicts: Verdicts | None,
    objective: NDArray[np.float64],
    reasons: list[str],
    *,
    by_checker: bool,
) -> NDArray[np.uint8]:
    """Return the verdict codes; where the checker judged, objectives and reasons are replaced by the checker's."""
    candidate = np.array(events.is_candidate, np.bool_)
    waiting = candidate & np.array([not reason for reason in reasons], np.bool_)
    code = np.where(candidate, np.uint8(VerdictCode.INVALID), np.uint8(VerdictCode.BOUND))
    if not by_checker:
        code[waiting] = VerdictCode.VALID
        return code
    solved, judged = np.array(events.places) >= 0, {} if verdicts is None else verdicts.by_sequence
    for place in np.flatnonzero(waiting & ~solved).tolist():
        # No checker can ever judge it, so it must not count as unchecked.
        reasons[place] = NO_SOLUTION
    for place in np.flatnonzero(waiting & solved).tolist():
        verdict = judged.get(events.sequences[place])
        if verdict is None or verdict.valid is None:
            code[place] = VerdictCode.UNCHECKED
            continue
        code[place] = VerdictCode(verdict.valid)
        objective[place] = objective[place] if verdict.objective is None else verdict.objective
        # A campaign counts kinds of reasons; details such as the route or customer stay in the verdict file.
        reasons[place] = "" if verdict.valid else (verdict.reason or "rejected by the checker").partition(":")[0]
    return code


def _best_digest(events: CapturedEvents, time: Any, objective: Any, verdict: Any, horizon: float) -> str | None:
    """Return the digest of the best valid solution within the horizon (lowest objective, the earliest of ties)."""
    usable = (verdict == VerdictCode.VALID) & (time <= horizon) & np.isfinite(objective)
    if not usable.any():
        return None
    # argmin returns the first of equal values, which is the earliest.
    best = int(np.argmin(np.where(usable, objective, np.inf)))
    return solution_digest(events[best].solution)


def solution_digest(solution: bytes | None) -> str | None:
    """Return the sha256 of a solution's canonical JSON (RFC 8785), or of its bytes if it has no canonical form."""
    import rfc8785

    if solution is None:
        return None
    try:
        canonical = rfc8785.dumps(msgspec.json.decode(solution))
    except (rfc8785.CanonicalizationError, msgspec.DecodeError, RecursionError):
        canonical = solution
    return "sha256:" + hashlib.sha256(canonical).hexdigest()
