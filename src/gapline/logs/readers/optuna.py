"""Optuna studies: the journal file of `JournalStorage`, or `study.trials_dataframe().to_csv()`."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from gapline.contract.tables import RunStatus
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import shown
from gapline.logs.loose_json import as_cell, as_float, decode_json, json_lines
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

VIOLATED = "constraint violated"
# Numbers of the operations in Optuna's journal.
_CREATE_STUDY, _DELETE_STUDY, _CREATE_TRIAL, _SET_STATE, _SET_SYSTEM_ATTR = 0, 1, 4, 6, 9
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_JOURNAL = re.compile(rb'\s*\{[^\n]{0,2000}"op_code"\s*:')
_NEEDED = ("state", "datetime_start", "datetime_complete")
_MICROSECOND = 1e-6
Item = TypeVar("Item")


@dataclass(slots=True)
class _Trial:
    where: str
    start: float | None = None
    complete: float | None = None
    state: str = "RUNNING"
    values: list[Any] = field(default_factory=list)
    constraints: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Study:
    name: str | None
    sense: str | None
    several: bool = False
    deleted: bool = False
    trials: list[_Trial] = field(default_factory=list)


def _looks_like(_path: str, head: bytes) -> bool:
    if _JOURNAL.match(head):
        return True
    columns = head.split(b"\n", 1)[0].strip().replace(b'"', b"").split(b",")
    return all(name.encode() in columns for name in _NEEDED) and any(
        c.split(b"_")[0] in (b"value", b"values") for c in columns
    )


def _read(log: LogFile) -> Found:
    """Read every study: each completed trial is a candidate at its completion, counted from the first start."""
    found = Found()
    torn = False
    if _JOURNAL.match(log.head[: 64 * 1024]):
        studies, torn_line = _read_journal(log, found)
        torn = torn_line
    else:
        studies = [_read_table(log, found)]
    # For a large log, this is known only after reading it.
    torn = torn or log.cut
    if not studies:
        raise TraceError(f"{log.path}: expected an Optuna journal or a table of trials, got {shown(log.head[:240])}")
    for study in studies:
        if study.deleted:
            found.notes.append(f"{log.path} (study {study.name}): deleted, {len(study.trials):,} trials left out")
            continue
        found.runs.append(_finish(study, found, log, torn=torn))
    return found


def _read_journal(log: LogFile, found: Found) -> tuple[list[_Study], bool]:
    studies: list[_Study] = []
    trials: list[_Trial] = []
    torn = False
    for where, line, entry, is_last in json_lines(log):
        if entry is None:
            torn = is_last
            found.refuse(where, "one JSON object", line)
        elif not _apply(entry, studies, trials, where):
            found.refuse(where, "an operation on a known study or trial", line)
    return studies, torn


def _apply(entry: dict[str, Any], studies: list[_Study], trials: list[_Trial], where: str) -> bool:
    """Apply one operation; False if it refers to a study or trial that does not exist."""
    code = as_float(entry.get("op_code"))
    if code == _CREATE_STUDY:
        name = entry.get("study_name")
        if isinstance(name, str) and all(study.name != name or study.deleted for study in studies):
            directions = entry.get("directions")
            sides = directions if isinstance(directions, list) else []
            sense = {1.0: "min", 2.0: "max"}.get(as_float(sides[0]) or 0.0) if sides else None
            studies.append(_Study(name, sense, several=len(sides) > 1))
        return isinstance(name, str)
    if code == _DELETE_STUDY:
        gone = _at(studies, entry.get("study_id"))
        if gone is not None:
            gone.deleted = True
        return gone is not None
    if code == _CREATE_TRIAL:
        study = _at(studies, entry.get("study_id"))
        trial = _Trial(where)
        trials.append(trial)
        if study is None:
            return False
        study.trials.append(trial)
        _update(trial, entry, where)
        _note_constraints(trial, entry.get("system_attrs"))
        return True
    if code in (_SET_STATE, _SET_SYSTEM_ATTR):
        found = _at(trials, entry.get("trial_id"))
        if found is None:
            return False
        if code == _SET_STATE:
            _update(found, entry, where)
        _note_constraints(found, entry.get("system_attr"))
    return code is not None


def _at(items: list[Item], index: object) -> Item | None:
    position = as_float(index)
    return items[int(position)] if position is not None and 0 <= position < len(items) else None


def _update(trial: _Trial, entry: dict[str, Any], where: str) -> None:
    trial.where = where
    state = as_float(entry.get("state"))
    if state is not None and 0 <= state < len(_STATES):
        trial.state = _STATES[int(state)]
    values = entry.get("values")
    if isinstance(values, list):
        trial.values = values
    elif "value" in entry:
        trial.values = [entry["value"]]
    if entry.get("datetime_start"):
        trial.start = _moment(entry["datetime_start"])
    if entry.get("datetime_complete"):
        trial.complete = _moment(entry["datetime_complete"])


def _note_constraints(trial: _Trial, attributes: object) -> None:
    """Keep the constraint values of a trial's attributes: one list until version 4, one attribute each from 5 on."""
    for name, value in attributes.items() if isinstance(attributes, dict) else ():
        if name == "constraints" or name.startswith("constraints:"):
            trial.constraints[name] = value


