"""The journals (`events.jsonl`) and verdicts (`verdicts-<checker>-<version>.jsonl`) of a study, as a `Campaign`."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from gapline.capture.assemble import RunTrace, campaign_from_traces
from gapline.errors import listing
from gapline.journal.attempts import read_cell
from gapline.journal.calibration import calibration_columns, read_calibrations
from gapline.journal.fairness import fairness_columns
from gapline.journal.read import Event, Events, Journal, JournalState
from gapline.journal.verdicts import Verdicts, choose_checker, read_verdicts
from gapline.model.campaign import Campaign
from gapline.model.layout import JOURNALS
from gapline.model.tables import RUN_RECORD, RunKey, VerdictCode
from gapline.model.text import counted

_FROM_ENDING = ("exit_code", "signal", "elapsed", "cpu_time", "peak_memory", "leftover")
NO_SOLUTION = "no solution to check"


def read_study(study: Path) -> Campaign:
    """Read the journals of a study, with the verdicts of one checker version: the one that judged most runs, then last.

    A cell without a whole attempt is no run: it stands in `Campaign.interrupted`.
    """
    cells = sorted(path for path in (study / JOURNALS).glob("*") if path.is_dir())
    labels, calibrations = choose_checker(cells), read_calibrations(study)
    label = labels[0] if labels else None
    traces, problems, interrupted = [], [], []
    superseded = 0
    for cell in cells:
        # One cell at a time: of its solutions only a digest is kept.
        record = read_cell(cell)
        journal, order = record.counting, record.order
        if order is None:
            continue
        key = RunKey(order.arm, order.instance, order.seed)
        for attempt in record.attempts:
            # That an attempt was cut short is no fault of what could be read: it is counted under its own name.
            if attempt.state is not JournalState.BROKEN:
                problems += [f"{key}: {problem}" for problem in attempt.problems()]
        if journal is None:
            interrupted.append(key)
            continue
        superseded += len(record.attempts) - 1
        # One checker version for the whole campaign: verdicts of two are never mixed.
        verdicts = next((v for v in read_verdicts(journal.path.parent) if v.head.label == label), None)
        trace = _trace(journal, verdicts, attempts=len(record.attempts))
        trace.carried = {**trace.carried, **calibration_columns(calibrations, order.machine)}
        traces.append(trace)
    facts = {} if label is None else {"checker": label}
    notes = [f"verdicts of {label}; those of {other} are left out" for other in labels[1:]]
    if interrupted:
        named = listing(map(str, sorted(interrupted)))
        notes.append(f"{counted(len(interrupted), 'cell')} interrupted, without a whole attempt: {named}")
    if superseded:
        notes.append(f"{counted(superseded, 'attempt')} superseded by the one that counts")
    _make_uniform(traces)
    campaign = campaign_from_traces(traces, sources=[str(study)], facts=facts, problems=problems, notes=notes)
    typed = [pl.col(name).cast(kind) for name, kind in RUN_RECORD.items() if name in campaign.runs.columns]
    return replace(campaign, runs=campaign.runs.with_columns(typed), interrupted=tuple(sorted(interrupted)))


def _make_uniform(traces: list[RunTrace]) -> None:
    """Turn carried values into text where arms disagree on the type of an option, so that they fit one column."""
    # One arm may call an option 5 and another one 'auto'.
    kinds: dict[str, set[type]] = {}
    for name, value in (item for trace in traces for item in trace.carried.items() if item[1] is not None):
        kinds.setdefault(name, set()).add(type(value))
    mixed = {name for name, found in kinds.items() if len(found) > 1 and not found <= {int, float}}
    for trace in traces:
        trace.carried = {
            name: str(value) if name in mixed and value is not None else value for name, value in trace.carried.items()
        }


def _machine_class(facts: Mapping[str, str]) -> str | None:
    """Name the class of machine in one line; scores of two classes are not silently compared."""
    words = [facts.get("processor"), f"{facts['cores']} cores" if "cores" in facts else None, facts.get("memory")]
    return ", ".join(word for word in words if word) or None


def _trace(journal: Journal, verdicts: Verdicts | None, *, attempts: int) -> RunTrace:
    order, ending = journal.order, journal.ending
    assert order is not None
    events = journal.events
    by_checker = order.carried.get("validation") == "checker"

    def numbers(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array(events.column(name), np.float64)

    objective, code, reasons = np.empty(len(events)), np.empty(len(events), np.uint8), []
    for place, event in enumerate(events.bare()):
        code[place], objective[place], reason = _judge(event, verdicts, by_checker=by_checker)
        reasons.append(reason)
    time = numbers("time")
    carried: dict[str, Any] = dict(order.carried)
    carried |= fairness_columns(order, ending)
    carried |= {
        "clock": "wall",
        "started": ending.started if ending is not None and ending.started else None,
        "solver_version": journal.version,
        # No column where nobody claims anything: the digest of older campaigns stays what it was.
        **({} if journal.claim is None else {"claim": journal.claim}),
        **journal.resolutions,
        **{name: getattr(ending, name, None) for name in _FROM_ENDING},
        "machine": _machine_class(order.machine),
        "dropped": sum(ending.dropped.values()) if ending is not None else None,
        "attempts": attempts,
        "attempt": order.attempt,
        "order_seed": order.order_seed,
        "order_position": order.position,
        "best_solution_digest": _best_digest(events, time, objective, code, order.horizon),
    }
    return RunTrace(
        arm=order.arm,
        instance=order.instance,
        seed=order.seed,
        panel=order.panel,
        horizon=order.horizon,
        status=journal.status.value,
        time=time,
        objective=objective,
        verdict=code,
        reason=reasons,
        claimed=numbers("objective"),
        carried=carried,
        **{name: column for name in ("bound", "primary", "secondary") if np.isfinite(column := numbers(name)).any()},
    )


def _judge(event: Event, verdicts: Verdicts | None, *, by_checker: bool) -> tuple[VerdictCode, float, str]:
    """Return verdict, objective and reason: the checker's objective where there is one, else the claimed."""
    if not event.is_candidate:
        return VerdictCode.BOUND, float("nan"), ""
    if event.reason:
        return VerdictCode.INVALID, event.objective, event.reason
    if not by_checker:
        return VerdictCode.VALID, event.objective, ""
    if event.solution is None:
        # No checker will ever be able to judge it, so it does not wait for one.
        return VerdictCode.INVALID, event.objective, NO_SOLUTION
    verdict = verdicts.by_sequence.get(event.sequence) if verdicts is not None else None
    if verdict is None or verdict.valid is None:
        return VerdictCode.UNCHECKED, event.objective, ""
    objective = event.objective if verdict.objective is None else verdict.objective
    # A campaign counts kinds of reasons; which route or customer it was stays with the verdict.
    reason = "" if verdict.valid else (verdict.reason or "rejected by the checker").partition(":")[0]
    return VerdictCode(verdict.valid), objective, reason


def _best_digest(events: Events, time: Any, objective: Any, verdict: Any, horizon: float) -> str | None:
    """Return the digest of the best valid solution inside the horizon; equal objectives: the earlier one."""
    usable = (verdict == VerdictCode.VALID) & (time <= horizon) & np.isfinite(objective)
    if not usable.any():
        return None
    # argmin takes the first of equals, which is the earliest.
    best = int(np.argmin(np.where(usable, objective, np.inf)))
    return solution_digest(events[best].solution)


def solution_digest(solution: bytes | None) -> str | None:
    """Return the sha256 of a solution's canonical JSON (RFC 8785); of its bytes where it has no canonical form."""
    import rfc8785

    if solution is None:
        return None
    try:
        canonical = rfc8785.dumps(msgspec.json.decode(solution))
    except (rfc8785.CanonicalizationError, msgspec.DecodeError, RecursionError):
        canonical = solution
    return "sha256:" + hashlib.sha256(canonical).hexdigest()