def _is_violated(trial: _Trial) -> bool:
    """Whether a constraint is above 0, or is not a number."""
    lists = [value if isinstance(value, list) else [value] for value in trial.constraints.values()]
    return any((number := as_float(value)) is None or number > 0 for values in lists for value in values)


def _moment(text: object) -> float | None:
    """Return an ISO 8601 moment in seconds; one without a time zone counts as UTC."""
    if not isinstance(text, str) or len(text) > 60:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _read_table(log: LogFile, found: Found) -> _Study:
    study = _Study(None, None)
    reader = csv.reader(io.StringIO(log.data.decode("utf-8", "replace"), newline=""))
    try:
        header = next(reader, [])
        if not all(name in header for name in _NEEDED):
            raise TraceError(
                f"{log.path}:1: expected columns {', '.join(_NEEDED)} and value, got {shown(','.join(header))}"
            )
        study.several = "value" not in header
        for cells in reader:
            if not cells:
                continue
            where = f"{log.path}:{reader.line_num}"
            if len(cells) != len(header):
                found.problems.append(f"{where}: expected {len(header)} cells, got {len(cells)}")
                continue
            row = dict(zip(header, cells, strict=True))
            began, ended = _moment(row["datetime_start"]), _moment(row["datetime_complete"])
            state = row["state"].removeprefix("TrialState.")
            study.trials.append(_Trial(where, began, ended, state, [row.get("value")], _constraints(row)))
    except csv.Error as error:
        found.problems.append(f"{log.path}:{reader.line_num}: expected CSV, got a line that is none ({error})")
    return study


def _constraints(row: dict[str, str]) -> dict[str, object]:
    """Return the constraint values of a row: numbers or lists in JSON or Python notation, never evaluated."""
    constraints: dict[str, object] = {}
    for name, text in row.items():
        if name.startswith("system_attrs_constraints") and text.strip():
            try:
                constraints[name] = decode_json("[" + text.strip().strip("[]()").rstrip(", ")[:10_000] + "]")
            except ValueError:
                constraints[name] = None
    return constraints


def _finish(study: _Study, found: Found, log: LogFile, *, torn: bool) -> FoundRun:
    place = f"{log.path} (study {study.name})" if study.name else log.path
    starts = [trial.start for trial in study.trials if trial.start is not None]
    began = min(starts, default=None)
    events = EventList(found.problems)
    counts = Counter(trial.state for trial in study.trials)
    for trial in study.trials:
        if trial.state != "COMPLETE":
            continue
        # Moments are floats of 1e9 seconds: beyond microseconds their difference is noise.
        time = None if trial.complete is None or began is None else round(trial.complete - began, 6)
        if study.several or len(trial.values) != 1:
            events.add(time, None, where=trial.where, valid=False, reason="several objectives")
            continue
        valid = not _is_violated(trial)
        value = as_cell(trial.values[0])
        events.add(time, value, where=trial.where, valid=valid, reason="" if valid else VIOLATED)
    left_out = ", ".join(f"{counts[state]:,} {state.lower()}" for state in sorted(counts) if state != "COMPLETE")
    if left_out:
        found.notes.append(f"{place}: trials without a final value are no candidates: {left_out}")
    if study.several:
        found.problems.append(f"{place}: expected one objective, got several; no trial of it is a candidate")
    started = None if began is None else datetime.fromtimestamp(began, UTC).isoformat()
    return FoundRun(
        **events.columns(),
        clock="wall",
        instance=study.name,
        status=RunStatus.KILLED if torn else RunStatus.UNKNOWN,
        resolution=_MICROSECOND,
        sense=study.sense,
        carried={"started": started},
        where=f"study {study.name}" if study.name else "",
    )


READER = Reader("optuna", "Optuna journal file or trials_dataframe() as CSV", _looks_like, _read)
